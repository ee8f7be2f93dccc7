"""RecordWatermark: read the watermark back from the table, where the job committed it, and write the operator's view."""

from __future__ import annotations

from typing import Any

from lambdas.aws import parameters, reports, table
from lambdas.observability import doorway, logger
from pipeline.deployment import Deployment
from pipeline.errors import JobFailed, WatermarkNotCommitted
from pipeline.instants import format_instant
from pipeline.planning.execution_input import REPORTED_AS
from pipeline.table.drift import drift_of
from pipeline.table.marker import TableState


def _record_watermark(event: dict[str, Any], deployment: Deployment) -> dict[str, Any]:
    plan = event["plan"]
    if plan.get("mode") in REPORTED_AS:
        return _reported(plan, deployment)
    state = table.look(deployment.database, plan["iceberg_table"])
    if state.marker is None or not _shows(state, plan):
        raise WatermarkNotCommitted(f"the job {plan.get('job_id', '')} ended well; the table is at {state.watermark}")
    watermark = format_instant(state.marker.watermark)
    report = reports.read(deployment, plan["table"], state.marker.job_id)
    # Last of all: whoever fails before it leaves something to record, and so to mail, to the next run.
    parameters.record_watermark(deployment, plan["table"], watermark)
    logger.info("watermark recorded", extra={"table": plan["table"], "watermark": watermark})
    return {
        "watermark": watermark,
        "start": format_instant(state.marker.start),
        "job_id": state.marker.job_id,
        "job": state.marker.job,
        "counts": dict(state.marker.counts),
        **drift_of(report),
        "report": deployment.report_uri(plan["table"], state.marker.job_id),
    }


def _reported(plan: dict[str, Any], deployment: Deployment) -> dict[str, Any]:
    """Hand on what the job has found or done; neither a verification nor maintenance moves the watermark."""
    report = reports.read(deployment, plan["table"], plan["job_id"])
    if report.get("outcome") != REPORTED_AS[plan["mode"]]:
        raise JobFailed(f"the job {plan['job_id']} ended well, and its report does not say that it has done anything")
    return {
        **{name: report[name] for name in ("watermark", "start", "job_id", "job", "counts")},
        **drift_of({}),
        "report": deployment.report_uri(plan["table"], plan["job_id"]),
    }


def _shows(state: TableState, plan: dict[str, Any]) -> bool:
    """Whether the table shows what was to be recorded: the job's commit, or any watermark when only that was wrong."""
    return plan["kind"] == "Record" or plan["job_id"] in state.job_ids


handler = doorway(_record_watermark)
