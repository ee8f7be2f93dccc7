"""NotifySuccess: mail what the run did."""

from __future__ import annotations

from typing import Any

from lambdas.aws import mail
from lambdas.observability import doorway
from pipeline.deployment import Deployment
from pipeline.mail import success_mail


def _notify_success(event: dict[str, Any], deployment: Deployment) -> dict[str, Any]:
    message = success_mail(event, deployment)
    mail.send(deployment.topic_arn, message)
    return {"subject": message.subject}


handler = doorway(_notify_success)
