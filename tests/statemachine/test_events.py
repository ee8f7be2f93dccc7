"""The event budget: an execution may have 25,000 events, and an export may take two days."""

from __future__ import annotations

from functools import cache

from pipeline.exports.requests import LONGEST_EXPORT, waited
from pipeline.exports.windows import LONGEST_WINDOW, SHORTEST_WINDOW
from pipeline.planning.planner import LONGEST_SERIES
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


def test_a_table_for_which_something_has_always_closed_never_comes_near_the_limit():
    # Rounds of a quarter of an hour each, which is the shortest window, and an export of two days in the last of them.
    checks = next(n for n in range(MOST_EVENTS) if waited(n) >= SHORTEST_WINDOW)
    round_ = sum(EVENTS[state["Type"]] for name, state in STATES.items() if "Next" in state or name == "ChooseAction")
    look = sum(EVENTS[STATES[name]["Type"]] for name in loop())
    rounds = LONGEST_SERIES / SHORTEST_WINDOW
    assert rounds * (round_ + checks * look) + looks() * look < MOST_EVENTS


def test_the_machine_has_time_for_the_longest_series_and_then_the_longest_export_and_the_longest_job():
    last = LONGEST_EXPORT.total_seconds() + TASKS["RunSparkJob"]["TimeoutSeconds"]
    assert LONGEST_SERIES.total_seconds() + last < 604_800
    assert LONGEST_WINDOW < LONGEST_EXPORT
