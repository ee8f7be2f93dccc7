"""Logs, metrics and traces of the functions, and the doorway that every handler shares."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit

from lambdas.aws.clients import aws_failures
from pipeline.deployment import Deployment
from pipeline.observation import Observation

# Powertools keeps these for a container; names come from the environment that `infra` writes.
logger = Logger()
tracer = Tracer()
metrics = Metrics()

Handler = Callable[[dict[str, Any], object], dict[str, Any]]


def doorway(carry_out: Callable[[dict[str, Any], Deployment], dict[str, Any]]) -> Handler:
    """Make a handler of a function of (event, deployment): logs with context, trace, named AWS failures."""

    @logger.inject_lambda_context(clear_state=True)
    @tracer.capture_lambda_handler(capture_response=False)
    @wraps(carry_out)
    def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
        with aws_failures():
            return carry_out(event, Deployment.from_environment(os.environ))

    return handler  # type: ignore[no-any-return]  # the decorators' types lose the signature


def record_lag(table: str, seen: Observation) -> None:
    """Publish how far the table is behind what could be exported, and how much history is left before it is lost.

    LagSeconds: latest restorable time minus watermark. HistoryLeftSeconds: watermark minus earliest restorable time.
    Nothing is published for a table without a watermark or a source without recovery.
    """
    watermark, latest, earliest = seen.table.watermark, seen.source.latest, seen.source.earliest
    if watermark is None or latest is None or earliest is None:
        return
    metrics.add_dimension("table", table)
    metrics.add_metric("LagSeconds", MetricUnit.Seconds, max(0.0, (latest - watermark).total_seconds()))
    metrics.add_metric("HistoryLeftSeconds", MetricUnit.Seconds, (watermark - earliest).total_seconds())
    metrics.flush_metrics()
