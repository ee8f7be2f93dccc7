"""NotifyFailure: find out what the failure is called, and mail what happened and what helps, once for each incident."""

from __future__ import annotations

from typing import Any

from lambdas.aws import mail, source
from lambdas.aws.clients import AWS_FAILED
from lambdas.observability import doorway, logger
from lambdas.telling import remember_end, report_of, tell, told_and_watermark
from pipeline.deployment import Deployment
from pipeline.events import StateEvent
from pipeline.mails.aftermath import ended_wish, tells_late
from pipeline.mails.failure import failure_cause, failure_mail, table_of
from pipeline.mails.failure_names import Failure
from pipeline.mails.frame import UNKNOWN_TABLE
from pipeline.mails.steps import telling_failure
from pipeline.planning.execution_input import tick_of
from pipeline.planning.horizon import Horizon, horizon_of_record


def _notify_failure(event: StateEvent, deployment: Deployment) -> dict[str, Any]:
    plan, table = event["plan"], table_of(event, deployment)
    failure = Failure.from_state(event["failure"])
    if failure.state == "RunSparkJob":
        report = report_of(deployment, plan["table"], plan["job_id"])
        failure = failure.explained_by(report, event["clientToken"])
    logger.error("run failed", extra={"error": failure.error, "state": failure.state, "cause": failure.message})
    # Where a wish's own run could not mail how it ended, the next run does. If that fails as well, the end counts as told, for
    # a table must not wait for a mail; but not if the function died before it had tried.
    ended, is_told = ended_wish(plan, failure), tells_late(plan)
    try:
        _tell(event, failure, table, deployment)
        is_told = True
    finally:
        if ended and is_told:
            remember_end(deployment, plan["table"], ended)
    return {"state": failure.state, "error": failure.error, "cause": failure_cause(event, failure, table)}


def _tell(event: StateEvent, failure: Failure, table: str, deployment: Deployment) -> None:
    """Mail the failure: to a person who has started the run always, to those who watch the schedule once.

    A run of the schedule that was redriven is a person's: its tick is long past, and no incident of now began then.
    """
    plan = event["plan"]
    if tick_of(event["input"]) is None or event.get("redriven") or table == UNKNOWN_TABLE:
        horizon = Horizon.from_json(plan.get("history", {}))
        mail.send(deployment.topic_arn, failure_mail(event, failure, deployment, horizon=horizon))
    else:
        # Where that cannot be read, everything is news: a mail twice beats none.
        told, recorded = told_and_watermark(deployment, table, "everything is news")
        horizon = Horizon.from_json(plan["history"]) if "history" in plan else _horizon(table, recorded)
        tell(telling_failure(event, failure, told, horizon, deployment), table, deployment)


def _horizon(table: str, recorded: str) -> Horizon | None:
    """The horizon of a run whose plan failed, by the operator's view of the watermark; None where it cannot be known."""
    if not recorded:
        return None
    try:
        return horizon_of_record(recorded, *source.recovery(table))
    except (*AWS_FAILED, ValueError):
        logger.exception("the source's history is not known")
        return None


handler = doorway(_notify_failure)
