"""NotifyFailure: find out what the failure is called, and mail what happened and what helps."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from lambdas.aws import mail, reports
from lambdas.observability import doorway, logger
from pipeline.deployment import Deployment
from pipeline.failures import Failure
from pipeline.mail import failure_mail


def _notify_failure(event: dict[str, Any], deployment: Deployment) -> dict[str, Any]:
    plan = event["plan"]
    failure = Failure.from_state(event["failure"])
    if failure.state == "RunSparkJob":
        failure = failure.explained_by(_report(plan, deployment))
    logger.error("run failed", extra={"error": failure.error, "state": failure.state, "cause": failure.message})
    mail.send(deployment.topic_arn, failure_mail(event, failure, deployment))
    return {"state": failure.state, "error": failure.error, "cause": failure.text}


def _report(plan: dict[str, Any], deployment: Deployment) -> dict[str, Any]:
    """The job's own report; empty where it cannot be read, because the mail matters more than its detail."""
    try:
        return reports.read(deployment, plan["table"], plan["job_id"])
    except (ClientError, BotoCoreError):
        logger.exception("report not read")
        return {}


handler = doorway(_notify_failure)
