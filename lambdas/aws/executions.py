"""Executions of the state machine, seen from outside."""

from __future__ import annotations

from botocore.exceptions import ClientError

from lambdas.aws.clients import client, error_code


def runs(execution: str) -> bool:
    """Whether an execution still runs; one that Step Functions has forgotten does not."""
    try:
        status = client("stepfunctions").describe_execution(executionArn=execution)["status"]
    except ClientError as error:
        if error_code(error) == "ExecutionDoesNotExist":
            return False
        raise
    return bool(status in ("RUNNING", "PENDING_REDRIVE"))
