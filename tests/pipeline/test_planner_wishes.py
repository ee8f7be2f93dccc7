"""What a person asks for: full exports and backfills, once for each execution."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from pipeline.modes import BACKFILL, FULL, MAINTAIN, VERIFY
from pipeline.planning.actions import Export, Halt, Idle, Record
from tests.pipeline.world import HOUR, ME, OTHER, QUARTER_HOUR, at, backfill, claim, full, plan, seen, table, update


@pytest.mark.parametrize(
    ("watermark", "restorable", "expected"),
    [
        pytest.param("12:00", "09:00-13:17:09", "13:17:09", id="as late as possible, so that no window is waited for"),
        pytest.param("12:00", "09:00-13:17:09.75", "13:17:09", id="at a whole second"),
        pytest.param("", "09:00-13:17", "13:17", id="also where there is no table yet"),
        pytest.param("13:17", "09:00-13:17", "13:17", id="also where the table is as fresh as can be"),
    ],
)
def test_a_full_export_is_asked_for(watermark, restorable, expected):
    assert full(seen(watermark, restorable)) == Export(plan(expected, FULL, 1), 1)


def test_a_full_export_of_nothing_restorable_is_refused():
    action = full(seen("", "13:00:00.2-13:00:00.9"))
    assert isinstance(action, Halt)
    assert (action.error, action.remedy) == ("InputRefused", "Start the execution again in a few minutes.")


@pytest.mark.parametrize(
    ("start", "watermark", "window", "expected"),
    [
        pytest.param("10:00", "12:00", HOUR, "10:00 12:00", id="one window"),
        pytest.param("10:03:20", "12:00", HOUR, "10:03:20 12:00", id="from any second"),
        pytest.param("11:45", "12:00", QUARTER_HOUR, "11:45 12:00", id="the shortest"),
        pytest.param("09:00", "12:00", HOUR, "09:00 12:00", id="from the earliest instant"),
        pytest.param("19/06:30", "12:00", HOUR, "19/06:30 20/06:00 21/06:00 12:00", id="several, cut on the grid"),
        pytest.param("20/11:50", "12:00", HOUR, "20/11:50 21/11:00 12:00", id="the last one is not too short"),
    ],
)
def test_a_backfill_goes_from_the_instant_asked_for_to_the_watermark(start, watermark, window, expected):
    earliest = "09:00" if "/" not in start else "18/00:00"
    world = seen(watermark, f"{earliest}-15:00")
    assert backfill(world, start, window) == Export(plan(expected, BACKFILL, 1), 1)


@pytest.mark.parametrize(
    ("watermark", "start", "told"),
    [
        pytest.param("12:00", "08:59:59", "the earliest possible is 2026-11-21T09:00:00Z", id="before all history"),
        pytest.param(
            "12:00", "11:45:01", "15 minutes or more before the watermark 2026-11-21T12:00:00Z", id="too short"
        ),
        pytest.param("12:00", "12:30", "15 minutes or more before the watermark", id="after the watermark"),
        pytest.param("", "10:00", "there is no table yet to backfill", id="nothing to backfill"),
    ],
)
def test_a_backfill_that_cannot_be_is_refused_with_what_can(watermark, start, told):
    action = backfill(seen(watermark, "09:00-13:00"), start)
    assert isinstance(action, Halt)
    assert action.error == "InputRefused"
    assert told in action.message


@pytest.mark.parametrize(
    ("done", "ask"),
    [
        pytest.param(plan("13:00", FULL), full, id="full"),
        pytest.param(plan("10:00 13:00", BACKFILL), lambda world: backfill(world, "10:00"), id="backfill"),
    ],
)
def test_a_wish_is_fulfilled_once(done, ask):
    world = seen(shows=table("13:00", done=(done,)), restorable="09:00-16:00", claim=claim(done, owner=ME))
    action = ask(world)
    assert isinstance(action, Idle)
    assert action.reason == "WishFulfilled"


def test_a_fulfilled_wish_still_sets_the_parameter_right():
    done = plan("13:00", FULL)
    world = seen(shows=table("13:00", done=(done,)), restorable="09:00-16:00", claim=claim(done, owner=ME), recorded="")
    assert full(world) == Record(at("13:00"), "", fulfils=True)


def test_another_execution_may_wish_the_same_again():
    done = plan("13:00", FULL)
    world = seen(shows=table("13:00", done=(done,)), restorable="09:00-16:00", claim=claim(done, owner=OTHER))
    assert full(world) == Export(plan("16:00", FULL, 8), 8)


def test_finishing_somebody_elses_windows_first_does_not_fulfil_a_wish():
    finished = plan("12:00 13:00")
    world = seen(shows=table("13:00", done=(finished,)), restorable="09:00-16:00", claim=claim(finished, owner=ME))
    assert backfill(world, "10:00") == Export(plan("10:00 13:00", BACKFILL, 8), 8)
    assert full(world) == Export(plan("16:00", FULL, 8), 8)


def test_finishing_somebody_elses_backfill_does_not_fulfil_one_from_another_instant():
    finished = plan("11:00 13:00", BACKFILL)
    world = seen(shows=table("13:00", done=(finished,)), restorable="09:00-16:00", claim=claim(finished, owner=ME))
    assert backfill(world, "10:00") == Export(plan("10:00 13:00", BACKFILL, 8), 8)
    assert backfill(world, "11:00").kind == "Idle"


def test_after_a_full_export_off_the_grid_the_schedule_goes_on_from_exactly_there():
    done = plan("13:17:09", FULL)
    world = seen(shows=table("13:17:09", done=(done,)), restorable="09:00-16:20", claim=claim(done))
    assert update(world) == Export(plan("13:17:09 16:00"), 8)


WISHES = [
    pytest.param(plan("10:00 12:00", BACKFILL), '{"table":"orders","mode":"backfill","from":"2026-11-21T10:00:00Z"}'),
    pytest.param(plan("12:00", FULL), '{"table":"orders","mode":"full"}'),
]


def tried(wished, times):
    """A dead run's claim of a wish whose job has ended so often."""
    return replace(claim(wished), failed_runs=times)


@pytest.mark.parametrize(("wished", "asked"), WISHES)
def test_a_wish_whose_job_has_ended_three_times_is_given_up_and_its_person_told_how_to_ask_again(wished, asked):
    world = seen("12:00", "09:00-13:00", claim=tried(wished, 3))
    action = update(world)
    assert isinstance(action, Halt)
    assert (action.error, action.ends, action.asked) == ("WishGivenUp", wished.job_id, asked)
    assert "has ended 3 times without success" in action.message


@pytest.mark.parametrize(("wished", "_asked"), WISHES)
def test_until_then_it_is_tried_again_and_once_that_is_told_the_schedule_goes_on(wished, _asked):
    assert update(seen("12:00", "09:00-13:00", claim=tried(wished, 2))) == Export(wished, 8, taken_over_from=OTHER)
    told = replace(seen("12:00", "09:00-13:00", claim=tried(wished, 3)), told_end=wished.job_id)
    assert update(told) == Export(plan("12:00 13:00"), 8)


@pytest.mark.parametrize("wished", [plan("10:00 12:00", BACKFILL), plan("11:00", FULL)])
def test_a_wish_that_can_no_longer_be_exported_is_not_dropped_without_a_word(wished):
    world = seen("12:00", f"{wished.start:%H:%M}-13:00", claim=claim(wished))
    assert isinstance(update(world), Export)
    later = replace(world, source=replace(world.source, earliest=wished.start + timedelta(seconds=1)))
    action = update(later)
    assert isinstance(action, Halt)
    assert (action.error, action.ends) == ("WishGivenUp", wished.job_id)
    assert "can be exported any more" in action.message
    earliest = ',"from":"2026-11-21T10:00:01Z"' if wished.mode == BACKFILL else ""
    assert action.asked == f'{{"table":"orders","mode":"{wished.mode}"{earliest}}}'
    assert update(replace(later, told_end=wished.job_id)) == Export(plan("12:00 13:00"), 8)
    told = replace(later, claim=claim(wished, refused_with="OverrideContradicted"), told_end=wished.job_id)
    assert isinstance(update(told), Export), "its mail has said so"


def test_a_backfill_may_not_begin_where_history_ends_within_the_hour():
    world = seen("20/12:00", "01/13:00-21/12:50")
    short = replace(world, source=replace(world.source, recovery_days=20))
    assert isinstance(backfill(world, "01/13:00"), Export), "what has been kept since recovery was turned on stays"
    refused = backfill(short, "01/13:44")
    assert isinstance(refused, Halt)
    assert "the earliest possible is 2026-11-01T14:00:00Z" in refused.message
    assert isinstance(backfill(short, "01/13:45"), Export), "so that what was told is possible for a while"


@pytest.mark.parametrize(
    ("watermark", "told"),
    [("01/14:15", "the earliest possible is 2026-11-01T14:00:00Z"), ("01/14:14", "none is possible")],
)
def test_no_instant_is_told_from_which_a_backfill_would_be_refused_as_well(watermark, told):
    world = seen(watermark, "01/13:00-21/12:50")
    refused = backfill(replace(world, source=replace(world.source, recovery_days=20)), "01/13:10")
    assert isinstance(refused, Halt)
    assert (told in refused.message, "table has caught up" in refused.remedy) == (True, told == "none is possible")


def test_of_a_backfill_that_is_given_up_where_none_is_possible_the_command_is_to_catch_up():
    late = claim(plan("12:00 12:50", BACKFILL))
    action = update(seen("12:50", "12:40-15:00", claim=late))
    assert isinstance(action, Halt)
    assert (action.error, action.asked) == ("WishGivenUp", '{"table":"orders","mode":"update"}')
    assert action.remedy.startswith("No backfill is possible now")


def test_the_telling_of_another_wish_is_not_enough():
    world = seen("12:00", "09:00-13:00", claim=tried(plan("10:00 12:00", BACKFILL), 3))
    assert update(replace(world, told_end=plan("12:00", FULL).job_id)).kind == "Halt"


def test_a_wish_that_its_last_job_run_has_fulfilled_after_all_is_not_given_up():
    wished = plan("10:00 12:00", BACKFILL)
    world = seen("12:00", "09:00-13:00", claim=tried(wished, 3), shows=table("12:00", done=(wished,)))
    assert update(replace(world, told_end=wished.job_id)) == Export(plan("12:00 13:00"), 8)


def test_what_the_schedule_wants_for_itself_is_never_given_up():
    found = plan("12:00 13:00")
    assert update(seen("12:00", "09:00-14:00", claim=tried(found, 30))) == Export(found, 8, taken_over_from=OTHER)


@pytest.mark.parametrize(("wished", "_asked"), WISHES)
def test_who_rolls_back_to_before_a_wish_that_was_carried_out_does_not_want_it_again(wished, _asked):
    rolled_back = replace(claim(wished), committed=True)
    assert update(seen("12:00", "09:00-13:00", claim=rolled_back)) == Export(plan("12:00 13:00"), 8)
    assert update(seen("11:00", "09:00-13:00", claim=rolled_back)) == Export(plan("11:00 13:00"), 8)


def test_a_wish_that_was_rolled_back_and_is_asked_for_again_is_other_work():
    wished = plan("10:00 12:00", BACKFILL)
    world = seen("12:00", "09:00-13:00", claim=replace(claim(wished), committed=True))
    assert backfill(world, "10:00") == Export(replace(wished, attempt=8), 8)
    done = replace(world, table=table("12:00", done=(wished, replace(wished, attempt=8))))
    assert backfill(done, "10:00") == Export(replace(wished, attempt=9), 8)


def test_windows_that_were_rolled_back_come_again():
    merged = plan("12:00 13:00")
    world = seen("12:00", "09:00-13:00", claim=replace(claim(merged), committed=True))
    assert update(world) == Export(merged, 8, taken_over_from=OTHER)


def test_asked_for_again_a_wish_that_was_given_up_is_other_work():
    wished = plan("10:00 12:00", BACKFILL)
    world = seen("12:00", "09:00-13:00", claim=tried(wished, 3))
    assert backfill(world, "10:00") == Export(replace(wished, attempt=8), 8)


@pytest.mark.parametrize("between", [MAINTAIN, VERIFY])
def test_asked_for_again_a_wish_is_other_work_whatever_has_come_in_between(between):
    asked = [backfill(seen("12:00", "09:00-13:00"), "10:00"), full(seen("12:00", "09:00-13:00"))]
    other = claim(plan("12:00", between, 4), 4, reported=True)
    world = replace(seen("12:00", "09:00-13:00", claim=other), told_end=other.plan.job_id)
    again = [backfill(world, "10:00"), full(world)]
    assert [action.number for action in again] == [5, 5]
    assert {action.plan.job_id for action in asked}.isdisjoint(action.plan.job_id for action in again)


def test_asked_for_again_a_wish_that_was_refused_is_other_work_whose_report_is_still_to_come():
    wished = plan("10:00 12:00", BACKFILL)
    refused = claim(wished, refused_with="OverrideContradicted")
    assert backfill(seen("12:00", "09:00-13:00", claim=refused), "10:00") == Export(replace(wished, attempt=8), 8)


def test_no_other_wish_takes_the_place_of_one_that_is_given_up_before_that_is_told():
    wished = plan("10:00 12:00", BACKFILL)
    world = seen("12:00", "09:00-13:00", claim=tried(wished, 3))
    assert backfill(world, "11:00").error == "WishGivenUp"
    assert backfill(replace(world, told_end=wished.job_id), "11:00") == Export(plan("11:00 12:00", BACKFILL, 8), 8)
