"""Telling: what the functions that mail have in common. News is mailed first and recorded as told afterwards.

In this order a crash in between costs a mail too many, never one too few. For the same reason nothing here fails because
of the parameter: where it cannot be read everything is news, and where it cannot be written the next run tells it again.
Only an all-clear is recorded before its mail as well, and waits where that cannot be: see `pipeline.mails.incidents.ending`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from lambdas.aws import mail, parameters, reports
from lambdas.observability import logger
from pipeline.deployment import Deployment
from pipeline.mails.incidents import News, all_clear_later, ending
from pipeline.mails.notices import notices
from pipeline.mails.told import Told
from pipeline.planning.horizon import Horizon


def tell(
    event: dict[str, Any], table: str, before: Told | None, news: News, horizon: Horizon | None, deployment: Deployment
) -> list[str]:
    """Mail every notice of the news and record what has been told; returns the mails' subjects.

    `before` is what had been told; with None, because it could not be read, nothing is recorded over it.
    """
    if before and (announced := ending(before, news)) != before:
        if _recorded(deployment, table, before, announced):
            before = announced
        else:
            news = all_clear_later(news, before)
    mails = notices(event, table, news, horizon, deployment)
    for notice in mails:
        mail.send(deployment.topic_arn, notice)
    if before:
        _recorded(deployment, table, before, news.told)
    return [notice.subject for notice in mails]


def remember_given_up(deployment: Deployment, table: str, before: Told | None, job_id: str) -> None:
    """Record that a person has been told that a wish is given up. `before`: what had been told; None where nobody knows."""
    if before:
        _recorded(deployment, table, before, replace(before, given_up=job_id))


def report_of(deployment: Deployment, table: str, job_id: str) -> dict[str, Any]:
    """A job's report; empty where there is none or it cannot be read, because a mail matters more than its detail."""
    try:
        return reports.read(deployment, table, job_id)
    except (ClientError, BotoCoreError, ValueError):
        logger.exception("report not read")
        return {}


def _recorded(deployment: Deployment, table: str, before: Told, told: Told) -> bool:
    """Write what has been told if it is something else than before; False where it cannot be written."""
    if told == before:
        return True
    try:
        parameters.write_told(deployment, table, told)
    except (ClientError, BotoCoreError):
        logger.exception("not recorded as told; the next run tells it again")
        return False
    return True
