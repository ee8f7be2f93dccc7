"""What a scheduled run does: bootstrap, catch up, idle, set the parameter right."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from pipeline.modes import BACKFILL, FULL, MAINTAIN, UPDATE, VERIFY
from pipeline.planning.actions import HANDED_OVER, UP_TO_DATE, Export, Idle, Record
from pipeline.planning.planner import LONGEST_SERIES, next_action
from pipeline.planning.rules import Rules
from tests.pipeline.world import (
    HOUR,
    ME,
    QUARTER_HOUR,
    at,
    backfill,
    claim,
    full,
    plan,
    seen,
    table,
    update,
    verify,
    wish,
)


@pytest.mark.parametrize(
    ("restorable", "window", "expected"),
    [
        pytest.param("01/00:00-13:02", HOUR, "13:00", id="at the last end of a window that can be exported"),
        pytest.param("01/00:00-13:02", QUARTER_HOUR, "13:00", id="on the grid of quarter hours too"),
        pytest.param("01/00:00-13:17:09.250", QUARTER_HOUR, "13:15", id="fractions of the latest time play no part"),
        pytest.param("12:30:10.5-12:41:17.75", HOUR, "12:41:17", id="off the grid while recovery is younger than that"),
        pytest.param("13:00-13:02", HOUR, "13:00", id="recovery began exactly on the grid"),
        pytest.param("13:00:00.001-13:02", HOUR, "13:02", id="recovery began just after the grid"),
        pytest.param("13:02-13:02", HOUR, "13:02", id="recovery was turned on this very second"),
    ],
)
def test_without_a_table_all_items_are_exported_as_of(restorable, window, expected):
    assert update(seen("", restorable), window) == Export(plan(expected), 1)


def test_without_a_table_and_with_recovery_so_young_that_no_whole_second_is_in_it_nothing_is_done():
    action = update(seen("", "13:00:00.2-13:00:00.9"))
    assert isinstance(action, Idle)
    assert action.reason == "NothingRestorable"


@pytest.mark.parametrize(
    ("watermark", "restorable", "window", "expected"),
    [
        pytest.param("12:00", "09:00-13:00", HOUR, "12:00 13:00", id="one window has just closed"),
        pytest.param("12:00", "09:00-13:59", HOUR, "12:00 13:00", id="the open hour is left for later"),
        pytest.param("10:00", "09:00-13:00", HOUR, "10:00 13:00", id="a backlog of hours is one window"),
        pytest.param("12:00", "09:00-12:15", QUARTER_HOUR, "12:00 12:15", id="the shortest window"),
        pytest.param("12:07", "09:00-12:31", QUARTER_HOUR, "12:07 12:30", id="back to the grid, 15 minutes at least"),
        pytest.param("09:00", "09:00-10:00", HOUR, "09:00 10:00", id="history begins exactly at the watermark"),
        pytest.param(
            "19/12:00", "01/00:00-12:40", HOUR, "19/12:00 20/12:00 12:00", id="two days are two windows of a day"
        ),
        pytest.param(
            "19/12:00", "01/00:00-13:40", HOUR, "19/12:00 20/12:00 12:00 13:00", id="and an hour more is one more"
        ),
        pytest.param(
            "19/00:07:30", "01/00:00-00:20", HOUR, "19/00:07:30 20/00:00 00:00", id="the first window reaches the grid"
        ),
        pytest.param(
            "20/00:00", "01/00:00-00:15", QUARTER_HOUR, "20/00:00 21/00:00 00:15", id="a day and a quarter of an hour"
        ),
    ],
)
def test_everything_closed_since_the_watermark_is_exported_at_once(watermark, restorable, window, expected):
    assert update(seen(watermark, restorable), window) == Export(plan(expected), 1)


def test_a_week_behind_at_quarter_hours_is_seven_exports_and_not_672():
    action = update(seen("14/12:00", "01/00:00-12:00"), QUARTER_HOUR)
    assert isinstance(action, Export)
    assert len(action.plan.requests) == 7


def test_a_week_behind_at_any_window_length_is_at_most_eight_exports():
    for minutes in range(15, 1441):
        action = update(seen("14/12:00", "01/00:00-12:00"), timedelta(minutes=minutes))
        assert isinstance(action, Export)
        assert len(action.plan.requests) <= 8


@pytest.mark.parametrize(
    ("watermark", "restorable", "window", "until"),
    [
        pytest.param("12:00", "09:00-12:59:59", HOUR, "13:00", id="the hour is not over"),
        pytest.param("13:00", "09:00-13:00", HOUR, "14:00", id="nothing has passed"),
        pytest.param("12:07", "09:00-12:20", QUARTER_HOUR, "12:30", id="eight minutes to the grid are no legal window"),
        pytest.param("12:00", "09:00-12:00:00.5", QUARTER_HOUR, "12:15", id="half a second has passed"),
        pytest.param("13:04", "09:00-13:00", HOUR, "14:00", id="DynamoDB's clock differs from itself by minutes"),
        pytest.param("13:10", "09:00-13:00", HOUR, "14:00", id="the most that is forgiven"),
    ],
)
def test_it_idles_until_another_window_has_closed(watermark, restorable, window, until):
    action = update(seen(watermark, restorable), window)
    assert isinstance(action, Idle)
    assert (action.reason, action.until) == ("UpToDate", at(until))


@pytest.mark.parametrize(
    "recorded",
    [
        pytest.param("", id="missing"),
        pytest.param("2026-11-21T11:00:00Z", id="behind, because a run died between commit and record"),
        pytest.param("2026-11-21T14:00:00Z", id="ahead, because somebody edited it or rolled the table back"),
        pytest.param("yesterday", id="no instant at all"),
    ],
)
def test_with_nothing_to_export_a_parameter_that_differs_from_the_table_is_written_again(recorded):
    assert update(seen("12:00", "09:00-12:30", recorded=recorded)) == Record(at("12:00"), recorded)


def test_a_wrong_parameter_is_corrected_before_anything_new_is_begun():
    wrong = "2026-11-21T14:00:00Z"
    behind = seen("12:00", "09:00-13:00", recorded=wrong)
    assert [ask(behind) for ask in (update, full, verify)] == [Record(at("12:00"), wrong)] * 3
    assert backfill(behind, "10:00") == Record(at("12:00"), wrong)


def test_a_parameter_that_cannot_be_corrected_holds_nothing_up_once_that_has_been_told():
    behind = replace(seen("12:00", "09:00-13:00", recorded=""), cannot_record=True)
    assert update(behind) == Export(plan("12:00 13:00"), 1)
    assert isinstance(full(behind), Export)
    assert update(replace(seen("12:00", "09:00-12:30", recorded=""), cannot_record=True)) == Record(at("12:00"), "")


def test_what_a_run_has_committed_and_not_recorded_any_more_is_recorded_before_the_next_window():
    lost = plan("10:00 10:15")
    shows = table("10:15", job_id=lost.job_id)
    before = "2026-11-21T10:00:00Z"
    for latest in ("10:29", "10:31"):
        world = seen(shows=shows, restorable=f"09:00-{latest}", claim=claim(lost), recorded=before)
        assert update(world, QUARTER_HOUR) == Record(at("10:15"), before, unrecorded="update")
    edited = seen(shows=shows, restorable="09:00-10:31", claim=claim(lost), recorded="2026-11-21T14:00:00Z")
    assert update(edited, QUARTER_HOUR) == Record(at("10:15"), "2026-11-21T14:00:00Z"), "somebody has changed it"


def test_a_full_export_that_was_committed_and_not_recorded_is_told_as_what_it_is():
    lost = plan("12:00", FULL, 7)
    world = seen(shows=table("12:00", job_id=lost.job_id), claim=claim(lost), recorded="2026-11-21T09:00:00Z")
    assert update(world) == Record(at("12:00"), "2026-11-21T09:00:00Z", unrecorded="full", untold=lost.job_id)
    world = replace(world, told_end=lost.job_id)
    assert update(world) == Record(at("12:00"), "2026-11-21T09:00:00Z", unrecorded="full")
    first = plan("12:00")
    world = seen(shows=table("12:00", job_id=first.job_id), claim=claim(first), recorded="")
    assert update(world) == Record(at("12:00"), "", unrecorded="update")


def test_a_run_that_has_just_written_the_parameter_corrects_no_answer_of_before():
    before, own = "2026-11-21T10:00:00Z", plan("10:00 10:15")
    world = seen(shows=table("10:15", job_id=own.job_id), restorable="09:00-10:29", claim=claim(own, owner=ME))
    again = replace(world, recorded=before, is_first_round=False)
    assert isinstance(up_to_date := update(again, QUARTER_HOUR), Idle)
    assert up_to_date.reason == UP_TO_DATE
    corrected = Record(at("10:15"), before, unrecorded="update")
    assert update(replace(again, claim=claim(own), is_first_round=True), QUARTER_HOUR) == corrected, "the next run"
    after_the_correction = update(replace(again, claim=claim(own)), QUARTER_HOUR)
    assert isinstance(after_the_correction, Idle), "it has corrected it, and is answered as before"
    edited = "2026-11-21T14:00:00Z"
    assert update(replace(again, recorded=edited), QUARTER_HOUR) == Record(at("10:15"), edited, fulfils=True)


@pytest.mark.parametrize("mode", [UPDATE, FULL])
def test_after_a_full_export_nobody_knows_what_the_parameter_has_said_before(mode):
    own = plan("12:00", mode, 7 if mode == FULL else 0)
    shows, before = table("12:00", job_id=own.job_id), "2026-11-21T09:00:00Z"
    world = seen(shows=shows, restorable="09:00-12:30", claim=claim(own, owner=ME), recorded=before)
    again = replace(world, is_first_round=False, told_end=own.job_id)
    assert isinstance(update(again), Idle)


@pytest.mark.parametrize(
    "own", [plan("12:00", VERIFY, 7), plan("12:00", MAINTAIN, 7), plan("10:00 12:00", BACKFILL, 7)]
)
def test_a_run_whose_work_moves_no_watermark_has_written_nothing_that_could_be_read_too_early(own):
    shows, edited = table("12:00", job_id=own.job_id), "2026-11-21T10:00:00Z"
    done = claim(own, owner=ME, reported=True)
    world = seen(shows=shows, restorable="09:00-12:30", claim=done, recorded=edited)
    action = update(replace(world, is_first_round=False, told_end=own.job_id))
    assert isinstance(action, Record)
    assert (action.watermark, action.recorded) == (at("12:00"), edited)


def test_a_dry_run_passes_over_a_wrong_parameter_where_there_is_work_to_tell_the_price_of():
    asked = replace(wish(), dry_run=True)
    assert next_action(seen("12:00", "09:00-13:00", recorded=""), asked, Rules(HOUR)) == Export(plan("12:00 13:00"), 1)
    assert next_action(seen("12:00", "09:00-12:30", recorded=""), asked, Rules(HOUR)) == Record(at("12:00"), "")


def test_the_claim_of_new_work_follows_the_one_in_force():
    done = claim(plan("11:00 12:00"), number=41)
    assert update(seen("12:00", "09:00-13:00", claim=done)) == Export(plan("12:00 13:00"), 42)


def test_several_rounds_of_one_execution_each_make_their_own_claim():
    mine = claim(plan("11:00 12:00"), number=41, owner="arn:aws:states:us-east-1:000000000000:execution:Tidemark:me")
    assert update(seen("12:00", "09:00-13:00", claim=mine)) == Export(plan("12:00 13:00"), 42)


def test_a_run_that_has_been_at_work_for_a_day_leaves_what_has_closed_to_the_next_tick():
    world = seen("12:00", "09:00-13:00")
    assert update(replace(world, at_work=LONGEST_SERIES - timedelta(seconds=1))) == Export(plan("12:00 13:00"), 1)
    late = update(replace(world, at_work=LONGEST_SERIES))
    assert (late.kind, late.reason, late.until) == ("Idle", HANDED_OVER, None)
    up_to_date = update(replace(seen("12:00", "09:00-12:30"), at_work=LONGEST_SERIES))
    assert (up_to_date.kind, up_to_date.reason) == ("Idle", UP_TO_DATE)


def test_a_run_that_has_been_at_work_for_long_finishes_what_is_half_done_and_what_a_person_has_asked_for():
    begun = claim(plan("12:00 13:00"), number=3, owner=ME)
    late = replace(seen("12:00", "09:00-14:00", claim=begun), at_work=LONGEST_SERIES)
    assert update(late) == Export(plan("12:00 13:00"), 3, adopted=True)
    assert isinstance(full(replace(seen("12:00", "09:00-14:00"), at_work=LONGEST_SERIES)), Export)
    assert isinstance(update(replace(seen("12:00", "09:00-14:00", recorded=""), at_work=LONGEST_SERIES)), Record)
