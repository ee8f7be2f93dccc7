"""NotifyNews: mail what a run without work has found worth telling: an all-clear, warnings, the daily digest.

What maintenance is about to let go is summed up before, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from lambdas.aws import parameters
from lambdas.aws.clients import client
from lambdas.observability import doorway, logger
from lambdas.telling import report_of, tell
from pipeline.deployment import Deployment
from pipeline.events import StateEvent
from pipeline.mails.digest import Digest
from pipeline.mails.outlook import after_idle
from pipeline.mails.steps import telling
from pipeline.planning.horizon import Horizon
from pipeline.table.drift import summed

_AT_ONCE = 8


def _notify_news(event: StateEvent, deployment: Deployment) -> dict[str, Any]:
    plan, table = event["plan"], event["plan"]["table"]
    digest = Digest.from_json(plan["digest"])
    digest = digest and replace(digest, found=summed(_reports(deployment, table, digest.job_ids)))
    # Read last: where another run is at work, it tells meanwhile what this one would write over.
    before = parameters.read_told(deployment, table)
    news = after_idle(before, event, digest)
    logger.info("news", extra={"table": table, "news": news.names})
    steps = telling(event, table, before, news, Horizon.from_json(plan["history"]), deployment)
    return {"subjects": tell(steps, table, deployment)}


def _reports(deployment: Deployment, table: str, job_ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The reports of jobs. A day has a hundred, and S3 takes its time for each."""
    client("s3")  # made here: several threads must not make it at once
    with ThreadPoolExecutor(_AT_ONCE) as readers:
        yield from readers.map(lambda job_id: report_of(deployment, table, job_id), job_ids)


handler = doorway(_notify_news)
