"""The mail about a failed run: what happened, what the pipeline does by itself, and the one command that helps otherwise.

Pure: everything comes in as the event of the state machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.deployment import Deployment
from pipeline.errors import (
    ASK_AGAIN,
    REMEDY_MARK,
    RUN_NOW,
    DatabaseMissing,
    Gap,
    InputRefused,
    JobFailed,
    Overlap,
    PipelineError,
    TableContended,
    TableFilesMissing,
    TableGone,
    WatermarkMissing,
    WatermarkNotCommitted,
    WishGivenUp,
)
from pipeline.events import PlanEvent, StateEvent
from pipeline.instants import format_instant
from pipeline.mails.aftermath import ANEW, Aftermath, aftermath, ended_wish, makes_anew
from pipeline.mails.commands import filled
from pipeline.mails.failure_names import Failure
from pipeline.mails.frame import FAILURE, UNKNOWN_TABLE, Mail, history_line, links, subject
from pipeline.mails.told import Incident
from pipeline.modes import BACKFILL, FULL, MAINTAIN, UPDATE, VERIFY
from pipeline.planning.execution_input import is_dry_run
from pipeline.planning.horizon import Horizon
from pipeline.planning.wish_ends import ASK_FOR_IT
from pipeline.settings import is_table_name

#: What is known of the table after an error, where it is not that nothing happened.
_AFTER: Mapping[type[PipelineError], str] = {
    WatermarkNotCommitted: "The table does not show what the job should have committed: look at it.",
    JobFailed: "The table shows everything this run was to bring, or nothing of it.",
}
#: And after any other in RecordWatermark.
_NOT_RECORDED = "The table shows everything this run was to bring; only last-export-time may still be the old one."
#: Of what nothing came of. While an export was waited for others may have changed the table, as by a rollback.
_AS_THEY_WERE = "This failure has left the table and its watermark as they were"
#: Where there is no table any more that could be looked at.
_GONE = (DatabaseMissing, TableFilesMissing)
#: What a job meets where the table is not any more what its run was planned for: rolled back, removed, or written to.
_MOVED = (Gap, Overlap, TableContended, WatermarkMissing)
_MOVED_SINCE = (
    "The table, or an export, is not any more what this run was planned for, as when somebody changes it meanwhile; "
    "the run has brought nothing into it."
)
#: What a run was doing, where it was not bringing its table up to date.
_DOING = {
    BACKFILL: "backfilling {table}",
    FULL: "replacing the content of {table}",
    VERIFY: "verifying {table}",
    MAINTAIN: "maintaining {table}",
}


def failure_mail(
    event: StateEvent,
    failure: Failure,
    deployment: Deployment,
    *,
    horizon: Horizon | None = None,
    incident: Incident | None = None,
) -> Mail:
    """Tell what failed. `event` is NotifyFailure's: input, execution, plan (empty if planning failed).

    `incident` is the one that the failure belongs to, itself included; None for a run that a person has started.
    """
    table = table_of(event, deployment)
    doing = _doing(event).format(table=table)
    after = aftermath(event, failure, table)
    facts = _facts(failure, after, table, event["plan"], deployment, horizon)
    lines = [
        f"{failure.error} in {failure.state}, while {doing}.",
        "",
        "What happened:",
        failure.message,
        "",
        _left_behind(failure, event["plan"]),
        "",
        f"What the pipeline does by itself: {after.by_itself}",
        f"What to do: {facts['remedy']}",
        f"The command: {facts['command']}",
        *([f"Then ask again for what was not done: {facts['ask_again']}"] if facts["ask_again"] else []),
        f"The manual: docs/operations.md{_section(failure)}",
        *_standing(horizon, incident),
        "",
        *links(event["execution"], deployment, failure.job_run),
        *_more_links(event["plan"], failure, deployment),
    ]
    headline = subject(deployment, "FAILED", table, _what(failure, event["plan"]))
    # An input that was refused may name a table that nobody subscribes to; everybody who gets failures should know.
    audience = UNKNOWN_TABLE if failure.error_class is InputRefused and not event["plan"] else table
    return Mail(FAILURE, audience, headline, lines, {**facts, "execution": event["execution"]})


def _what(failure: Failure, plan: PlanEvent) -> str:
    """The failure in a subject: its name, what its job has found, and what was given up."""
    mode = plan.get("ends", "").partition("-")[0]  # a job's id begins with it
    return ", ".join(filter(None, [failure.error, failure.result, mode if failure.error_class is WishGivenUp else ""]))


def _left_behind(failure: Failure, plan: PlanEvent) -> str:
    if plan.get("kind") == "Record":
        return f"{_AS_THEY_WERE}; only last-export-time may still say something else."
    if failure.error_class is TableGone:
        return "There is no table any more; this run has brought nothing into it."
    if failure.state == "RecordWatermark" and failure.error_class in _GONE:
        return "Nobody can read the table now, so that nothing shows what this run has brought."
    if failure.state == "RunSparkJob" and failure.error_class in _MOVED:
        files = " Some of its files may be in order already." if plan.get("mode") == MAINTAIN else ""
        return f"{_MOVED_SINCE}{files}"
    if plan.get("mode") == MAINTAIN:
        return "This failure has left the table's rows and its watermark as they were; some of its files may be in order already."
    if plan.get("mode") == VERIFY:
        return f"{_AS_THEY_WERE}."  # it brings nothing, and moves no watermark that could be recorded
    otherwise = _NOT_RECORDED if failure.state == "RecordWatermark" else f"{_AS_THEY_WERE}."
    return _AFTER.get(failure.error_class, otherwise)


def _facts(
    failure: Failure,
    after: Aftermath,
    table: str,
    plan: PlanEvent,
    deployment: Deployment,
    horizon: Horizon | None,
) -> dict[str, Any]:
    command = RUN_NOW if makes_anew(failure, plan) else failure.error_class.command
    ask_again = filled(ASK_AGAIN, table, deployment, after.missed) if after.missed else ""
    # Somebody's wish, which may be another than this run was to do.
    given_up = plan.get("asked", "") if failure.error_class is WishGivenUp else ""
    # Where time heals, or the other run's end, or another run would only update, asking again is the one command.
    asking_helps = failure.heals_by_itself or failure.error_class.command in (ASK_AGAIN, RUN_NOW)
    only_ask = bool(ask_again) and asking_helps and not given_up
    return {
        "status": FAILURE,
        "table": table,
        "state": failure.state,
        "error": failure.error,
        "message": failure.message,
        "remedy": _remedy(failure, after, plan),
        "command": ask_again if only_ask else filled(command, table, deployment, given_up),
        "ask_again": "" if only_ask else ask_again,
        "heals_by_itself": after.heals,
        "watermark": format_instant(horizon.watermark) if horizon else None,
        "history_left_seconds": int(horizon.left.total_seconds()) if horizon else None,
        "job_run": failure.job_run,
        "wish_ended": ended_wish(plan, failure),
    }


def _remedy(failure: Failure, after: Aftermath, plan: PlanEvent) -> str:
    """What a person is to do. Nobody is told that it is tried again whose request no run goes on with, or who has it done."""
    helps = after.remedy or (ASK_FOR_IT if after.missed else "")
    if helps and failure.heals_by_itself:
        return helps
    return ANEW if makes_anew(failure, plan) else failure.remedy


def failure_cause(event: StateEvent, failure: Failure, table: str) -> str:
    """What happened and what is to be done, in one text for the Fail state: what a mail would say. `event` is NotifyFailure's."""
    remedy = _remedy(failure, aftermath(event, failure, table), event["plan"])
    return f"{failure.message}{REMEDY_MARK}{remedy}"


def _more_links(plan: PlanEvent, failure: Failure, deployment: Deployment) -> list[str]:
    """The job's report, where it has left one; the folder of all jobs' logs, where it is not known which job run it was."""
    logs = f"Job logs: {deployment.log_uri}applications/{deployment.application_id}/jobs/"
    if plan.get("ends"):
        report = deployment.report_uri(plan["table"], plan["ends"])
        # Of what is given up nobody knows how its last job has ended.
        is_sure = failure.error_class is not WishGivenUp
        return [f"Report: {report}"] if is_sure else [f"Report, if there is one: {report}", logs]
    if "job_id" in plan and (failure.reported or failure.state == "RecordWatermark"):
        return [f"Report: {deployment.report_uri(plan['table'], plan['job_id'])}"]
    return [logs] if failure.error_class in (JobFailed, WishGivenUp) and not failure.job_run else []


def _standing(horizon: Horizon | None, incident: Incident | None) -> list[str]:
    """How far the table is, how urgent that is, what went before, and when the next mail comes."""
    lines = [f"The watermark was {format_instant(horizon.watermark)} when this round began."] if horizon else []
    lines += history_line(horizon)
    if incident and len(incident.kinds) > 1:
        before = "; ".join(map(str, incident.kinds[:-1]))
        lines.append(f"Runs have failed since {format_instant(incident.first.since)}. Told before: {before}.")
    if incident:
        # That others work again does not fulfil a wish: nothing tells that it is over.
        over = "" if incident.kinds[-1].is_of_a_wish else ", or when it is over"
        lines.append(f"The next mail about it comes when it changes{over}.")
        lines.append("If you have acted and hear nothing, start a run yourself: its failure is always mailed.")
    return ["", *lines] if lines else []


def _doing(event: StateEvent) -> str:
    plan = event["plan"]
    if plan.get("kind") == "Record" and "mode" not in plan:
        return "correcting last-export-time of {table}"
    what = _DOING.get(_mode(event), "bringing {table} up to date")
    return f"{what}, by a dry run" if is_dry_run(event["input"]) else what


def _mode(event: StateEvent) -> str:
    """What a run was doing, or what it was asked for, where it has not come to do anything."""
    plan = event["plan"]
    asked = _asked(event, "mode") if plan.get("kind", "Halt") == "Halt" else None
    return str(plan.get("mode") or asked or UPDATE)


def table_of(event: StateEvent, deployment: Deployment) -> str:
    """The table a failure is about: the planned one, or the one asked for if it can be a table's name at all."""
    named = [event["plan"].get("table"), _asked(event, "table"), deployment.default_table]
    return next((name for name in named if isinstance(name, str) and is_table_name(name)), UNKNOWN_TABLE)


def _asked(event: StateEvent, field: str) -> Any:
    """What the input has in a field; None where it has none, or is no object at all."""
    return event["input"].get(field) if isinstance(event["input"], Mapping) else None


def _section(failure: Failure) -> str:
    """Where the manual speaks of the failure; a name that is not the product's own has no section."""
    return f", section {failure.error}" if failure.error_class is not PipelineError else ""
