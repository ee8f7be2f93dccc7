"""NotifySuccess: mail what the run did, if it is to be told at once; what it met that should not be; and the all-clear."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from lambdas.aws import mail, parameters
from lambdas.observability import doorway, logger
from lambdas.telling import tell
from pipeline.deployment import Deployment
from pipeline.incidents import after_look, round_works
from pipeline.mail import horizon_after, is_told_at_once, success_mail
from pipeline.notices import continuity_warnings


def _notify_success(event: dict[str, Any], deployment: Deployment) -> dict[str, Any]:
    messages = [success_mail(event, deployment)] if is_told_at_once(event) else []
    messages += continuity_warnings(event, deployment)
    for message in messages:
        mail.send(deployment.topic_arn, message)
    return {"subjects": [*(message.subject for message in messages), *_all_clear(event, deployment)]}


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
