"""CloudWatch metrics that AWS makes by itself: from EMF lines in function logs, and of executions (AWS/States)."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from local.aws.clock import CLOCK
from local.aws.hooks import patch

_OF_EXECUTIONS = {
    "RUNNING": "ExecutionsStarted",
    "SUCCEEDED": "ExecutionsSucceeded",
    "FAILED": "ExecutionsFailed",
    "ABORTED": "ExecutionsAborted",
    "TIMED_OUT": "ExecutionsTimedOut",
}

# Namespace, name, value, unit, dimensions.
Metric = tuple[str, str, float, str, dict[str, str]]


def embedded_metrics(log_text: str) -> Iterator[Metric]:
    """The metrics in a log's EMF lines (CloudWatch "embedded metric format" specification)."""
    for line in log_text.splitlines():
        if '"_aws"' not in line:
            continue
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        for directive in entry["_aws"].get("CloudWatchMetrics", []):
            for names in directive.get("Dimensions") or [[]]:
                dimensions = {name: str(entry[name]) for name in names}
                for metric in directive.get("Metrics", []):
                    values = entry.get(metric["Name"], [])
                    for value in values if isinstance(values, list) else [values]:
                        unit = metric.get("Unit", "None")
                        yield directive["Namespace"], metric["Name"], float(value), unit, dimensions


def install() -> None:
    """Record both kinds, at the virtual time."""
    from ministack.services import cloudwatch, lambda_svc, stepfunctions

    cloudwatch.time = CLOCK
    patch(
        lambda_svc,
        "_emit_lambda_logs",
        _with_embedded,
        takes=("func", "request_id", "log_text", "error", "duration_ms", "log_source"),
    )
    patch(stepfunctions, "_emit_execution_status_event", _with_execution, takes=("execution",))


def _with_embedded(emit: Callable[..., None]) -> Callable[..., None]:
    def wrapper(func: Any, request_id: str, log_text: str, error: bool, duration_ms: int, **more: Any) -> None:
        from ministack.services import cloudwatch

        for metric in embedded_metrics(log_text or ""):
            cloudwatch.record_metric(*metric)
        emit(func, request_id, log_text, error, duration_ms, **more)

    return wrapper


def _with_execution(emit: Callable[..., None]) -> Callable[..., None]:
    def wrapper(execution: dict[str, Any]) -> None:
        from ministack.services import cloudwatch

        name = _OF_EXECUTIONS.get(execution["status"])
        if name:
            cloudwatch.record_metric(
                "AWS/States", name, 1.0, "Count", {"StateMachineArn": execution["stateMachineArn"]}
            )
        emit(execution)

    return wrapper
