"""Executions of the state machine, seen from outside."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from botocore.exceptions import ClientError

from lambdas.aws.clients import client, error_code


def runs(execution: str) -> bool | None:
    """Whether an execution still runs; None for one that Step Functions does not know: not any more, or not yet.

    It forgets executions 90 days after they have ended, and its answers may be behind for a moment.
    """
    found = _described(execution)
    return None if found is None else found["status"] in ("RUNNING", "PENDING_REDRIVE")


def duration(execution: str) -> timedelta | None:
    """How long an execution took that has ended; None for one that runs, or that Step Functions has forgotten."""
    found = _described(execution)
    return found["stopDate"] - found["startDate"] if found and "stopDate" in found else None


def _described(execution: str) -> dict[str, Any] | None:
    try:
        return dict(client("stepfunctions").describe_execution(executionArn=execution))
    except ClientError as error:
        if error_code(error) == "ExecutionDoesNotExist":
            return None
        raise
