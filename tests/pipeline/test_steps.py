"""In which order news is mailed and recorded as told, whatever becomes of the records."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from pipeline.instants import format_instant
from pipeline.mails.failure_names import Failure
from pipeline.mails.frame import CLEARED, FAILURE, WARNING
from pipeline.mails.incidents import News, ending
from pipeline.mails.steps import Steps, telling, telling_failure
from pipeline.mails.told import FailureKind, Told
from tests.pipeline.world import DEPLOYMENT, EXECUTION, behind, incident

EVENT = {
    "input": {"table": "orders", "scheduled_time": "2026-11-21T13:00:00Z"},
    "execution": EXECUTION,
    "plan": {"table": "orders", "tick_minutes": 15},
}
OPEN = Told(incident("12:15", "12:00", FailureKind("PitrOff", "Plan")))
OVER = News(Told(), over=OPEN.incident)
BROKEN = Failure("Plan", "PitrOff", "Recovery is off.", "Turn it on.")


def taken(steps: Steps, *, recordable: bool = True) -> list[Any]:
    """The steps as they are taken: what is recorded, and the status of what is mailed."""
    found, done = [], None
    with suppress(StopIteration):
        while True:
            step = steps.send(done)
            found.append(step if isinstance(step, Told) else step.status)
            done = recordable if isinstance(step, Told) else None
    return found


def told(before: Told | None, news: News) -> Steps:
    return telling(EVENT, "orders", before, news, behind(60), DEPLOYMENT)


def fails(before: Told | None) -> Steps:
    return telling_failure(EVENT, BROKEN, before, behind(1), DEPLOYMENT)


def test_an_all_clear_is_announced_before_its_mail_and_recorded_after_it():
    assert taken(told(OPEN, OVER)) == [ending(OPEN, OVER), CLEARED, Told()]


def test_an_all_clear_that_cannot_be_announced_waits():
    assert taken(told(OPEN, OVER), recordable=False) == [ending(OPEN, OVER)]


def test_other_news_is_mailed_first_and_recorded_afterwards():
    warned = replace(OPEN, level=50)
    assert taken(told(OPEN, News(warned, warning=50))) == [WARNING, warned]


def test_what_only_ends_without_a_mail_is_recorded():
    assert taken(told(OPEN, News(Told(), closed=True))) == [Told()]


def test_nothing_is_written_where_nothing_is_new():
    assert taken(told(OPEN, News(OPEN))) == []


def test_nothing_is_recorded_over_what_could_not_be_read():
    assert taken(fails(None)) == [FAILURE]


def test_a_failure_is_mailed_before_it_counts_as_told():
    first, recorded = taken(fails(Told()))
    assert (first, recorded.incident.kinds) == (FAILURE, OPEN.incident.kinds)


def test_the_mail_of_a_failure_says_how_far_the_table_is_and_when_the_next_mail_comes():
    mail = next(fails(Told()))
    assert mail.facts["watermark"] == format_instant(behind(1).watermark)
    assert "The next mail about it comes when it changes, or when it is over.\n" in mail.text


def test_a_failure_that_has_been_told_is_silent():
    assert taken(fails(OPEN)) == []
