"""The mail about a failed run: what happened, what the pipeline does by itself, and the one command that helps otherwise.

Pure: everything comes in as the event of the state machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.deployment import Deployment
from pipeline.errors import (
    ASK_AGAIN,
    REBUILD,
    RUN_NOW,
    DamagedExport,
    InputRefused,
    JobFailed,
    PipelineError,
    VerificationFailed,
    WishGivenUp,
)
from pipeline.instants import format_instant
from pipeline.mails.failure_names import Failure
from pipeline.mails.frame import FAILURE, UNKNOWN_TABLE, Mail, filled, history_line, links, subject
from pipeline.mails.told import Incident
from pipeline.planning.execution_input import (
    BACKFILL,
    FULL,
    MAINTAIN,
    REPORTED_AS,
    UPDATE,
    VERIFY,
    asking,
    special_wish,
)
from pipeline.planning.half_done import MOST_TRIES
from pipeline.planning.horizon import Horizon
from pipeline.settings import is_table_name

#: What is known of the table after a failure, by the error's or the state's name, where it is not that nothing happened.
_AFTER = {
    "WatermarkNotCommitted": "The table does not show what the job should have committed: look at it.",
    "JobFailed": "The table shows everything this run was to bring, or nothing of it.",
    "RecordWatermark": "The table shows everything this run was to bring; only last-export-time may still be the old one.",
}
#: What a run was doing, where it was not bringing its table up to date.
_DOING = {
    BACKFILL: "backfilling {table}",
    FULL: "replacing the content of {table}",
    VERIFY: "verifying {table}",
    MAINTAIN: "maintaining {table}",
}


def failure_mail(
    event: Mapping[str, Any],
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
    mode = event["plan"].get("mode", UPDATE)
    doing = _DOING.get(mode, "bringing {table} up to date").format(table=table)
    facts = _facts(event, failure, table, deployment, horizon)
    lines = [
        f"{failure.error} in {failure.state}, while {doing}.",
        "",
        "What happened:",
        failure.message,
        "",
        _left_behind(failure, mode),
        "",
        f"What the pipeline does by itself: {_by_itself(event, failure)}",
        f"What to do: {facts['remedy']}",
        f"The command: {facts['command']}",
        *([f"Then ask again for what was not done: {facts['ask_again']}"] if facts["ask_again"] else []),
        f"The manual: docs/operations.md{_section(failure)}",
        *_standing(horizon, incident),
        "",
        *links(event["execution"], deployment, failure.job_run),
        *_more_links(event["plan"], failure, deployment),
    ]
    what = ", ".join(filter(None, [failure.error, failure.result]))
    headline = subject(deployment, "FAILED", table, what)
    # An input that was refused may name a table that nobody subscribes to; everybody who gets failures should know.
    audience = UNKNOWN_TABLE if failure.error == InputRefused.__name__ and not event["plan"] else table
    return Mail(FAILURE, audience, headline, "\n".join(lines) + "\n", {**facts, "execution": event["execution"]})


def _left_undone(event: Mapping[str, Any], failure: Failure) -> str:
    """The backfill, full export or verification that a run was to do and has not claimed, as its input; "" where there is none.

    What has been claimed is finished by the next run, whoever starts it; what has not been is forgotten with this one, also
    where this one has gone on with somebody else's work first.
    """
    wish = special_wish(event["input"])
    return (
        "" if failure.error == InputRefused.__name__ or (wish and _is_claimed(event["plan"], event["input"])) else wish
    )


def _is_claimed(plan: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Whether what a run was doing is what it was asked for."""
    if plan.get("kind") == "Record":
        return True  # what was asked for is done, and only the parameter is not
    if plan.get("kind", "Halt") == "Halt" or plan.get("mode") != asked["mode"]:
        return False
    return bool(asked["mode"] != BACKFILL or plan["start"] == asked["from"])


def _left_behind(failure: Failure, mode: str) -> str:
    if mode == MAINTAIN:
        return "The table's rows and its watermark are as they were; some of its files may be in order already."
    return _AFTER.get(failure.error) or _AFTER.get(failure.state) or "The table and its watermark are as they were."


def _missed(event: Mapping[str, Any], failure: Failure, table: str) -> str:
    """What no run goes on with, as the input that asks for it; "" where a run does, or asking again would not help.

    Of what was claimed that is what its job has refused for good, but for what an update brings: the next run leaves it.
    """
    if wish := _left_undone(event, failure):
        return wish
    plan, kind = event["plan"], failure.kind
    mode = plan.get("mode", UPDATE)
    if mode in REPORTED_AS:
        return asking(table, mode) if _not_tried_again(plan, failure) and kind is not VerificationFailed else ""
    if mode == UPDATE or not failure.reported or failure.heals_by_itself or kind.command == REBUILD:
        return ""
    return asking(table, mode, plan["start"] if mode == BACKFILL else "")


def _not_tried_again(plan: Mapping[str, Any], failure: Failure) -> str:
    """The mode of a verification or maintenance that no run goes on with; "" for all other work.

    What its job has refused is left undone, and so is what the next run has tried once more because it had died.
    """
    mode = plan.get("mode", UPDATE)
    return mode if mode in REPORTED_AS and (failure.reported or plan.get("taken_over_from")) else ""


def _by_itself(event: Mapping[str, Any], failure: Failure) -> str:
    wish, mode = _left_undone(event, failure), _not_tried_again(event["plan"], failure)
    if failure.error == WishGivenUp.__name__:
        return "The schedule goes on with its own work; for what was asked for a person must act."
    if wish:
        return "Nothing for what was asked for: no run goes on with it, unless a mail has told that it is done."
    is_refused, is_update = failure.reported, event["plan"].get("mode", UPDATE) == UPDATE
    if not failure.heals_by_itself and is_refused and is_update:
        return f"It is tried {MOST_TRIES} times with the same settings, and then waits; a person must act."
    if not failure.heals_by_itself:
        return "Nothing: a person must act."
    if mode == VERIFY:
        return "The schedule goes on; the verification is asked for anew by whoever wants it."
    if mode == MAINTAIN:
        return "The schedule goes on, and maintains the table again when that is due."
    if issubclass(failure.kind, DamagedExport):
        return f"The next scheduled run has it exported anew, and tries again by itself; {MOST_TRIES} times in all."
    return "The next scheduled run tries again by itself."


def _facts(
    event: Mapping[str, Any], failure: Failure, table: str, deployment: Deployment, horizon: Horizon | None
) -> dict[str, Any]:
    plan, kind = event["plan"], failure.kind
    wish, refused = _left_undone(event, failure), _not_tried_again(plan, failure)
    missed = _missed(event, failure, table)
    ask_again = filled(ASK_AGAIN, table, deployment, missed) if missed else ""
    # Where time heals, or the other run's end, or another run would only update, asking again is the one command.
    asked = plan.get("asked", "")  # what is given up by this failure, which may not be what this run was to do
    only_ask = bool(missed) and not asked and (failure.heals_by_itself or kind.command in (ASK_AGAIN, RUN_NOW))
    return {
        "status": FAILURE,
        "table": table,
        "state": failure.state,
        "error": failure.error,
        "message": failure.message,
        "remedy": _remedy(refused) if missed and failure.heals_by_itself else failure.remedy,
        "command": ask_again if only_ask else filled(kind.command, table, deployment, asked),
        "ask_again": "" if only_ask else ask_again,
        "heals_by_itself": failure.heals_by_itself and not (wish or refused == VERIFY),
        "history_left_seconds": int(horizon.left.total_seconds()) if horizon else None,
        "job_run": failure.job_run,
    }


def _remedy(refused: str) -> str:
    """What is to be done where asking again is enough. `refused`: the mode of work that no run goes on with."""
    if refused == MAINTAIN:
        return "Nothing to do: the table is maintained again when that is due. To have it sooner, ask for it."
    return "Ask for it again."


def _more_links(plan: Mapping[str, Any], failure: Failure, deployment: Deployment) -> list[str]:
    """The job's report, where it has left one; the folder of all jobs' logs, where it is not known which job run it was."""
    if "job_id" in plan and (failure.reported or failure.state == "RecordWatermark"):
        return [f"Report: {deployment.report_uri(plan['table'], plan['job_id'])}"]
    if failure.error in (JobFailed.__name__, WishGivenUp.__name__) and not failure.job_run:
        return [f"Job logs: {deployment.log_uri}applications/{deployment.application_id}/jobs/"]
    return []


def _standing(horizon: Horizon | None, incident: Incident | None) -> list[str]:
    """How urgent it is, what went before, and when the next mail comes."""
    lines = history_line(horizon)
    if incident and len(incident.kinds) > 1:
        before = "; ".join(map(str, incident.kinds[:-1]))
        lines.append(f"Runs have failed since {format_instant(incident.first.since)}. Told before: {before}.")
    if incident:
        lines.append("The next mail about it comes when it changes, or when it is over.")
        lines.append("If you have acted and hear nothing, start a run yourself: its failure is always mailed.")
    return ["", *lines] if lines else []


def table_of(event: Mapping[str, Any], deployment: Deployment) -> str:
    """The table a failure is about: the planned one, or the one asked for if it can be a table's name at all."""
    asked = event["input"].get("table") if isinstance(event["input"], Mapping) else None
    named = [event["plan"].get("table"), asked, deployment.default_table]
    return next((name for name in named if isinstance(name, str) and is_table_name(name)), UNKNOWN_TABLE)


def _section(failure: Failure) -> str:
    """Where the manual speaks of the failure; a name that is not the product's own has no section."""
    return f", section {failure.error}" if failure.kind is not PipelineError else ""
