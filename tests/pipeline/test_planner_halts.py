"""When nothing may be planned, and when only a person can help."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from pipeline.errors import error_names
from pipeline.identity import SourceTable
from pipeline.modes import FULL
from pipeline.planning.actions import Export, Halt, Idle, Record
from pipeline.planning.observation import Observation
from pipeline.planning.planner import next_action
from pipeline.planning.rules import Rules
from pipeline.table.marker import TableState
from tests.pipeline.world import (
    ARN,
    ME,
    OTHER,
    RECREATED,
    SOURCE,
    at,
    backfill,
    claim,
    full,
    plan,
    seen,
    table,
    update,
    wish,
)

UNMARKED = TableState(exists=True)


@pytest.mark.parametrize(
    "world",
    [
        pytest.param({}, id="with windows to export"),
        pytest.param({"watermark": ""}, id="with no table yet"),
        pytest.param({"claim": claim(plan("12:00 13:00"))}, id="with half-done work"),
        pytest.param({"claim": claim(plan("12:00 13:00"), owner=ME)}, id="with work of its own"),
        pytest.param({"restorable": ""}, id="with recovery off"),
        pytest.param({"recorded": ""}, id="with the parameter missing"),
    ],
)
def test_pause_holds_everything_back(world):
    action = update(seen(**world, control="PAUSE"))
    assert isinstance(action, Idle)
    assert action.reason == "Paused"


def test_a_wish_that_was_begun_before_the_pause_ends_well_or_is_left_for_later():
    wished = plan("12:00", FULL)
    for world in ({}, {"shows": table("12:00", done=(wished,))}):
        action = full(seen(**world, control="PAUSE", claim=claim(wished, owner=ME)))
        assert (action.kind, action.reason) == ("Idle", "Paused")


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(None, id="with nothing begun"),
        pytest.param(claim(plan("12:00 13:00"), owner=ME), id="which has finished what another one had begun"),
        pytest.param(claim(plan("11:00", FULL)), id="with a full export of another run's"),
    ],
)
def test_who_asks_for_more_than_an_update_of_a_paused_table_is_told(found):
    action = full(seen(control="PAUSE", claim=found))
    assert isinstance(action, Halt)
    assert (action.error, action.message) == (
        "TablePaused",
        "the full export was not begun: the control parameter says PAUSE",
    )


@pytest.mark.parametrize("control", ["", "run", "PAUSED", "STOP", "RUN "])
def test_a_control_that_is_neither_run_nor_pause_never_means_run(control):
    action = update(seen(control=control))
    assert isinstance(action, Halt)
    assert action.error == "ControlUnknown"
    assert repr(control) in action.message


@pytest.mark.parametrize(
    ("watermark", "found"),
    [
        pytest.param("12:00", plan("12:00 13:00"), id="whose job has not committed"),
        pytest.param("13:00", plan("12:00 13:00"), id="whose job has committed, but which still records and tells"),
        pytest.param("", plan("12:00"), id="which makes the table"),
        pytest.param("12:00", plan("12:30", FULL), id="which replaces the content"),
    ],
)
def test_a_run_at_work_is_left_alone(watermark, found):
    world = seen(watermark, "09:00-15:00", claim=claim(found, owner_runs=True))
    action = update(world)
    assert isinstance(action, Idle)
    assert action.reason == "AnotherRun"
    assert OTHER in action.message


def test_who_wishes_something_while_another_run_is_at_work_is_told():
    world = seen("12:00", "09:00-15:00", claim=claim(plan("12:00 13:00"), owner_runs=True))
    for action in (full(world), backfill(world, "10:00")):
        assert isinstance(action, Halt)
        assert action.error == "AnotherRunAtWork"
        assert OTHER in action.message


def test_a_run_at_work_goes_on_alone_also_while_recovery_is_off():
    assert update(seen("", "", claim=claim(plan("12:00"), owner_runs=True))).kind == "Idle"


@pytest.mark.parametrize("watermark", ["", "12:00"])
def test_recovery_off_stops_everything(watermark):
    for action in (update(seen(watermark, "")), full(seen(watermark, ""))):
        assert isinstance(action, Halt)
        assert action.error == "PitrOff"


@pytest.mark.parametrize(
    ("world", "error"),
    [
        pytest.param(seen(shows=UNMARKED), "WatermarkMissing", id="a table without a watermark"),
        pytest.param(seen("13:11", "09:00-13:00"), "WatermarkAhead", id="eleven minutes ahead of the source"),
        pytest.param(seen("14/12:00", "20/00:00-13:00"), "HistoryLost", id="recovery was off for a while"),
        pytest.param(seen("12:00", "12:00:00.001-13:00"), "HistoryLost", id="a thousandth of a second is lost"),
        pytest.param(seen("12:00", source=RECREATED), "TableRecreated", id="another source table of that name"),
        pytest.param(
            seen("12:00", "12:30-13:00", source=RECREATED), "TableRecreated", id="the new one's history is no loss"
        ),
        pytest.param(
            seen("12:00", source=RECREATED, claim=claim(plan("12:00 13:00"))),
            "TableRecreated",
            id="half-done work of the old source",
        ),
        pytest.param(
            seen("12:00", source=RECREATED, claim=claim(plan("11:00", FULL))),
            "TableRecreated",
            id="a half-done full export of the old source",
        ),
        pytest.param(
            seen("09:00", "12:00-13:00", claim=claim(plan("09:00 10:00"))),
            "HistoryLost",
            id="half-done work whose history is lost",
        ),
        pytest.param(
            seen(shows=UNMARKED, claim=claim(plan("12:00 13:00"))),
            "WatermarkMissing",
            id="half-done work on a table that lost its watermark",
        ),
    ],
)
def test_only_a_person_can_help(world, error):
    action = update(world)
    assert isinstance(action, Halt)
    assert action.error == error
    assert action.remedy == error_names()[error].default_remedy


def test_a_table_that_follows_another_source_is_told_from_a_source_created_anew():
    carts = SourceTable(ARN.replace("orders", "carts"), "id-of-carts", SOURCE.key)
    action = update(seen(shows=table("12:00", source=carts)))
    assert isinstance(action, Halt)
    assert (action.error, action.message) == (
        "TableRecreated",
        f"the table holds the rows of another source table, {carts.arn}, and none of {ARN}",
    )
    assert action.remedy.startswith("Give orders an iceberg_table of its own in the settings, and deploy.")


@pytest.mark.parametrize(
    "world",
    [
        pytest.param(seen(shows=UNMARKED), id="a table without a watermark"),
        pytest.param(seen("14:00"), id="a watermark ahead"),
        pytest.param(seen("14/12:00", "20/00:00-13:00"), id="history lost"),
        pytest.param(seen("12:00", source=RECREATED), id="a source table created anew"),
    ],
)
def test_a_full_export_is_the_way_out(world):
    action = full(world)
    assert isinstance(action, Export)
    assert action.plan.bounds == (at("13:00"),)
    assert action.plan.source_id == world.source.table.id


def test_once_the_new_source_is_loaded_the_schedule_goes_on():
    rebuilt = plan("12:00", FULL, source=RECREATED)
    world = seen(shows=table("12:00", source=RECREATED, done=(rebuilt,)), source=RECREATED, claim=claim(rebuilt))
    assert update(world) == Export(plan("12:00 13:00", source=RECREATED), 8)


def test_the_table_wins_over_a_parameter_that_is_ahead_of_the_source():
    assert update(seen("13:00", recorded="2030-01-01T00:00:00Z")) == Record(at("13:00"), "2030-01-01T00:00:00Z")


def keeping(days: int, world: Observation) -> Observation:
    """The world with a recovery period of so many days."""
    return replace(world, source=replace(world.source, recovery_days=days))


UNRECORDED = replace(seen("12:00", "09:00-12:30", recorded=""), cannot_record=True)


@pytest.mark.parametrize(
    ("world", "error"),
    [
        pytest.param(keeping(1, seen("")), "RecoveryTooShort", id="no full export is paid for in vain"),
        pytest.param(keeping(1, seen("12:00", "09:00-12:30")), "RecoveryTooShort", id="nothing has closed yet"),
        pytest.param(keeping(1, UNRECORDED), "", id="what could not be recorded is tried first"),
        pytest.param(keeping(1, seen("08:00", "09:00-12:30")), "HistoryLost", id="history that is lost is said first"),
        pytest.param(keeping(1, seen("12:00", "09:00-12:30", control="PAUSE")), "", id="a paused table is left alone"),
        pytest.param(keeping(2, seen("12:00", "09:00-12:30")), "", id="two days are enough"),
    ],
)
def test_a_source_that_keeps_less_history_than_a_window_takes_is_refused(world, error):
    action = next_action(world, wish(), Rules(timedelta(days=1), timedelta(days=1, minutes=75)))
    assert getattr(action, "error", "") == error


def test_what_can_still_be_exported_is_exported_however_short_the_history():
    world = keeping(1, seen("20/13:00", "20/12:00-13:00"))
    action = next_action(world, wish(), Rules(timedelta(hours=12), timedelta(days=1, minutes=75)))
    assert action == Export(plan("20/13:00 12:00"), 1)


def test_the_refusal_says_how_many_hours_are_kept_and_how_many_are_needed():
    action = next_action(keeping(1, seen("")), wish(), Rules(timedelta(days=1), timedelta(days=1, minutes=75)))
    assert isinstance(action, Halt)
    told = "the source keeps 24 hours of history; a window, a tick and the time to ask take 25.25 hours"
    assert action.message == told
