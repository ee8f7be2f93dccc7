"""NotifyFailure: find out what the failure is called, and mail what happened and what helps, once for each incident."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from lambdas.aws import mail, parameters, source
from lambdas.observability import doorway, logger
from lambdas.telling import remember_given_up, report_of, tell
from pipeline.deployment import Deployment
from pipeline.instants import parse_instant
from pipeline.mails.failure import failure_mail, table_of
from pipeline.mails.failure_names import Failure
from pipeline.mails.frame import UNKNOWN_TABLE
from pipeline.mails.incidents import after_failure
from pipeline.mails.told import Kind, Told
from pipeline.planning.execution_input import tick_of
from pipeline.planning.horizon import Horizon


def _notify_failure(event: dict[str, Any], deployment: Deployment) -> dict[str, Any]:
    plan = event["plan"]
    failure = Failure.from_state(event["failure"])
    if failure.state == "RunSparkJob":
        report = report_of(deployment, plan["table"], plan["job_id"])
        failure = failure.explained_by(report, event["clientToken"])
    logger.error("run failed", extra={"error": failure.error, "state": failure.state, "cause": failure.message})
    table, tick = table_of(event, deployment), tick_of(event["input"])
    if tick is None or table == UNKNOWN_TABLE:
        horizon = Horizon.from_json(plan.get("history", {}))
        mail.send(deployment.topic_arn, failure_mail(event, failure, deployment, horizon=horizon))
        if given_up := plan.get("given_up"):
            told, _ = _told(table, deployment)
            remember_given_up(deployment, table, told, given_up)
    else:
        _tell_the_incident(event, failure, table, tick, deployment)
    return {"state": failure.state, "error": failure.error, "cause": failure.text}


def _tell_the_incident(
    event: dict[str, Any], failure: Failure, table: str, tick: datetime, deployment: Deployment
) -> None:
    """Mail what is news of a failure of the schedule, and nothing of what is not."""
    told, recorded = _told(table, deployment)
    plan = event["plan"]
    horizon = Horizon.from_json(plan["history"]) if "history" in plan else _horizon(table, recorded)
    kind = Kind(failure.error, failure.state, plan.get("mode", ""))
    news = after_failure(told or Told(), kind, tick, horizon, plan.get("given_up", ""))
    if news.failed:
        message = failure_mail(event, failure, deployment, horizon=horizon, incident=news.told.incident)
        mail.send(deployment.topic_arn, message)
    tell(event, table, told, news, horizon, deployment)


def _told(table: str, deployment: Deployment) -> tuple[Told | None, str]:
    """What has been told and the recorded watermark; None where that cannot be read, because a mail twice beats none."""
    try:
        return parameters.read_told_and_watermark(deployment, table)
    except (ClientError, BotoCoreError):
        logger.exception("what has been told is not known; everything is news")
        return None, ""


def _horizon(table: str, recorded: str) -> Horizon | None:
    """The horizon of a run whose plan failed, by the operator's view of the watermark; None where it cannot be known."""
    if not recorded:
        return None
    try:
        earliest, latest, days = source.recovery(table)
        watermark = parse_instant(recorded)
        # What lies in the future somebody else has written; it must not end a warning.
        if earliest is None or latest is None or watermark > latest:
            return None
        return Horizon(watermark, earliest, latest, days)
    except (ClientError, BotoCoreError, ValueError):
        logger.exception("the source's history is not known")
        return None


handler = doorway(_notify_failure)
