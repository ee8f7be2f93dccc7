"""The event budget: an execution may have 25,000 events, and an export may take two days."""

from __future__ import annotations

from functools import cache

from pipeline.exports.requests import LONGEST_EXPORT, waited
from pipeline.exports.windows import LONGEST_WINDOW
from tests.statemachine.definition import STATES, TASKS, ways_out

MOST_EVENTS = 25_000
# Entered and exited; a task is also scheduled, started and succeeded.
EVENTS = {"Task": 5, "Choice": 2, "Wait": 2}
EVENTS_OF_A_RETRY = 3  # failed, scheduled, started


@cache
def looks() -> int:
    """How often exports are looked at before a run gives up waiting."""
    return next(checks for checks in range(MOST_EVENTS) if waited(checks) >= LONGEST_EXPORT)


def loop() -> list[str]:
    """The states between one look and the next."""
    (again,) = [target for target, _ in ways_out(STATES["ChooseReadiness"]) if target != "PrepareJob"]
    return ["CheckExports", "ChooseReadiness", again]


def test_waiting_goes_round_in_a_loop_of_three_states():
    for name, following in zip(loop(), [*loop()[1:], "CheckExports"], strict=True):
        assert following in {target for target, _ in ways_out(STATES[name])}


def test_two_days_of_waiting_take_a_quarter_of_the_events_that_an_execution_may_have():
    events = sum(EVENTS[STATES[name]["Type"]] for name in loop())
    assert looks() * events < MOST_EVENTS / 4


def test_even_if_every_look_had_to_be_tried_as_often_as_is_allowed_there_would_be_room():
    retries = sum(retry["MaxAttempts"] for retry in TASKS["CheckExports"]["Retry"])
    events = sum(EVENTS[STATES[name]["Type"]] for name in loop()) + retries * EVENTS_OF_A_RETRY
    assert looks() * events < MOST_EVENTS * 0.6


def test_the_machine_has_time_for_the_longest_export_and_the_longest_job():
    assert LONGEST_EXPORT.total_seconds() + TASKS["RunSparkJob"]["TimeoutSeconds"] < 604_800
    assert LONGEST_WINDOW < LONGEST_EXPORT
