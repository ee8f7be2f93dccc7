"""Telling: what the functions that mail have in common. News is mailed first and recorded as told afterwards.

In this order a crash in between costs a mail too many, never one too few. For the same reason nothing here fails because
of the parameter: where it cannot be read everything is news, and where it cannot be written the next run tells it again.
"""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from lambdas.aws import mail, parameters
from lambdas.observability import logger
from pipeline.deployment import Deployment
from pipeline.horizon import Horizon
from pipeline.incidents import News, Told
from pipeline.notices import notices


def send_notices(
    event: dict[str, Any], table: str, news: News, horizon: Horizon | None, deployment: Deployment
) -> list[str]:
    """Mail every notice of the news; returns their subjects."""
    mails = notices(event, table, news, horizon, deployment)
    for notice in mails:
        mail.send(deployment.topic_arn, notice)
    return [notice.subject for notice in mails]


def record_told(deployment: Deployment, table: str, before: Told | None, told: Told) -> None:
    """Write what has been told if it is something else than before; not over what could not be read."""
    if before is None or told == before:
        return
    try:
        parameters.write_told(deployment, table, told)
    except (ClientError, BotoCoreError):
        logger.exception("not recorded as told; the next run tells it again")
