"""NotifySuccess: mail what the run did, if it is to be told at once; what it met that should not be; what is over now."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from lambdas.aws import mail, parameters
from lambdas.observability import doorway, logger
from lambdas.telling import tell
from pipeline.deployment import Deployment
from pipeline.mails.incidents import after_look, round_works
from pipeline.mails.success import horizon_after, is_told_at_once, success_mail
from pipeline.planning.execution_input import FULL, MAINTAIN
from pipeline.table.continuity import rows_of_report


def _notify_success(event: dict[str, Any], deployment: Deployment) -> dict[str, Any]:
    subjects = []
    if is_told_at_once(event):
        message = success_mail(event, deployment)
        mail.send(deployment.topic_arn, message)
        subjects.append(message.subject)
    return {"subjects": [*subjects, *_news(event, deployment)]}


def _news(event: dict[str, Any], deployment: Deployment) -> list[str]:
    """The mails about what the round has found, and about what is over now."""
    table, horizon, rows = event["plan"]["table"], horizon_after(event), rows_of_report(event["report"])
    try:
        before = parameters.read_told(deployment, table)
        mode = event["plan"].get("mode", "")
        done = {"works": round_works(mode), "maintained": mode == MAINTAIN, "made_anew": mode == FULL}
        news = after_look(before, horizon=horizon, rows=rows, **done)
    except (ClientError, BotoCoreError):
        logger.exception("what has been told is not known; the next look tells what is new, and what is over")
        return []
    return tell(event, table, before, news, horizon, deployment)


handler = doorway(_notify_success)
