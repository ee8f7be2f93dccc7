"""Logs, metrics and traces of the functions, and the doorway that every handler shares."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import wraps
from typing import Any

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from lambdas.aws.clients import aws_failures
from pipeline.deployment import Deployment
from pipeline.events import StateEvent
from pipeline.planning.observation import Observation

# Powertools keeps these for a container; names come from the environment that `infra` writes.
logger = Logger()
tracer = Tracer()
metrics = Metrics()

Handler = Callable[[StateEvent, object], Mapping[str, Any]]


def doorway(carry_out: Callable[[StateEvent, Deployment], Mapping[str, Any]]) -> Handler:
    """Make a handler of a function of (event, deployment): logs with context, trace, named AWS failures."""

    @logger.inject_lambda_context(clear_state=True)
    @tracer.capture_lambda_handler(capture_response=False)
    @wraps(carry_out)
    def handler(event: StateEvent, context: object) -> Mapping[str, Any]:
        with aws_failures():
            return carry_out(event, Deployment.from_environment(os.environ))

    return handler  # type: ignore[no-any-return]  # the decorators' types lose the signature


def record_tick(tick: datetime, minutes: int) -> None:
    """Publish that a tick of a table has come, as long as the time between two of them (TickMinutes), of all tables as one.

    One alarm watches the sum, which is the time that passes, for each table once. It is told at the time the tick was meant
    for: a tick comes at any minute of its flexible window, and would fall into another hour each time.
    """
    ticks = EphemeralMetrics()  # what a time is set for keeps it for all that follows
    # Its own method warns where the clock is not the present's, as on the local AWS.
    ticks.timestamp = round(tick.timestamp() * 1000)
    ticks.add_metric("TickMinutes", MetricUnit.NoUnit, minutes)
    ticks.flush_metrics()


def record_lag(table: str, seen: Observation) -> None:
    """Publish how far the table is behind what could be exported, and how long until its history is lost.

    LagSeconds: latest restorable time minus watermark. HoursUntilHistoryIsLost and RecoveryPeriodUsed (percent): see
    `pipeline.planning.horizon`. The last one is published of all tables as one, which one alarm watches.
    Nothing is published for a table without a watermark, one of another source, or a source without recovery.
    """
    horizon = seen.horizon
    if horizon is None:
        return
    metrics.add_dimension("table", table)
    metrics.add_metric("LagSeconds", MetricUnit.Seconds, max(0.0, (horizon.latest - horizon.watermark).total_seconds()))
    metrics.add_metric("HoursUntilHistoryIsLost", MetricUnit.NoUnit, round(horizon.left / timedelta(hours=1), 3))
    metrics.flush_metrics()
    metrics.add_metric("RecoveryPeriodUsed", MetricUnit.Percent, round(horizon.used_percent, 3))
    metrics.flush_metrics()
