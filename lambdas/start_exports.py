"""StartExports: ask DynamoDB for every export of the plan. Asking twice is the same request.

What a job has been given before is taken again: DynamoDB forgets a request eight hours after its export has ended, and a job
that dies each time would have another made, and paid for, every eight hours.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lambdas.aws import jobs, source
from lambdas.observability import doorway, logger
from pipeline.deployment import Deployment
from pipeline.errors import ExportRefused, HistoryLost
from pipeline.events import ExportEvent, PlanEvent, StateEvent
from pipeline.exports.requests import (
    ExportRequest,
    client_token,
    exports_of,
    failure_of,
    is_lost,
    retries,
    wait_before_check,
)
from pipeline.instants import parse_instant
from pipeline.job_order import JobOrder
from pipeline.modes import BACKFILL


def _start_exports(event: StateEvent, deployment: Deployment) -> dict[str, Any]:
    plan = event["plan"]
    requests = [ExportRequest.from_json(raw) for raw in plan["exports"]]
    exports = _given_before(requests, plan, deployment) or [_start(request, plan, deployment) for request in requests]
    return {"exports": exports, "wait_seconds": wait_before_check(0).seconds}


def _given_before(requests: list[ExportRequest], plan: PlanEvent, deployment: Deployment) -> list[ExportEvent]:
    """The exports that the last job of what another run has left was given.

    Empty where no job was started yet, or one by another version of the product. A claim that the run finds to be its own
    already may be of work that it had taken over.
    """
    if not (plan["taken_over_from"] or plan.get("adopted")):
        return []
    given = jobs.last_arguments(deployment.application_id, plan["job_id"], since=parse_instant(plan["end"]))
    try:
        summaries = JobOrder.from_arguments(given).exports
    except (ValueError, KeyError, TypeError):
        return []
    arns = exports_of(summaries, plan["source"]["arn"], deployment.bucket, deployment.export_prefix(plan["table"]))
    if len(arns) != len(requests):
        return []
    logger.info("exports taken again", extra={"exports": arns})
    return [{**request.to_json(), "arn": arn} for request, arn in zip(requests, arns, strict=True)]


def _start(request: ExportRequest, plan: PlanEvent, deployment: Deployment) -> ExportEvent:
    """Start one export, or find the one that an earlier run started; one that failed is asked for anew."""
    prefix = deployment.export_prefix(plan["table"])
    seen_at = parse_instant(plan["seen_at"])
    for retry in retries(seen_at):
        token = client_token(plan["source"]["id"], request, deployment.bucket, prefix, plan["attempt"], retry)
        with _refused_by_what_it_is(plan):
            description = source.start_export(plan["source"]["arn"], request, token, deployment.bucket, prefix)
        logger.info("export", extra={"request": str(request), "retry": retry, "export": description["ExportArn"]})
        if not is_lost(description, seen_at):
            return {**request.to_json(), "arn": description["ExportArn"], "retry": retry}
    failure = failure_of(description)
    raise type(failure)(
        f"{request}: many exports in a row have failed, the last with {failure.message}",
        "Read why in DynamoDB's list of exports; the schedule tries another every hour, or at each longer tick.",
    )


@contextmanager
def _refused_by_what_it_is(plan: PlanEvent) -> Iterator[None]:
    """A backfill that comes too late is refused, and nothing more: the table has all that it would have exported once more."""
    try:
        yield
    except HistoryLost as late:
        if plan["mode"] != BACKFILL:
            raise
        told = "The next run gives the backfill up, and mails how to ask for it again from a later instant."
        raise ExportRefused(late.message, told) from late


handler = doorway(_start_exports)
