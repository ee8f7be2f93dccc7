"""Rounds: what the table, or the report of a job that commits nothing, must show after one, and what is handed on of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.errors import JobFailed, WatermarkNotCommitted
from pipeline.events import PlanEvent
from pipeline.instants import format_instant
from pipeline.modes import REPORTED_AS
from pipeline.table.drift import drift_of
from pipeline.table.marker import Marker, TableState


def committed(state: TableState, plan: PlanEvent) -> Marker:
    """What the table says of itself after the round of a plan: the job's commit must be in it.

    Where only a parameter was wrong, any watermark is right. Raises WatermarkNotCommitted.
    """
    if state.marker is None or not (plan["kind"] == "Record" or plan["job_id"] in state.job_ids):
        ended = f"the job {plan['job_id']} ended well" if "job_id" in plan else "last-export-time was to be corrected"
        raise WatermarkNotCommitted(f"{ended}; {state.found}")
    return state.marker


def round_of_commit(marker: Marker, report: Mapping[str, Any], report_uri: str) -> dict[str, Any]:
    """What is handed on of a commit. `report`: its job's, empty where there is none."""
    return {
        "watermark": format_instant(marker.watermark),
        "start": format_instant(marker.start),
        "job_id": marker.job_id,
        "job": marker.job,
        "counts": dict(marker.counts),
        **drift_of(report),
        "report": report_uri,
    }


def round_of_report(plan: PlanEvent, report: Mapping[str, Any], report_uri: str) -> dict[str, Any]:
    """What is handed on of a verification or of maintenance; neither moves the watermark.

    Raises JobFailed where the report does not say that the job has done its work.
    """
    if report.get("outcome") != REPORTED_AS[plan["mode"]]:
        raise JobFailed(f"the job {plan['job_id']} ended well, and its report does not say that it has done anything")
    found = {name: report[name] for name in ("watermark", "start", "job_id", "job", "counts")}
    return {**found, **drift_of({}), "report": report_uri}
