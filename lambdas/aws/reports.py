"""The reports that Spark jobs leave in the bucket, committed or refused."""

from __future__ import annotations

import json
from typing import Any

from botocore.exceptions import ClientError

from lambdas.aws.clients import client, error_code
from pipeline.deployment import Deployment


def read(deployment: Deployment, table: str, job_id: str) -> dict[str, Any]:
    """Read a job's report; empty where the job has written none."""
    try:
        key = deployment.report_key(table, job_id)
        body = client("s3").get_object(Bucket=deployment.bucket, Key=key)["Body"].read()
    except ClientError as error:
        if error_code(error) in ("NoSuchKey", "404"):
            return {}
        raise
    report: dict[str, Any] = json.loads(body)
    return report
