"""Steps: in which order news is mailed and recorded as told. Pure: each step says what is to be done, and others do it.

News is mailed first and recorded as told afterwards. In this order a crash in between costs a mail too many, never one too
few. Only an all-clear is recorded before its mail as well, and waits where that cannot be: see
`pipeline.mails.incidents.ending`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Union

from pipeline.deployment import Deployment
from pipeline.events import StateEvent
from pipeline.mails.failure import failure_mail, table_of
from pipeline.mails.failure_names import Failure
from pipeline.mails.frame import Mail
from pipeline.mails.incidents import News, all_clear_later, ending
from pipeline.mails.notices import notices
from pipeline.mails.outlook import after_failed_tick
from pipeline.mails.told import Told
from pipeline.planning.horizon import Horizon

#: A Mail is to be sent, and None sent back; a Told is to be recorded, and whether that could be done is sent back.
Steps = Generator[Union[Mail, Told], Union[bool, None], None]


def telling(
    event: StateEvent,
    table: str,
    before: Told | None,
    news: News,
    horizon: Horizon | None,
    deployment: Deployment,
    failure: Failure | None = None,
) -> Steps:
    """Mail every notice of the news and record what has been told. `event`, `failure`: as `pipeline.mails.notices` has them.

    `before` is what had been told; with None, because it could not be read, nothing is recorded over it.
    """
    if before and (announced := ending(before, news)) != before:
        if (yield announced):
            before = announced
        else:
            news = all_clear_later(news, before)
    yield from notices(event, table, news, horizon, deployment, failure)
    if before and (before.outlived or news.told != before):
        yield news.told


def telling_failure(
    event: StateEvent, failure: Failure, before: Told | None, horizon: Horizon | None, deployment: Deployment
) -> Steps:
    """Mail what is news of a failure of the schedule, and nothing of what is not. `event` is NotifyFailure's.

    `before` is what had been told; with None, because it could not be read, everything is news: a mail twice beats none.
    """
    news = after_failed_tick(before or Told(), event, failure, horizon)
    if news.failed:
        yield failure_mail(event, failure, deployment, horizon=horizon, incident=news.told.incident)
    yield from telling(event, table_of(event, deployment), before, news, horizon, deployment, failure)
