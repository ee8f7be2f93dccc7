"""Telling: what the functions that mail have in common. What is told, and in which order, `pipeline.mails.steps` says.

Nothing here fails because of the parameter. Where it cannot be read, NotifyFailure takes everything for news, and NotifySuccess
leaves the news to the next look; NotifyNews, which has nothing else to do, reads it by itself and fails. Where it cannot be
written, the next run tells it again.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from lambdas.aws import mail, parameters, reports
from lambdas.aws.clients import AWS_FAILED
from lambdas.observability import logger
from pipeline.deployment import Deployment
from pipeline.mails.frame import Mail
from pipeline.mails.steps import Steps
from pipeline.mails.told import Told


def tell(steps: Steps, table: str, deployment: Deployment) -> list[str]:
    """Take the steps: send each mail and record what has been told; returns the mails' subjects."""
    subjects, is_recorded = [], None
    with suppress(StopIteration):  # the steps are at their end
        while True:
            step = steps.send(is_recorded)
            if isinstance(step, Mail):
                mail.send(deployment.topic_arn, step)
                subjects.append(step.subject)
                is_recorded = None
            else:
                is_recorded = _recorded(deployment, table, step)
    return subjects


def remember_end(deployment: Deployment, table: str, job_id: str) -> None:
    """Record that the end of a wish has been told, where that does not stand there yet."""
    before, _ = told_and_watermark(deployment, table, "the next run tells the end of the wish again")
    if before and before.ended != job_id:
        _recorded(deployment, table, replace(before, ended=job_id))


def told_and_watermark(deployment: Deployment, table: str, otherwise: str) -> tuple[Told | None, str]:
    """What has been told, None where it cannot be read; and the recorded watermark, or "". `otherwise`: what is done then."""
    try:
        return parameters.read_told_and_watermark(deployment, table)
    except AWS_FAILED:
        logger.exception(f"what has been told is not known; {otherwise}")
        return None, ""


def report_of(deployment: Deployment, table: str, job_id: str) -> dict[str, Any]:
    """A job's report; empty where there is none or it cannot be read, because a mail matters more than its detail."""
    try:
        return reports.read(deployment, table, job_id)
    except AWS_FAILED:
        logger.exception("report not read")
        return {}


def _recorded(deployment: Deployment, table: str, told: Told) -> bool:
    """Write what has been told; False where it cannot be written."""
    try:
        parameters.write_told(deployment, table, told)
    except AWS_FAILED:
        logger.exception("not recorded as told; the next run tells it again")
        return False
    return True
