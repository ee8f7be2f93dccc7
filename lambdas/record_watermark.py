"""RecordWatermark: read the watermark back from the table, where the job committed it, and write the operator's view."""

from __future__ import annotations

from typing import Any

from lambdas.aws import parameters, reports, table
from lambdas.observability import doorway, logger
from pipeline.deployment import Deployment
from pipeline.events import StateEvent
from pipeline.modes import REPORTED_AS
from pipeline.planning.rounds import committed, round_of_commit, round_of_report


def _record_watermark(event: StateEvent, deployment: Deployment) -> dict[str, Any]:
    plan, name = event["plan"], event["plan"]["table"]
    if plan.get("mode") in REPORTED_AS:
        report = reports.read(deployment, name, plan["job_id"])
        return round_of_report(plan, report, deployment.report_uri(name, plan["job_id"]))
    marker = committed(table.look(deployment, plan["iceberg_table"]), plan)
    report = reports.read(deployment, name, marker.job_id)
    found = round_of_commit(marker, report, deployment.report_uri(name, marker.job_id))
    # Last of all: whoever fails before it leaves something to record, and so to mail, to the next run.
    parameters.record_watermark(deployment, name, found["watermark"])
    logger.info("watermark recorded", extra={"table": name, "watermark": found["watermark"]})
    return found


handler = doorway(_record_watermark)
