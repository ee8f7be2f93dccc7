"""NotifySuccess: mail what the run did, if it is to be told at once; what it met that should not be; what is over now."""

from __future__ import annotations

from typing import Any

from lambdas.aws import mail
from lambdas.observability import doorway
from lambdas.telling import tell, told_and_watermark
from pipeline.deployment import Deployment
from pipeline.events import StateEvent
from pipeline.mails.outlook import after_round
from pipeline.mails.steps import telling
from pipeline.mails.success import horizon_after, is_told_at_once, success_mail


def _notify_success(event: StateEvent, deployment: Deployment) -> dict[str, Any]:
    subjects = []
    if is_told_at_once(event):
        message = success_mail(event, deployment)
        mail.send(deployment.topic_arn, message)
        subjects.append(message.subject)
    return {"subjects": [*subjects, *_news(event, deployment)]}


def _news(event: StateEvent, deployment: Deployment) -> list[str]:
    """The mails about what the round has found, and about what is over now."""
    table = event["plan"]["table"]
    before, _ = told_and_watermark(deployment, table, "the next look tells what is new, and what is over")
    if before is None:
        return []
    steps = telling(event, table, before, after_round(before, event), horizon_after(event), deployment)
    return tell(steps, table, deployment)


handler = doorway(_notify_success)
