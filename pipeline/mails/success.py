"""The mails about what runs have done: plain text that a person can read on a phone, and the same facts for machines.

Pure: everything comes in as the event of the state machine. A mail accounts for every record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipeline import job_kinds
from pipeline.deployment import Deployment
from pipeline.events import ExportEvent, PlanEvent, StateEvent
from pipeline.instants import parse_instant, parse_timestamp
from pipeline.mails.frame import SUCCESS, Mail, history_line, links, subject
from pipeline.modes import MAINTAIN, ROUTINE, VERIFY
from pipeline.planning.execution_input import tick_of
from pipeline.planning.horizon import Horizon
from pipeline.prices import export_cost, job_cost
from pipeline.settings import EVERY_RUN
from pipeline.table.drift import told_drift
from pipeline.table.record_counts import accounting
from pipeline.table.verification import told
from pipeline.wording import number_of, words

_WHAT = {
    job_kinds.LOAD: "Loaded {table} into {iceberg}.",
    job_kinds.MERGE: "Merged {table} into {iceberg}.",
    job_kinds.BACKFILL: "Backfilled {table} into {iceberg}.",
    job_kinds.VERIFY: "Verified {table} against {iceberg}: source and table are equal.",
    job_kinds.MAINTAIN: "Put the files of {iceberg} in order; every row is as it was.",
}


def is_told_at_once(event: StateEvent) -> bool:
    """Whether a round's success is mailed when it happens. `event` is NotifySuccess's.

    The setting is about what the schedule does by itself; what a person has asked for is always told. So is a parameter
    that somebody has changed. An update that its run could not record is in the digest, which reads the commits.
    """
    plan = event["plan"]
    mode = plan["unrecorded"] if plan["kind"] == "Record" else plan["mode"]
    asked_for = tick_of(event["input"]) is None or mode not in ROUTINE
    return asked_for or plan["success_mail"] == EVERY_RUN


def success_mail(event: StateEvent, deployment: Deployment) -> Mail:
    """Tell what one round of a run did. `event` is NotifySuccess's: plan, report, exports, jobRun and times."""
    plan, report = event["plan"], event["report"]
    if plan["kind"] == "Record":
        return _late_mail(event, deployment) if "job_id" in plan else _recorded_mail(event, deployment)
    ended = parse_timestamp(event["endedAt"])
    lag = ended - parse_instant(report["watermark"])
    cost = export_cost(sum(e["billed_bytes"] for e in event["exports"])) + job_cost(event["jobRun"].get("billed") or {})
    lines = [
        *_account(event, deployment),
        # An execution may do several rounds; this one began with its plan.
        f"Behind the present by {words(lag)}; took {words(ended - parse_timestamp(plan['planned_at']))}.",
        *history_line(horizon_after(event)),
        f"Estimated cost: {cost:.4f} US dollars.",
        "",
        *links(event["execution"], deployment, event["jobRun"].get("id", "")),
        f"Report: {report['report']}",
    ]
    facts = {"exports": event["exports"], "lag_seconds": int(lag.total_seconds()), "cost_usd": cost}
    return _mail(event, lines, facts, deployment)


def _mail(event: StateEvent, lines: Sequence[str], more: Mapping[str, Any], deployment: Deployment) -> Mail:
    """A mail about work of the plan's mode. `more`: the facts that only its own run knows."""
    plan, report = event["plan"], event["report"]
    counts = report["counts"]
    found = {VERIFY: f"verified, {told(counts)}", MAINTAIN: "maintained"}
    what = f"{found.get(plan['mode'], number_of(counts.get('read', 0), 'record'))}, at {report['watermark']}"
    facts = {"status": SUCCESS, "table": plan["table"], "mode": plan["mode"], "execution": event["execution"]}
    headline = subject(deployment, "OK", plan["table"], what)
    return Mail(SUCCESS, plan["table"], headline, lines, {**facts, "report": report, **more})


def _late_mail(event: StateEvent, deployment: Deployment) -> Mail:
    """What a person has asked for is done, and its run ended before it could tell."""
    plan, report = event["plan"], event["report"]
    lines = [
        *_account(event, deployment),
        "The run that began it ended before it could tell, so this may be the first mail about it. Nothing was done again.",
        *_corrected(plan, report),
        *history_line(horizon_after(event)),
        "",
        *links(event["execution"], deployment),
        f"Report: {report['report']}",
    ]
    return _mail(event, lines, {}, deployment)


def _corrected(plan: PlanEvent, report: Mapping[str, Any]) -> list[str]:
    """That the parameter said something else; a verification leaves that to the next round."""
    if plan["mode"] == VERIFY or plan["recorded"] in ("", report["watermark"]):
        return []
    return [f"The parameter last-export-time said {plan['recorded']}; it says what the table does now."]


def _account(event: StateEvent, deployment: Deployment) -> list[str]:
    """What was done, from which exports, and what became of every record."""
    plan, report = event["plan"], event["report"]
    return [
        _WHAT[report["job"]].format(table=plan["table"], iceberg=f"{deployment.database}.{plan['iceberg_table']}"),
        "",
        f"The table shows every change before {report['watermark']}.",
        *_stretches(event["exports"]),
        "",
        *accounting(report["job"], report["counts"]),
        *_notes(plan, report),
        "",
    ]


def _recorded_mail(event: StateEvent, deployment: Deployment) -> Mail:
    """The parameter was wrong and the table won."""
    plan, report = event["plan"], event["report"]
    found = f"said {plan['recorded']}" if plan["recorded"] else "was missing"
    lines = [
        f"The parameter last-export-time of {plan['table']} {found}; the table says {report['watermark']}.",
        "The table is the truth, so the parameter was written again. No data was touched.",
        "",
        f"The table's last commit is of a {report['job']}; if its run died early, this is the first mail about it:",
        *accounting(report["job"], report["counts"]),
        *_notes(plan, report),
        *history_line(horizon_after(event)),
        "",
        *links(event["execution"], deployment),
        f"Report: {report['report']}",
    ]
    headline = subject(deployment, "OK", plan["table"], f"last-export-time corrected to {report['watermark']}")
    facts = {"status": SUCCESS, "table": plan["table"], "recorded": plan["recorded"], "watermark": report["watermark"]}
    facts |= {"report": report, "execution": event["execution"]}
    return Mail(SUCCESS, plan["table"], headline, lines, facts)


def horizon_after(event: StateEvent) -> Horizon | None:
    """The horizon once a round is carried out: seen when it was planned, with the watermark it has brought."""
    planned = Horizon.from_json(event["plan"].get("history_after") or event["plan"]["history"])
    return planned and replace(planned, watermark=parse_instant(event["report"]["watermark"]))


def _notes(plan: PlanEvent, report: Mapping[str, Any]) -> list[str]:
    """What deserves a second look: what the job found, a rebuild that nobody asked for, a takeover."""
    notes = told_drift(report, report["counts"].get("misfits", 0))
    if plan.get("because"):
        notes.append(f"Rebuilt by itself, because history was lost: {plan['because']}.")
    if plan.get("taken_over_from"):
        notes.append(f"Finished what {plan['taken_over_from'].rpartition(':')[2]} had begun.")
    return ["", *notes] if notes else []


def _stretches(exports: Sequence[ExportEvent]) -> list[str]:
    if not exports:
        return []
    if "at" in exports[0]:
        return [f"From the full export at {exports[0]['at']}."]
    count = f"{len(exports)} windows" if len(exports) > 1 else "one window"
    return [f"From {count}, {exports[0]['from']} to {exports[-1]['to']}."]
