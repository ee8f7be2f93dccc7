"""PrepareJob: write the order of the Spark job, and the token that makes it one job however often it is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lambdas.aws import jobs
from lambdas.observability import doorway, logger
from pipeline.deployment import Deployment
from pipeline.events import ExportEvent, PlanEvent, StateEvent
from pipeline.identity import KeyAttribute, SourceTable
from pipeline.instants import parse_instant
from pipeline.job_order import JobOrder
from pipeline.spark_submit import CATALOG, application_configuration, spark_submit_parameters

#: Twice what a load of the largest table tried would need; a job that hangs must not hold the table for ever.
_LONGEST_JOB_MINUTES = 720


def _prepare_job(event: StateEvent, deployment: Deployment) -> dict[str, Any]:
    order = _order(event["plan"], event["exports"], deployment)
    # History must have passed before a job can apply it: none of its job runs is older than its end.
    attempt = jobs.ended_runs(deployment.application_id, order.job_id, since=order.end)
    order = replace(order, client_token=f"{order.job_id}-{attempt}")
    logger.info("job prepared", extra={"job_id": order.job_id, "job": order.job, "attempt": attempt})
    return {
        "application_id": deployment.application_id,
        "client_token": order.client_token,
        "role_arn": deployment.job_role_arn,
        "name": order.job_id,
        "timeout_minutes": _LONGEST_JOB_MINUTES,
        "entry_point": deployment.entry_point,
        "arguments": order.to_arguments(),
        "spark_submit_parameters": spark_submit_parameters(deployment),
        "application_configuration": application_configuration(event["plan"]["hash_secret"]),
        "log_uri": deployment.log_uri,
    }


def _order(plan: PlanEvent, exports: list[ExportEvent], deployment: Deployment) -> JobOrder:
    source = plan["source"]
    return JobOrder(
        job=plan["job"],
        job_id=plan["job_id"],
        table=f"{CATALOG}.{deployment.database}.{plan['iceberg_table']}",
        source=SourceTable(source["arn"], source["id"], tuple(map(KeyAttribute.parse, source["key"]))),
        exports=tuple(export["manifest"] for export in exports),
        start=parse_instant(plan["start"]),
        end=parse_instant(plan["end"]),
        buckets=plan["buckets"],
        columns_file=plan["columns_file"],
        compare_old_images=plan["compare_old_images"],
        snapshot_days=plan["snapshot_days"],
        report_uri=deployment.report_uri(plan["table"], plan["job_id"]),
    )


handler = doorway(_prepare_job)
