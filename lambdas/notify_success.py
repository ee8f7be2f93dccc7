"""NotifySuccess: mail what the run did, if it is to be told at once; what it met that should not be; what is over now."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from lambdas.aws import mail, parameters
from lambdas.observability import doorway, logger
from lambdas.telling import tell
from pipeline.deployment import Deployment
from pipeline.mails.frame import meant_for
from pipeline.mails.incidents import after_look, round_works
from pipeline.mails.success import horizon_after, is_told_at_once, success_mail
from pipeline.planning.execution_input import MAINTAIN
from pipeline.table.continuity import NOTHING_KNOWN, Rows, rows_of_report


def _notify_success(event: dict[str, Any], deployment: Deployment) -> dict[str, Any]:
    subjects = []
    if is_told_at_once(event):
        message = success_mail(event, deployment)
        mail.send(deployment.topic_arn, message)
        subjects.append(message.subject)
    return {"subjects": [*subjects, *_news(event, deployment)]}


def _news(event: dict[str, Any], deployment: Deployment) -> list[str]:
    """The mails about what the round has found, and about what is over now."""
    plan, horizon, rows = event["plan"], horizon_after(event), rows_of_report(event["report"])
    table, mode = plan["table"], plan.get("mode", "")
    if rows == NOTHING_KNOWN:
        # What a run has done that died before its mails.
        rows = Rows.from_json(plan["rows"])
    try:
        before = parameters.read_told(deployment, table)
        works, maintained = round_works(mode), mode == MAINTAIN
        news = after_look(before, meant_for(event), works=works, horizon=horizon, rows=rows, maintained=maintained)
    except (ClientError, BotoCoreError):
        logger.exception("what has been told is not known; the next look tells what is new, and what is over")
        return []
    return tell(event, table, before, news, horizon, deployment)


handler = doorway(_notify_success)
