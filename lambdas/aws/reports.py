"""The reports that Spark jobs leave in the bucket, committed or refused."""

from __future__ import annotations

import json
from typing import Any

from botocore.exceptions import ClientError

from lambdas.aws.clients import client, error_code
from lambdas.observability import logger
from pipeline.deployment import Deployment


def read(deployment: Deployment, table: str, job_id: str) -> dict[str, Any]:
    """Read a job's report; empty where the job has written none, and where what is there is no report.

    That is what somebody has put there, or cut: it must not fail whatever reads it at every tick, and says nothing.
    """
    key = deployment.report_key(table, job_id)
    try:
        body = client("s3").get_object(Bucket=deployment.bucket, Key=key)["Body"].read()
    except ClientError as error:
        if error_code(error) in ("NoSuchKey", "404"):
            return {}
        raise
    try:
        report = json.loads(body)
    except (ValueError, RecursionError):
        report = None
    if not isinstance(report, dict):
        logger.error("the report is no JSON object", extra={"key": key, "bytes": len(body)})
        return {}
    return report
