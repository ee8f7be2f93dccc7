"""The warning that history runs out, or has run out: how long is left, what holds the table up, and what helps. Pure."""

from __future__ import annotations

import shlex

from pipeline.deployment import Deployment
from pipeline.errors import RUN_NOW, RUN_ON, HistoryLost, PitrOff, RecoveryTooShort, error_names
from pipeline.events import PlanEvent, StateEvent
from pipeline.instants import format_instant
from pipeline.mails.aftermath import ANEW
from pipeline.mails.commands import filled
from pipeline.mails.failure_names import Failure
from pipeline.mails.frame import WARNING, Mail, history_line, links, subject
from pipeline.mails.incidents import News
from pipeline.mails.told import FailureKind, Incident
from pipeline.planning.actions import PAUSED
from pipeline.planning.horizon import LEVELS, Horizon
from pipeline.wording import words

_HAPPENS = "If the table is not caught up by then, only a new full export helps."
_HAS_HAPPENED = "Changes after the watermark can no longer be exported; the table can only be made anew."
#: The last that an execution did, with the error and its cause.
_LOOK = "aws stepfunctions get-execution-history --reverse-order --max-items 5 --execution-arn "
_LOOK_AT_WORK = "Look what the run that is at work waits for"
#: How a remedy begins of what has always healed so far.
_WAIT = "Nothing to do"
#: What of a horizon is made up where recovery is off: there is nothing to restore then.
_OF_RECOVERY = ("earliest", "latest")


def warning_mail(
    event: StateEvent,
    table: str,
    news: News,
    horizon: Horizon,
    deployment: Deployment,
    failure: Failure | None,
) -> Mail:
    """History runs out, or has run out while nobody was told. `event` and `failure`: as `pipeline.mails.notices` has them."""
    incident = news.told.incident
    failure = failure if failure and failure.told_as(event["plan"]).holds_up else None
    is_off = bool(event["plan"].get("pitr_off"))
    what, happens = f"history would be lost in {words(horizon.left)}", _HAPPENS
    if horizon.is_lost:
        what, happens = "history is lost", _HAS_HAPPENED
    helps, *asked = _help(event, failure, incident, horizon)
    command, *then = [filled(one, table, deployment) for one in asked]
    lines = [
        f"{table} is behind: its watermark is {format_instant(horizon.watermark)}, {_source_at(horizon, is_off)}.",
        *history_line(horizon),
        happens,
        "",
        *_why(event["plan"], failure, incident),
        f"What to do: {helps}",
        f"The command: {command}",
        *(f"Then: {one}" for one in then),
        "",
        *_next_warning(news.warning),
        *links(event["execution"], deployment, failure.job_run if failure else ""),
    ]
    facts = {
        "status": WARNING,
        "table": table,
        "level_percent": news.warning,
        "history_left_seconds": int(horizon.left.total_seconds()),
        **{name: value for name, value in horizon.to_json().items() if not (is_off and name in _OF_RECOVERY)},
        "command": command,
        "execution": event["execution"],
    }
    return Mail(WARNING, table, subject(deployment, "WARNING", table, what), lines, facts)


def _source_at(horizon: Horizon, is_off: bool) -> str:
    if is_off:
        return "and point-in-time recovery is off for its source"
    return f"its source is at {format_instant(horizon.latest)}"


def _why(plan: PlanEvent, failure: Failure | None, incident: Incident | None) -> list[str]:
    """What this run says, and since when runs have failed, if they have."""
    reason = failure.message if failure else plan.get("message", "")
    lines = [f"What this run says: {reason}"] if reason else []
    if incident:
        hindrance, first = failure.told_as(plan) if failure else incident.hindrance, incident.first
        what = f": {hindrance}" if hindrance == first.kind else f", first with {first.kind}, then with {hindrance}"
        lines.append(f"Runs have failed since {format_instant(first.since)}{what}.")
    return lines


def _help(event: StateEvent, failure: Failure | None, incident: Incident | None, horizon: Horizon) -> tuple[str, ...]:
    """What lets the table catch up, and its commands in order: what holds it up decides."""
    plan = event["plan"]
    is_paused = plan.get("reason") == PAUSED
    is_made_anew = horizon.is_lost and bool(plan.get("rebuilds"))
    at_work = plan.get("at_work", "")
    if horizon.is_lost and is_paused:
        told = f"Set its control parameter to RUN. {ANEW if is_made_anew else HistoryLost.default_remedy}"
        commands = (RUN_ON,) if is_made_anew else (RUN_ON, HistoryLost.command)
        if plan.get("pitr_off"):
            return f"{PitrOff.default_remedy} {told}", PitrOff.command, *commands
        return told, *commands
    if horizon.is_lost and not is_made_anew:
        if at_work:
            told = f"{_LOOK_AT_WORK}: until it ends, no other is begun. If history is still lost then:"
            return f"{told} {HistoryLost.default_remedy}", _look(at_work), HistoryLost.command
        return HistoryLost.default_remedy, HistoryLost.command
    if is_paused:
        return "Let the table catch up: set its control parameter to RUN.", RUN_ON
    if failure:
        return _against(failure, event, incident)
    hindrance = incident.hindrance if incident else None
    holds_on = hindrance and not (at_work and _is_overcome(hindrance))
    error = error_names().get(hindrance.error) if hindrance and holds_on else None
    if error and not error.heals_by_itself:
        return error.default_remedy, error.command
    if at_work:
        return f"{_LOOK_AT_WORK}; only its end lets the table go on.", _look(at_work)
    if is_made_anew:
        return ANEW, RUN_NOW
    return "Start a run: it brings the table forward, or a mail says what holds it up.", RUN_NOW


def _is_overcome(kind: FailureKind) -> bool:
    """Whether what failed is over where another run is at work: it has been planned, and this one has got as far as to see it.

    That the source keeps too little history holds up none that is begun.
    """
    return kind.state == "Plan" and kind.error != RecoveryTooShort.__name__


def _against(failure: Failure, event: StateEvent, incident: Incident | None) -> tuple[str, str]:
    """What helps against the failure of this run: patience has not, where so much of the recovery period is used up."""
    if not failure.heals_by_itself:
        return failure.remedy, failure.error_class.command
    as_told, earlier = failure.told_as(event["plan"]), incident.failures if incident else ()
    since = next((f"since {format_instant(one.since)}" for one in earlier if one.kind == as_told), "this time")
    told = f"It heals by itself as a rule, and {since} it has not: read why this run has failed."
    advice = "" if failure.remedy.startswith(_WAIT) else f" {failure.remedy}"
    return f"{told}{advice}", _look(event["execution"])


def _look(execution: str) -> str:
    """How to see how an execution has ended, or where it is. Who starts one may give its name brackets and quotes."""
    return _LOOK + shlex.quote(execution)


def _next_warning(level: int) -> list[str]:
    later = [f"{name} %" for name in LEVELS[:-1] if name > level]
    return [f"The next warning comes at {later[0]} of the recovery period.", ""] if later else []
