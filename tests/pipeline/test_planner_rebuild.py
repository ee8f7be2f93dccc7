"""A table that may rebuild itself: lost history becomes a full export by the schedule, once, and only where that helps."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from pipeline.modes import BACKFILL, FULL, MAINTAIN, UPDATE, VERIFY
from pipeline.planning.actions import Export, Halt, Idle
from pipeline.planning.planner import next_action
from pipeline.planning.rules import Rules
from pipeline.table.marker import Marker, TableState
from tests.pipeline.world import ARN, HOUR, RECREATED, SOURCE, at, claim, plan, seen, table, update, wish

SCHEDULE = wish()
LOST = seen("14/12:00", "20/00:00-13:00")


def follow(world, wished=SCHEDULE, needed=timedelta()):
    return next_action(world, wished, Rules(HOUR, needed, rebuilds=True))


def test_lost_history_is_made_good_by_a_full_export_that_says_why():
    action = follow(LOST)
    assert isinstance(action, Export)
    assert (action.plan, action.number) == (plan("13:00", FULL, 1), 1)
    assert action.because == (
        "the watermark is 2026-11-14T12:00:00Z; the source's history begins at 2026-11-20T00:00:00Z"
    )


def test_without_the_setting_it_stays_a_halt():
    assert isinstance(update(LOST), Halt)


@pytest.mark.parametrize("other", ["PitrOff", "TableRecreated", "WatermarkAhead", "WatermarkMissing"])
def test_no_other_halt_is_made_good(other):
    worlds = {
        "PitrOff": seen("12:00", ""),
        "TableRecreated": seen("12:00", source=RECREATED),
        "WatermarkAhead": seen("14:00"),
        "WatermarkMissing": seen(shows=replace(table("12:00"), marker=None)),
    }
    action = follow(worlds[other])
    assert isinstance(action, Halt)
    assert action.error == other


@pytest.mark.parametrize("wished", [wish(VERIFY), wish(BACKFILL, "14/13:00")])
def test_who_wishes_something_else_is_told(wished):
    assert isinstance(follow(LOST, wished), Halt)


def test_nothing_restorable_is_waited_for():
    action = follow(seen("12:00", "13:05-13:00"))
    assert isinstance(action, Idle)
    assert action.reason == "NothingRestorable"


def test_a_backfill_that_is_lost_with_its_history_is_told_of_before_the_table_is_made_anew():
    undone = claim(plan("14/10:00 14/11:00 14/12:00", BACKFILL))
    action = follow(replace(LOST, claim=undone))
    assert isinstance(action, Halt)
    assert (action.error, action.ends) == ("WishGivenUp", undone.plan.job_id)
    # Asking again would pay for what the table shows by then.
    assert (action.asked, action.remedy[:37]) == ("", "Nothing: the next run makes the table")
    told = follow(replace(LOST, claim=undone, told_end=undone.plan.job_id))
    assert isinstance(told, Export)
    assert told.plan == plan("13:00", FULL, 8)


def test_a_rebuild_that_died_is_finished_as_it_was_planned():
    begun = plan("12:00", FULL)
    action = follow(replace(LOST, claim=claim(begun)))
    assert isinstance(action, Export)
    assert (action.plan, action.because) == (begun, "")


def test_a_rebuild_whose_job_fails_again_and_again_is_tried_for_ever_with_the_same_export():
    begun = plan("12:00", FULL)
    action = follow(replace(LOST, claim=replace(claim(begun), failed_runs=30)))
    assert isinstance(action, Export)
    assert (action.plan, action.number) == (begun, 8)


def test_a_rebuild_whose_files_are_damaged_is_exported_anew():
    begun = plan("12:00", FULL)
    action = follow(replace(LOST, claim=replace(claim(begun, refused_with="ChecksumMismatch"), failed_runs=3)))
    assert isinstance(action, Export)
    assert action.plan == begun.next_attempt()


def test_a_rebuild_that_its_job_refuses_for_good_is_not_paid_for_again():
    begun = plan("12:00", FULL)
    world = replace(LOST, claim=claim(begun, refused_with="OverrideContradicted"), told_end=begun.job_id)
    action = follow(world)
    assert isinstance(action, Halt)
    assert action.error == "HistoryLost"
    assert isinstance(follow(world, wish(FULL)), Export), "a person may ask for another"


@pytest.mark.parametrize(("refused", "tries"), [("OverrideContradicted", 1), ("ChecksumMismatch", 3)])
def test_a_refused_rebuild_is_not_paid_for_again_once_its_export_is_out_of_reach(refused, tries):
    begun = plan("14/13:00", FULL)
    world = replace(LOST, claim=replace(claim(begun, refused_with=refused), tries=tries))
    assert isinstance(follow(world), Halt)
    told = follow(replace(world, told_end=begun.job_id))
    assert isinstance(told, Halt)
    assert told.error == "HistoryLost"


def test_a_rebuild_whose_export_is_out_of_reach_is_begun_anew():
    action = follow(replace(LOST, claim=claim(plan("14/13:00", FULL))))
    assert isinstance(action, Export)
    assert action.plan == plan("13:00", FULL, 8)


def test_a_loss_after_a_rebuild_is_made_good_again():
    done = plan("14/12:00", FULL)
    world = replace(LOST, claim=claim(done), table=table("14/12:00", done=(done,)))
    action = follow(world)
    assert isinstance(action, Export)
    assert action.plan == plan("13:00", FULL, 8)


def test_history_that_is_lost_again_and_again_is_no_reason_to_rebuild():
    short = replace(LOST, source=replace(LOST.source, recovery_days=1))
    action = follow(short, needed=timedelta(days=1, minutes=75))
    assert isinstance(action, Halt)
    assert action.error == "RecoveryTooShort"
    assert isinstance(follow(short, needed=timedelta(days=1)), Export), "just enough is enough"


DAY_OF_HISTORY = replace(seen("19/12:00", "19/13:00-20/13:00").source, recovery_days=1)
LOADED = plan("19/12:00", FULL, 7)
LOAD = Marker(at("19/12:00"), at("19/12:00"), "load", LOADED.job_id, ARN, SOURCE.id, {})


@pytest.mark.parametrize(
    ("committed", "marker", "days", "is_halt"),
    [
        pytest.param("20/12:30", LOAD, 1, True, id="the load took more than a day"),
        pytest.param("20/11:30", LOAD, 1, True, id="it left no time to ask for the windows"),
        pytest.param("20/11:00", LOAD, 1, False, id="it left an hour, and something else came in between"),
        pytest.param("20/12:30", LOAD, 2, False, id="the source keeps more by now"),
        pytest.param("20/12:30", replace(LOAD, job="merge"), 1, False, id="a merge may come as late"),
        pytest.param("", LOAD, 1, False, id="nobody knows when it was"),
    ],
)
def test_a_load_that_outlasts_the_recovery_period_is_not_paid_for_again_and_again(committed, marker, days, is_halt):
    shows = TableState(True, marker, committed_at=at(committed) if committed else None)
    world = replace(seen(shows=shows), source=replace(DAY_OF_HISTORY, recovery_days=days), claim=claim(LOADED))
    action = follow(world)
    if not is_halt:
        assert isinstance(action, Export)
        return
    assert isinstance(action, Halt)
    assert action.error == "RecoveryTooShort"
    assert "took 2" in action.message
    assert "keeps 24 hours of history" in action.message
    assert isinstance(follow(world, wish(FULL)), Export), "a person may ask for another"


def test_a_load_that_several_runs_have_tried_may_have_waited_and_is_made_again():
    shows = TableState(True, LOAD, committed_at=at("20/12:30"))
    world = replace(seen(shows=shows), source=DAY_OF_HISTORY)
    maintained = claim(plan("19/12:00", MAINTAIN, 8), 8, reported=True)
    for others in (claim(LOADED, 8), claim(plan("19/12:00 19/13:00"), 8), maintained, None):
        assert isinstance(follow(replace(world, claim=others)), Export)


def test_a_table_that_follows_its_source_does_not_notice():
    world = seen("12:00", "09:00-13:00")
    assert follow(world) == update(world)
    assert follow(world).plan.mode == UPDATE
    assert follow(world).plan.end == at("13:00")
