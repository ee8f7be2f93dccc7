"""NotifyNews: mail what a run without work has found worth telling: an all-clear, warnings, the daily digest."""

from __future__ import annotations

from typing import Any

from lambdas.aws import parameters
from lambdas.observability import doorway, logger
from lambdas.telling import tell
from pipeline.continuity import Rows
from pipeline.deployment import Deployment
from pipeline.digest import Digest
from pipeline.horizon import Horizon
from pipeline.incidents import after_look


def _notify_news(event: dict[str, Any], deployment: Deployment) -> dict[str, Any]:
    plan = event["plan"]
    # Read again: a reply that was lost must not lead to a second mail.
    before = parameters.read_told(deployment, plan["table"])
    horizon, digest = Horizon.from_json(plan["history"]), Digest.from_json(plan["digest"])
    if digest and digest.end == before.digested:
        digest = None
    rows = Rows.from_json(plan.get("rows", {}))  # a plan of before has none, nor what is next
    maintained = plan.get("maintained", False)
    news = after_look(before, works=plan["works"], horizon=horizon, digest=digest, rows=rows, maintained=maintained)
    logger.info("news", extra={"table": plan["table"], "news": news.names})
    return {"subjects": tell(event, plan["table"], before, news, horizon, deployment)}


handler = doorway(_notify_news)
