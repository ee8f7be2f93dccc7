"""Half-done work: a run that died is finished by the next, as it was planned, and never twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.errors import DamagedExport, error_names
from pipeline.modes import BACKFILL, FULL
from pipeline.planning.actions import Export
from pipeline.planning.plans import begun_anew
from pipeline.table.marker import TableState
from tests.pipeline.world import (
    ME,
    OTHER,
    QUARTER_HOUR,
    RECREATED,
    backfill,
    claim,
    full,
    plan,
    seen,
    table,
    takes_over,
    update,
)

DAMAGED = sorted(name for name, kind in error_names().items() if issubclass(kind, DamagedExport))
REFUSED_FOR_GOOD = ["KeyDoesNotFit", "KeyMismatch", "FilteredExport", "OtherTableId"]


@pytest.mark.parametrize(
    ("watermark", "found"),
    [
        pytest.param("12:00", plan("12:00 13:00"), id="a window"),
        pytest.param("12:00", plan("12:00 12:30"), id="a window of another length, planned before the setting changed"),
        pytest.param("19/12:00", plan("19/12:00 20/12:00 12:00"), id="several windows"),
        pytest.param("12:00", plan("12:00 13:00", attempt=3), id="a later attempt keeps its number"),
        pytest.param("", plan("12:00"), id="a bootstrap"),
        pytest.param("", plan("12:00", FULL), id="a full export before there was a table"),
        pytest.param("12:00", plan("12:30", FULL), id="a rebuild"),
        pytest.param("12:00", plan("11:30", FULL), id="a rebuild from before the watermark"),
        pytest.param("12:00", plan("10:00 12:00", BACKFILL), id="a backfill"),
    ],
)
def test_what_a_dead_run_had_planned_is_finished_as_it_was_planned(watermark, found):
    world = seen(watermark, "18/09:00-15:00", claim=claim(found))
    assert update(world) == Export(found, 8, taken_over_from=OTHER)


def test_the_plan_is_kept_although_more_has_closed_since():
    dead = claim(plan("12:00 13:00"))
    assert update(seen("12:00", "09:00-16:00", claim=dead), QUARTER_HOUR) == Export(dead.plan, 8, taken_over_from=OTHER)


def test_an_execution_that_meets_its_own_claim_goes_on_with_it():
    mine = claim(plan("12:00 13:00"), owner=ME)
    assert update(seen("12:00", "09:00-16:00", claim=mine)) == Export(mine.plan, 7, adopted=True)


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        pytest.param(
            seen(
                shows=table("13:00", done=(plan("12:00 13:00"),)),
                restorable="09:00-14:00",
                claim=claim(plan("12:00 13:00")),
            ),
            Export(plan("13:00 14:00"), 8),
            id="the job had committed before its run died",
        ),
        pytest.param(
            seen("13:00", "09:00-14:00", claim=claim(plan("12:00 13:00"))),
            Export(plan("13:00 14:00"), 8),
            id="the history is in the table, whoever brought it",
        ),
        pytest.param(
            seen(
                shows=table("12:00", done=(plan("10:00 12:00", BACKFILL),)), claim=claim(plan("10:00 12:00", BACKFILL))
            ),
            Export(plan("12:00 13:00"), 8),
            id="a backfill had committed",
        ),
        pytest.param(
            seen("10:00", "09:00-13:00", claim=claim(plan("12:00 13:00"))),
            Export(plan("10:00 13:00"), 8),
            id="a rollback further back makes the claim stale",
        ),
        pytest.param(
            replace(
                seen("13:00", "09:00-14:00", claim=claim(plan("10:00 12:00", BACKFILL))),
                told_end=plan("10:00 12:00", BACKFILL).job_id,
            ),
            Export(plan("13:00 14:00"), 8),
            id="a backfill up to another watermark would undo newer writes, which its person has been told",
        ),
        pytest.param(
            seen("12:00", "09:00-13:00", claim=claim(plan("12:30"))),
            Export(plan("12:00 13:00"), 8),
            id="a bootstrap of a table that came to be otherwise",
        ),
        pytest.param(
            seen("", "12:00-13:30", claim=claim(plan("11:00"))),
            Export(plan("13:00"), 8),
            id="a bootstrap whose instant can no longer be exported",
        ),
        pytest.param(
            seen("", "09:00-13:30", source=RECREATED, claim=claim(plan("11:00"))),
            Export(plan("13:00", source=RECREATED), 8),
            id="a bootstrap of the source table's predecessor",
        ),
        pytest.param(
            seen("", "09:00-13:30", claim=claim(plan("12:00 13:00"))),
            Export(plan("13:00"), 8),
            id="the table was dropped to start over",
        ),
    ],
)
def test_work_that_is_done_or_no_longer_fits_is_let_go(world, expected):
    assert update(world) == expected


def test_after_a_rollback_by_one_commit_the_same_work_is_done_again():
    rolled_back = claim(plan("12:00 13:00"))
    world = seen("12:00", "09:00-15:00", claim=rolled_back)
    assert update(world) == takes_over(world)


def test_a_table_that_is_back_at_its_old_source_is_not_continued_from_the_new_one():
    world = seen("12:00", source=RECREATED, claim=claim(plan("12:00 13:00", source=RECREATED)))
    assert update(world).kind == "Halt"


@pytest.mark.parametrize("error", DAMAGED)
@pytest.mark.parametrize(
    ("watermark", "found"),
    [
        pytest.param("12:00", plan("12:00 13:00", attempt=2), id="windows"),
        pytest.param("", plan("12:00", attempt=2), id="a bootstrap"),
        pytest.param("12:00", plan("12:30", FULL, attempt=2), id="a rebuild"),
        pytest.param("12:00", plan("10:00 12:00", BACKFILL, attempt=2), id="a backfill"),
    ],
)
def test_a_damaged_export_is_made_anew_for_the_same_stretch(watermark, found, error):
    world = seen(watermark, claim=claim(found, refused_with=error))
    assert update(world) == Export(replace(found, attempt=3), 8, taken_over_from=OTHER, tries=2)


@pytest.mark.parametrize("error", [*REFUSED_FOR_GOOD, "Gap", "TableContended", "JobFailed", "SomethingNobodyKnows"])
def test_windows_refused_for_another_reason_are_tried_again_as_they_are(error):
    world = seen("12:00", claim=claim(plan("12:00 13:00"), refused_with=error))
    assert update(world) == replace(takes_over(world), tries=2 if error in REFUSED_FOR_GOOD else 1)


@pytest.mark.parametrize("error", REFUSED_FOR_GOOD)
@pytest.mark.parametrize("found", [plan("12:30", FULL), plan("10:00 12:00", BACKFILL)], ids=["rebuild", "backfill"])
def test_a_wish_that_the_job_refused_for_good_does_not_keep_the_schedule_from_its_work(found, error):
    world = replace(seen("12:00", "09:00-13:00", claim=claim(found, refused_with=error)), told_end=found.job_id)
    assert update(world) == Export(plan("12:00 13:00"), 8)


@pytest.mark.parametrize(
    ("watermark", "found"),
    [
        pytest.param("12:00", plan("12:00 13:00"), id="windows, as when a key does not fit its column"),
        pytest.param("12:00", plan("10:00 12:00", BACKFILL), id="a backfill"),
        pytest.param("", plan("12:00"), id="a bootstrap"),
    ],
)
@pytest.mark.parametrize("error", ["", "KeyDoesNotFit", "ChecksumMismatch"])
def test_a_full_export_asked_for_does_not_wait_for_other_half_done_work(watermark, found, error):
    world = seen(watermark, "09:00-15:00", claim=claim(found, refused_with=error))
    assert full(world) == Export(plan("15:00", FULL, 8), 8)


def test_a_full_export_asked_for_finishes_one_that_had_begun():
    world = seen("12:00", "09:00-15:00", claim=claim(plan("13:30", FULL)))
    assert full(world) == takes_over(world)


@pytest.mark.parametrize("error", ["KeyMismatch", "UnreadableLine"])
def test_a_full_export_asked_for_starts_over_when_the_one_that_had_begun_was_refused(error):
    world = seen("12:00", "09:00-15:00", claim=claim(plan("13:30", FULL), refused_with=error))
    assert full(world) == Export(plan("15:00", FULL, 8), 8)


def test_a_backfill_asked_for_waits_for_half_done_windows():
    world = seen("12:00", "09:00-15:00", claim=claim(plan("12:00 13:00")))
    assert backfill(world, "10:00") == takes_over(world)


def test_a_claim_counts_as_done_by_its_own_job_or_by_its_history():
    found, nothing = claim(plan("12:00 13:00")), TableState(exists=True)
    assert not found.is_done(nothing)
    assert not found.is_done(table("12:59"))
    assert found.is_done(table("13:00"))
    assert found.is_done(table("12:00", done=(found.plan,)))


@pytest.mark.parametrize("found", [plan("12:30", FULL), plan("10:00 12:00", BACKFILL)], ids=["rebuild", "backfill"])
def test_a_wish_counts_as_done_only_by_its_own_job_because_others_move_the_watermark_too(found):
    assert not claim(found).is_done(table("13:00"))
    assert claim(found).is_done(table("12:00", done=(found,)))


def test_only_the_order_of_the_claim_numbers_matters_to_a_takeover():
    world = seen("12:00", claim=claim(plan("12:00 13:00"), number=120))
    assert update(world) == Export(plan("12:00 13:00"), 121, taken_over_from=OTHER)


def test_files_that_were_damaged_are_not_read_again_where_a_stretch_is_begun_anew_after_a_rollback():
    """DynamoDB answers for hours with the export that it has made for an attempt's token."""
    attempts = [plan("12:00 13:00", attempt=number) for number in range(5)]
    damaged = {attempt.job_id: {"error": error} for attempt, error in zip(attempts, DAMAGED[:2], strict=False)}
    world = seen("12:00", shows=table("12:00", done=(attempts[2], attempts[3])))
    assert update(world) == Export(attempts[0], 1)
    assert begun_anew(update(world), world, lambda job_id: damaged.get(job_id, {})) == Export(attempts[4], 1)
    assert begun_anew(update(world), world, lambda _job_id: {}) == Export(attempts[0], 1)


@pytest.mark.parametrize("error", REFUSED_FOR_GOOD)
def test_what_was_refused_before_a_stretch_is_begun_anew_is_not_what_its_own_job_has_refused(error):
    before = {"error": error, "client_token": "1"}
    begun = begun_anew(update(seen("12:00")), seen("12:00"), lambda _job_id: before)
    assert begun == Export(plan("12:00 13:00"), 1, counted="1")
    claimed = begun.claim(OTHER, "")
    assert claimed.with_refusal(before).refused_as is None
    assert claimed.with_refusal({**before, "client_token": "2"}).refused_with == error
