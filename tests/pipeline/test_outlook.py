"""What the states that mail make of what a plan has told them."""

from __future__ import annotations

from dataclasses import replace

from pipeline.mails.digest import Digest
from pipeline.mails.outlook import after_idle, after_round
from pipeline.mails.told import Kind, Told
from tests.pipeline.rounds import OUTLOOK, done
from tests.pipeline.world import at, incident, plan

TOO_SHORT, OFF = Kind("RecoveryTooShort", "Plan"), Kind("PitrOff", "Plan")
IDLE = {
    "input": {"table": "orders", "scheduled_time": "2026-11-21T13:00:00Z"},
    "plan": {**OUTLOOK, "works": True, "maintained": False},
}


def told(*kinds: Kind) -> Told:
    return Told(incident("12:15", "12:00", *kinds))


def test_a_round_ends_what_failed_but_not_that_the_source_keeps_too_little_history():
    news = after_round(told(OFF, TOO_SHORT), done(plan("12:00 13:00")))
    assert (news.over, news.told) == (incident("12:15", "12:00", OFF), told(TOO_SHORT))
    assert after_round(told(TOO_SHORT), done(plan("12:00 13:00"))).names == []


def test_that_it_keeps_enough_a_table_shows_that_is_up_to_date():
    assert after_idle(told(TOO_SHORT), IDLE, None).over == incident("12:15", "12:00", TOO_SHORT)


def test_days_that_were_summed_up_meanwhile_are_not_summed_up_again():
    day = Digest(at("20/00:00"), at("21/00:00"), {"merge": 1}, {})
    assert after_idle(Told(), IDLE, day).digest == day
    assert after_idle(replace(Told(), digested=day.end), IDLE, day).names == []
