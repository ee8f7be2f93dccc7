"""The mails: plain text that a person can read on a phone, and the same facts for machines.

Pure: everything comes in as the event of the state machine. A success mail accounts for every record; a failure mail
says what happened, what the pipeline will do by itself, and the one command that helps if that is not enough.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

from pipeline.deployment import Deployment
from pipeline.errors import InputRefused, PipelineError
from pipeline.failures import Failure
from pipeline.instants import parse_instant
from pipeline.prices import export_cost, job_cost
from pipeline.settings import is_table_name

SUCCESS, FAILURE = "SUCCESS", "FAILURE"
#: What the attribute `table` says where no configured table is meant; every failure list lets it through.
UNKNOWN_TABLE = "unknown"
_LONGEST_SUBJECT = 100  # SNS takes no more, and printable ASCII only
_LONGEST_STACK, _SHORTEST_TABLE = 20, 12
_UNPRINTABLE = re.compile(r"[^ -~]")
_MOST_LISTED = 20
#: What is known of the table after a failure, by the error's or the state's name, where it is not that nothing happened.
_AFTER = {
    "WatermarkNotCommitted": "The table does not show what the job should have committed: look at it.",
    "JobFailed": "The table shows everything this run was to bring, or nothing of it.",
    "RecordWatermark": "The table shows everything this run was to bring; only last-export-time may still be the old one.",
}
_WHAT = {"load": "Loaded", "merge": "Merged", "backfill": "Backfilled"}


@dataclass(frozen=True)
class Mail:
    """One message: subject and text for people, `facts` for machines, status and table for filters."""

    status: str
    table: str
    subject: str
    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)


def success_mail(event: Mapping[str, Any], deployment: Deployment) -> Mail:
    """Tell what one round of a run did. `event` is NotifySuccess's: plan, report, exports, jobRun and times."""
    plan, report = event["plan"], event["report"]
    if plan["kind"] == "Record":
        return _recorded_mail(event, deployment)
    counts = report["counts"]
    lag = _clock(event["endedAt"]) - parse_instant(report["watermark"])
    cost = export_cost(sum(e["billed_bytes"] for e in event["exports"])) + job_cost(event["jobRun"].get("billed") or {})
    lines = [
        f"{_WHAT[report['job']]} {plan['table']} into {deployment.database}.{plan['iceberg_table']}.",
        "",
        f"The table shows every change before {report['watermark']}.",
        *_stretches(event["exports"]),
        "",
        *_accounting(report["job"], counts),
        *_notes(plan, report),
        "",
        f"Behind the present by {_words(lag)}; took {_words(_clock(event['endedAt']) - _clock(event['startedAt']))}.",
        f"Estimated cost: {cost:.4f} US dollars.",
        "",
        *_links(event["execution"], deployment, event["jobRun"].get("id", "")),
        f"Report: {report['report']}",
    ]
    what = f"{counts.get('read', 0)} records, at {report['watermark']}"
    facts = {"status": SUCCESS, "table": plan["table"], "mode": plan["mode"], "execution": event["execution"]}
    facts |= {"report": report, "exports": event["exports"], "lag_seconds": int(lag.total_seconds()), "cost_usd": cost}
    subject = _subject(deployment, "OK", plan["table"], what)
    return Mail(SUCCESS, plan["table"], subject, "\n".join(lines) + "\n", facts)


def _recorded_mail(event: Mapping[str, Any], deployment: Deployment) -> Mail:
    """The parameter was wrong and the table won."""
    plan, report = event["plan"], event["report"]
    found = f"said {plan['recorded']}" if plan["recorded"] else "was missing"
    text = (
        f"The parameter last-export-time of {plan['table']} {found}; the table says {report['watermark']}.\n"
        "The table is the truth, so the parameter was written again. No data was touched.\n\n"
        + "\n".join(_links(event["execution"], deployment, ""))
        + "\n"
    )
    subject = _subject(deployment, "OK", plan["table"], f"last-export-time corrected to {report['watermark']}")
    facts = {"status": SUCCESS, "table": plan["table"], "recorded": plan["recorded"], "watermark": report["watermark"]}
    return Mail(SUCCESS, plan["table"], subject, text, facts)


def failure_mail(event: Mapping[str, Any], failure: Failure, deployment: Deployment) -> Mail:
    """Tell what failed. `event` is NotifyFailure's: input, execution, plan (empty if planning failed)."""
    table = _table(event, deployment)
    heals = (
        "The next scheduled run tries again by itself."
        if failure.kind.heals_by_itself
        else "Nothing: a person must act."
    )
    lines = [
        f"{failure.error} in {failure.state}, while bringing {table} up to date.",
        "",
        "What happened:",
        failure.message,
        "",
        _AFTER.get(failure.error) or _AFTER.get(failure.state) or "The table and its watermark are as they were.",
        "",
        f"What the pipeline does by itself: {heals}",
        f"What to do: {failure.remedy}",
        f"The command: {command(failure, table, deployment)}",
        f"The manual: docs/operations.md{_section(failure)}",
        "",
        *_links(event["execution"], deployment, ""),
    ]
    facts = {
        "status": FAILURE,
        "table": table,
        "state": failure.state,
        "error": failure.error,
        "message": failure.message,
        "remedy": failure.remedy,
        "command": command(failure, table, deployment),
        "heals_by_itself": failure.kind.heals_by_itself,
        "execution": event["execution"],
    }
    subject = _subject(deployment, "FAILED", table, failure.error)
    # An input that was refused may name a table that nobody subscribes to; everybody who gets failures should know.
    audience = UNKNOWN_TABLE if failure.error == InputRefused.__name__ and not event["plan"] else table
    return Mail(FAILURE, audience, subject, "\n".join(lines) + "\n", facts)


def _table(event: Mapping[str, Any], deployment: Deployment) -> str:
    """The table a failure is about: the planned one, or the one asked for if it can be a table's name at all."""
    asked = event["input"].get("table") if isinstance(event["input"], Mapping) else None
    named = [event["plan"].get("table"), asked, deployment.default_table]
    return next((name for name in named if isinstance(name, str) and is_table_name(name)), UNKNOWN_TABLE)


def _section(failure: Failure) -> str:
    """Where the manual speaks of the failure; a name that is not the product's own has no section."""
    return f", section {failure.error}" if failure.kind is not PipelineError else ""


def command(failure: Failure, table: str, deployment: Deployment) -> str:
    """The failure's command with the names filled in."""
    names = {
        "<table>": table,
        "<state-machine>": deployment.state_machine_arn,
        "<parameters>": deployment.parameter(table),
    }
    text = failure.kind.command
    for mark, name in names.items():
        text = text.replace(mark, name)
    return text


def _accounting(job: str, counts: Mapping[str, int]) -> list[str]:
    """Every record read, by what became of it."""
    if job == "load":
        return [f"Read {counts.get('read', 0)} items, wrote {counts.get('inserted', 0)} rows."]
    parts = [
        ("inserted", "inserted"),
        ("updated", "updated"),
        ("deleted", "deleted"),
        ("already_there", "already there"),
        ("unknown_deletes", "deletes of unknown keys"),
    ]
    # Only several windows at once can have these two.
    rare = [
        ("transient", "of keys that came and went between"),
        ("folded", "overtaken by later ones"),
    ]
    shown = [f"{counts.get(name, 0)} {words}" for name, words in parts]
    shown += [f"{counts[name]} {words}" for name, words in rare if counts.get(name, 0)]
    return [f"Read {counts.get('read', 0)} records = " + " + ".join(shown) + "."]


def _notes(plan: Mapping[str, Any], report: Mapping[str, Any]) -> list[str]:
    """What deserves a second look: misfits, new columns, continuity, a takeover."""
    notes = []
    if report["counts"].get("misfits"):
        notes += [f"{report['counts']['misfits']} values fit no column and are kept in _misfits:"]
        notes += [f"  {m['path']}: {m['count']}" for m in report["misfits"][:_MOST_LISTED]]
    if report["new_columns"]:
        notes.append("New columns: " + ", ".join(report["new_columns"][:_MOST_LISTED]) + ".")
    if report["continuity"]:
        notes.append(f"Warning: {report['continuity']}")
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


def _links(execution: str, deployment: Deployment, job_run: str) -> list[str]:
    region = deployment.region
    console = f"https://{region}.console.aws.amazon.com"
    lines = [f"Execution: {console}/states/home?region={region}#/v2/executions/details/{execution}"]
    if job_run:
        place = f"applications/{deployment.application_id}/jobs/{job_run}"
        lines.append(f"Job: {console}/emr/home?region={region}#/serverless/{place}")
        lines.append(f"Job log: {deployment.log_uri}{place}/")
    return lines


def _clock(text: str) -> datetime:
    """Read an instant of Step Functions' context, which carries milliseconds."""
    return datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)


def _words(length: timedelta) -> str:
    minutes, seconds = divmod(int(length.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def _subject(deployment: Deployment, status: str, table: str, what: str) -> str:
    """Status and what happened stay whole; of a long name of stack or table the end is left out."""
    stack = _shortened(deployment.stack_name, _LONGEST_STACK)
    room = _LONGEST_SUBJECT - len(f"[{stack}] {status} : {what}")
    text = f"[{stack}] {status} {_shortened(table, max(room, _SHORTEST_TABLE))}: {what}"
    return _UNPRINTABLE.sub("?", text)[:_LONGEST_SUBJECT]


def _shortened(name: str, room: int) -> str:
    return name if len(name) <= room else name[: room - 2] + ".."
