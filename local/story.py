"""The story of a run as a person would tell it, from the execution's history."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pipeline.modes import BACKFILL, FULL, REPORTED_AS, VERIFY
from pipeline.table.record_counts import accounting
from pipeline.wording import number_of


def sentences(events: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield one sentence for each state that has something to tell, oldest first."""
    failed, answer = False, ""
    for event in events:
        left, failure = event.get("stateExitedEventDetails"), event.get("taskFailedEventDetails")
        answer = event.get("taskSucceededEventDetails", {}).get("output", answer)
        if failure is not None:
            yield f"{failure.get('error', 'error')}: {str(failure.get('cause', ''))[:300]}"
        if left is not None and left["name"] in _TELLERS and not failed:
            told = answer if left["name"] in _HAND_ON_THE_PLAN else left.get("output", "{}")
            yield from _TELLERS[left["name"]](_payload(told))
        # A state that a Catch has left has no result to tell; one that a retry has saved does.
        failed = failure is not None or (failed and "taskSucceededEventDetails" not in event and left is None)


def _payload(output: str) -> Mapping[str, Any]:
    value = json.loads(output)
    return value.get("Payload", value) if isinstance(value, dict) else {}


def _plan(plan: Mapping[str, Any]) -> Iterator[str]:
    kind = plan["kind"]
    if kind == "DryRun":
        # Under the kind that it would have had, the plan of a dry run is that of a run.
        yield "A dry run, so nothing is done. This is what a run would do now:"
        yield from _plan({**plan, "kind": plan["planned"]})
        yield f"Estimated cost: {plan['estimated_usd']} US dollars."
    elif kind == "Export":
        yield from _exports(plan)
    elif kind == "Maintain":
        yield f"The table is at {plan['start']}; its files are to be put in order."
    elif kind == "Record":
        yield f"The table is at {plan['watermark']}, the parameter says {plan['recorded'] or 'nothing'}: to be corrected."
    elif kind == "Idle":
        until = f" The next window closes at {plan['until']}." if plan.get("until") else ""
        yield f"Idle. {plan['message']}{until}"
    elif kind == "Halt":
        yield f"Halt, {plan['error']}: {plan['message']}"


def _exports(plan: Mapping[str, Any]) -> Iterator[str]:
    """What is to be exported, and why: the same requests serve more than one end."""
    start, end, count = plan["start"], plan["end"], len(plan["exports"])
    if plan["mode"] == VERIFY:
        yield f"To be verified: the table at {start} against a full export at that instant."
    elif plan["mode"] == FULL:
        if plan.get("because"):
            yield f"History is lost: {plan['because']}."
        yield f"A new full export at {start} is to become the table's whole content."
    elif plan["mode"] == BACKFILL:
        yield f"Asked for: history from {start} to {end} is to be exported again and merged in one commit."
    elif "at" in plan["exports"][0]:
        yield f"There is no table yet: a full export at {start} is to be loaded."
    else:
        windows = "one window has" if count == 1 else f"{count} windows have"
        yield f"Since {start}, {windows} closed, up to {end}: to be exported and merged in one commit."


def _start_exports(started: Mapping[str, Any]) -> Iterator[str]:
    ids = ", ".join(export["arn"].rpartition("/")[2] for export in started["exports"])
    yield f"DynamoDB has started {ids}."


def _check_exports(checked: Mapping[str, Any]) -> Iterator[str]:
    if checked["ready"]:
        items = sum(export["items"] for export in checked["exports"])
        yield f"Exported: {number_of(items, 'record')}."


def _run_spark_job(run: Mapping[str, Any]) -> Iterator[str]:
    yield f"The Spark job {run.get('JobRunId', '')} has ended well after {run.get('TotalExecutionDurationSeconds', '?')} s."


def _record_watermark(report: Mapping[str, Any]) -> Iterator[str]:
    if report["job"] in REPORTED_AS:
        yield from accounting(report["job"], report["counts"])
        return
    counts = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in sorted(report["counts"].items()) if count)
    yield f"The table shows every change before {report['watermark']} ({counts or 'nothing to do'})."


def _notified(sent: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"Mail sent: {subject}" for subject in sent["subjects"])


def _failure_notified(sent: Mapping[str, Any]) -> Iterator[str]:
    yield f"Failed: {sent['error']}; told by mail, unless that has been told before."


#: States that hand on something else than what their function has answered.
_HAND_ON_THE_PLAN = ("NotifySuccess", "NotifyNews")
_TELLERS: dict[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    "Plan": _plan,
    "StartExports": _start_exports,
    "CheckExports": _check_exports,
    "RunSparkJob": _run_spark_job,
    "RecordWatermark": _record_watermark,
    "NotifySuccess": _notified,
    "NotifyNews": _notified,
    "NotifyFailure": _failure_notified,
}
