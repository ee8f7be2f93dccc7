"""RecordWatermark: read the watermark back from the table, where the job committed it, and write the operator's view."""

from __future__ import annotations

from typing import Any

from lambdas.aws import parameters, reports, table
from lambdas.observability import doorway, logger
from pipeline.deployment import Deployment
from pipeline.errors import WatermarkNotCommitted
from pipeline.instants import format_instant
from pipeline.marker import TableState


def _record_watermark(event: dict[str, Any], deployment: Deployment) -> dict[str, Any]:
    plan = event["plan"]
    state = table.look(deployment.database, plan["iceberg_table"])
    if state.marker is None or not _shows(state, plan):
        raise WatermarkNotCommitted(f"the job {plan.get('job_id', '')} ended well; the table is at {state.watermark}")
    watermark = format_instant(state.marker.watermark)
    parameters.record_watermark(deployment, plan["table"], watermark)
    logger.info("watermark recorded", extra={"table": plan["table"], "watermark": watermark})
    report = reports.read(deployment, plan["table"], state.marker.job_id)
    return {
        "watermark": watermark,
        "start": format_instant(state.marker.start),
        "job_id": state.marker.job_id,
        "job": state.marker.job,
        "counts": dict(state.marker.counts),
        "new_columns": report.get("new_columns", [])[:50],
        "misfits": report.get("misfits", [])[:50],
        "continuity": report.get("continuity", ""),
        "report": f"s3://{deployment.bucket}/{deployment.report_key(plan['table'], state.marker.job_id)}",
    }


def _shows(state: TableState, plan: dict[str, Any]) -> bool:
    """Whether the table shows what was to be recorded: the job's commit, or any watermark when only that was wrong."""
    return plan["kind"] == "Record" or plan["job_id"] in state.job_ids


handler = doorway(_record_watermark)
