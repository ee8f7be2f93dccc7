"""StartExports: ask DynamoDB for every export of the plan. Asking twice is the same request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lambdas.aws import source
from lambdas.observability import doorway, logger
from pipeline.deployment import Deployment
from pipeline.errors import ExportRefused, HistoryLost
from pipeline.events import ExportEvent, PlanEvent, StateEvent
from pipeline.exports.requests import ExportRequest, client_token, failure_of, is_lost, retries, wait_before_check
from pipeline.instants import parse_instant
from pipeline.modes import BACKFILL


def _start_exports(event: StateEvent, deployment: Deployment) -> dict[str, Any]:
    plan = event["plan"]
    requests = [ExportRequest.from_json(raw) for raw in plan["exports"]]
    exports = [_start(request, plan, deployment) for request in requests]
    return {"exports": exports, "wait_seconds": wait_before_check(0).seconds}


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
