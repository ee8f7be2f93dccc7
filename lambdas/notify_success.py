"""NotifySuccess: mail what the run did, if it is to be told at once; and the all-clear, if runs had failed before."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from lambdas.aws import mail, parameters
from lambdas.observability import doorway, logger
from lambdas.telling import tell
from pipeline.deployment import Deployment
from pipeline.incidents import after_look, round_works
from pipeline.mail import horizon_after, is_told_at_once, success_mail


def _notify_success(event: dict[str, Any], deployment: Deployment) -> dict[str, Any]:
    subjects = []
    if is_told_at_once(event):
        message = success_mail(event, deployment)
        mail.send(deployment.topic_arn, message)
        subjects.append(message.subject)
    return {"subjects": [*subjects, *_all_clear(event, deployment)]}


def _all_clear(event: dict[str, Any], deployment: Deployment) -> list[str]:
    """The mails about what is over now; the run's next look finds it too, so that it can wait."""
    table = event["plan"]["table"]
    try:
        before = parameters.read_told(deployment, table)
    except (ClientError, BotoCoreError):
        logger.exception("what has been told is not known; the next look tells the rest")
        return []
    horizon = horizon_after(event)
    news = after_look(before, works=round_works(event["plan"].get("mode", "")), horizon=horizon)
    return tell(event, table, before, news, horizon, deployment)


handler = doorway(_notify_success)
