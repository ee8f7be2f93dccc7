"""The mails: plain text that a person can read on a phone, and the same facts for machines.

Pure: everything comes in as the event of the state machine. A success mail accounts for every record; a failure mail
says what happened, what the pipeline will do by itself, and the one command that helps if that is not enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipeline.deployment import Deployment
from pipeline.drift import told_drift
from pipeline.errors import ASK_AGAIN, InputRefused, PipelineError, WishGivenUp
from pipeline.execution_input import MAINTAIN, UPDATE, VERIFY, special_wish, tick_of
from pipeline.failures import Failure
from pipeline.horizon import Horizon
from pipeline.incidents import Incident
from pipeline.instants import format_instant, parse_instant
from pipeline.mail_frame import (
    FAILURE,
    SUCCESS,
    UNKNOWN_TABLE,
    Mail,
    accounting,
    clock,
    filled,
    history_line,
    links,
    subject,
    words,
)
from pipeline.prices import export_cost, job_cost
from pipeline.settings import EVERY_RUN, is_table_name
from pipeline.verification import told

#: What is known of the table after a failure, by the error's or the state's name, where it is not that nothing happened.
_AFTER = {
    "WatermarkNotCommitted": "The table does not show what the job should have committed: look at it.",
    "JobFailed": "The table shows everything this run was to bring, or nothing of it.",
    "RecordWatermark": "The table shows everything this run was to bring; only last-export-time may still be the old one.",
}
_WHAT = {
    "load": "Loaded {table} into {iceberg}.",
    "merge": "Merged {table} into {iceberg}.",
    "backfill": "Backfilled {table} into {iceberg}.",
    "verify": "Verified {table} against {iceberg}: source and table are equal.",
    "maintain": "Put the files of {iceberg} in order; every row is as it was.",
}
#: What a run was doing, where it was not bringing its table up to date.
_DOING = {VERIFY: "verifying {table}", MAINTAIN: "maintaining {table}"}


def is_told_at_once(event: Mapping[str, Any]) -> bool:
    """Whether a round's success is mailed when it happens. `event` is NotifySuccess's.

    The setting is about what the schedule does by itself; what a person has asked for is always told.
    """
    plan = event["plan"]
    asked_for = tick_of(event["input"]) is None or plan.get("mode", UPDATE) not in (UPDATE, MAINTAIN)
    return asked_for or plan["success_mail"] == EVERY_RUN


def success_mail(event: Mapping[str, Any], deployment: Deployment) -> Mail:
    """Tell what one round of a run did. `event` is NotifySuccess's: plan, report, exports, jobRun and times."""
    plan, report = event["plan"], event["report"]
    if plan["kind"] == "Record":
        return _recorded_mail(event, deployment)
    counts = report["counts"]
    lag = clock(event["endedAt"]) - parse_instant(report["watermark"])
    cost = export_cost(sum(e["billed_bytes"] for e in event["exports"])) + job_cost(event["jobRun"].get("billed") or {})
    lines = [
        _WHAT[report["job"]].format(table=plan["table"], iceberg=f"{deployment.database}.{plan['iceberg_table']}"),
        "",
        f"The table shows every change before {report['watermark']}.",
        *_stretches(event["exports"]),
        "",
        *accounting(report["job"], counts),
        *_notes(plan, report),
        "",
        f"Behind the present by {words(lag)}; took {words(clock(event['endedAt']) - clock(event['startedAt']))}.",
        *history_line(horizon_after(event)),
        f"Estimated cost: {cost:.4f} US dollars.",
        "",
        *links(event["execution"], deployment, event["jobRun"].get("id", "")),
        f"Report: {report['report']}",
    ]
    found = {VERIFY: f"verified, {told(counts)}", MAINTAIN: "maintained"}
    what = f"{found.get(plan['mode'], str(counts.get('read', 0)) + ' records')}, at {report['watermark']}"
    facts = {"status": SUCCESS, "table": plan["table"], "mode": plan["mode"], "execution": event["execution"]}
    facts |= {"report": report, "exports": event["exports"], "lag_seconds": int(lag.total_seconds()), "cost_usd": cost}
    headline = subject(deployment, "OK", plan["table"], what)
    return Mail(SUCCESS, plan["table"], headline, "\n".join(lines) + "\n", facts)


def _recorded_mail(event: Mapping[str, Any], deployment: Deployment) -> Mail:
    """The parameter was wrong and the table won."""
    plan, report = event["plan"], event["report"]
    found = f"said {plan['recorded']}" if plan["recorded"] else "was missing"
    text = (
        f"The parameter last-export-time of {plan['table']} {found}; the table says {report['watermark']}.\n"
        "The table is the truth, so the parameter was written again. No data was touched.\n\n"
        + "\n".join([*history_line(horizon_after(event)), "", *links(event["execution"], deployment)])
        + "\n"
    )
    headline = subject(deployment, "OK", plan["table"], f"last-export-time corrected to {report['watermark']}")
    facts = {"status": SUCCESS, "table": plan["table"], "recorded": plan["recorded"], "watermark": report["watermark"]}
    return Mail(SUCCESS, plan["table"], headline, text, facts)


def horizon_after(event: Mapping[str, Any]) -> Horizon | None:
    """The horizon once a round is carried out: seen when it was planned, with the watermark it has brought."""
    planned = Horizon.from_json(event["plan"]["history"])
    return planned and replace(planned, watermark=parse_instant(event["report"]["watermark"]))


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
    wish = _left_undone(event, failure)
    facts = _failure_facts(failure, table, deployment, horizon, wish, event["plan"].get("asked", ""))
    lines = [
        f"{failure.error} in {failure.state}, while {doing}.",
        "",
        "What happened:",
        failure.message,
        "",
        _left_behind(failure, mode),
        "",
        f"What the pipeline does by itself: {_by_itself(failure, wish, mode)}",
        f"What to do: {facts['remedy']}",
        f"The command: {facts['command']}",
        *([f"Then ask again for what was not begun: {facts['ask_again']}"] if facts["ask_again"] else []),
        f"The manual: docs/operations.md{_section(failure)}",
        *_standing(horizon, incident),
        "",
        *links(event["execution"], deployment),
    ]
    what = ", ".join(filter(None, [failure.error, failure.result]))
    headline = subject(deployment, "FAILED", table, what)
    # An input that was refused may name a table that nobody subscribes to; everybody who gets failures should know.
    audience = UNKNOWN_TABLE if failure.error == InputRefused.__name__ and not event["plan"] else table
    return Mail(FAILURE, audience, headline, "\n".join(lines) + "\n", {**facts, "execution": event["execution"]})


def _left_undone(event: Mapping[str, Any], failure: Failure) -> str:
    """The backfill, full export or verification that a run was to do and has not claimed, as its input; "" where there is none.

    What has been claimed is finished by the next run, whoever starts it; what has not been is forgotten with this one.
    """
    claimed = event["plan"].get("kind", "Halt") != "Halt"
    return "" if claimed or failure.error == InputRefused.__name__ else special_wish(event["input"])


def _left_behind(failure: Failure, mode: str) -> str:
    if mode == MAINTAIN:
        return "The table's rows and its watermark are as they were; some of its files may be in order already."
    return _AFTER.get(failure.error) or _AFTER.get(failure.state) or "The table and its watermark are as they were."


def _by_itself(failure: Failure, wish: str, mode: str) -> str:
    if failure.error == WishGivenUp.__name__:
        return "The schedule goes on with its own work; for what was asked for a person must act."
    if wish:
        return "Nothing for what was asked for: no run has it to do, unless a mail has told that it is done."
    if not failure.kind.heals_by_itself:
        return "Nothing: a person must act."
    if mode == VERIFY:
        return "The schedule goes on; a verification that the job refused is asked for anew by whoever wants it."
    if mode == MAINTAIN:
        return "The schedule goes on, and maintains the table again when that is due."
    return "The next scheduled run tries again by itself."


def _failure_facts(
    failure: Failure, table: str, deployment: Deployment, horizon: Horizon | None, wish: str, given_up: str
) -> dict[str, Any]:
    """`wish`: what the run was to do and has not begun; `given_up`: what it gives up; both as inputs to ask again."""
    ask_again = filled(ASK_AGAIN, table, deployment, wish) if wish else ""
    # Where time heals, or the other run's end, asking again is all there is to do.
    only_ask = bool(wish) and (failure.kind.heals_by_itself or failure.kind.command == ASK_AGAIN)
    return {
        "status": FAILURE,
        "table": table,
        "state": failure.state,
        "error": failure.error,
        "message": failure.message,
        "remedy": "Ask for it again." if wish and failure.kind.heals_by_itself else failure.remedy,
        "command": ask_again if only_ask else filled(failure.kind.command, table, deployment, given_up),
        "ask_again": "" if only_ask else ask_again,
        "heals_by_itself": failure.kind.heals_by_itself and not wish,
        "history_left_seconds": int(horizon.left.total_seconds()) if horizon else None,
    }


def _standing(horizon: Horizon | None, incident: Incident | None) -> list[str]:
    """How urgent it is, what went before, and when the next mail comes."""
    lines = history_line(horizon)
    if incident and len(incident.kinds) > 1:
        before = "; ".join(map(str, incident.kinds[:-1]))
        lines.append(f"Runs have failed since {format_instant(incident.since)}. Told before: {before}.")
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


def _notes(plan: Mapping[str, Any], report: Mapping[str, Any]) -> list[str]:
    """What deserves a second look: what the job found, a rebuild that nobody asked for, a takeover."""
    notes = told_drift(report, report["counts"].get("misfits", 0))
    if plan.get("because"):
        notes.append(f"By itself, for history was lost: {plan['because']}.")
    if plan.get("taken_over_from"):
        notes.append(f"Finished what {plan['taken_over_from'].rpartition(':')[2]} had begun.")
    return ["", *notes] if notes else []


def _stretches(exports: Sequence[Mapping[str, Any]]) -> list[str]:
    if not exports:
        return []
    if "at" in exports[0]:
        return [f"From the full export at {exports[0]['at']}."]
    count = f"{len(exports)} windows" if len(exports) > 1 else "one window"
    return [f"From {count}, {exports[0]['from']} to {exports[-1]['to']}."]
