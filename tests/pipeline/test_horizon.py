"""How long history still reaches back to the watermark."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.instants import format_instant
from pipeline.planning.horizon import LEVELS, Horizon, horizon_of_record
from tests.pipeline.world import at


def horizon(watermark: str, restorable: str, days: int = 10) -> Horizon:
    earliest, _, latest = restorable.partition("-")
    return Horizon(at(watermark), at(earliest), at(latest), days)


@pytest.mark.parametrize(
    ("found", "hours", "level"),
    [
        pytest.param(horizon("20/12:00", "10/12:00-20/13:00"), 239, 0, id="an hour behind"),
        pytest.param(horizon("20/12:00", "20/11:00-20/13:00"), 239, 0, id="recovery was turned on two hours ago"),
        pytest.param(horizon("15/12:01", "10/12:00-20/12:00"), 120 + 1 / 60, 0, id="not quite half"),
        pytest.param(horizon("15/12:00", "10/12:00-20/12:00"), 120, 50, id="half"),
        pytest.param(horizon("13/00:00", "10/12:00-20/12:00"), 60, 75, id="three quarters"),
        pytest.param(horizon("11/12:00", "10/12:00-20/12:00"), 24, 90, id="nine tenths"),
        pytest.param(horizon("10/12:00", "10/12:00-20/12:00"), 0, 100, id="the last instant"),
        pytest.param(horizon("10/11:00", "10/12:00-20/12:00"), 0, 100, id="lost"),
        pytest.param(horizon("20/11:00", "20/12:00-20/13:00"), 0, 100, id="recovery was off for a moment"),
        pytest.param(horizon("20/13:05", "10/12:00-20/13:00"), 240 + 1 / 12, 0, id="a clock is ahead"),
        pytest.param(horizon("20/00:00", "19/12:00-20/12:00", days=1), 12, 50, id="a recovery period of a day"),
    ],
)
def test_what_is_left_and_which_level_is_reached(found, hours, level):
    assert found.left == timedelta(hours=hours)
    assert found.level == level
    assert found.is_lost is (found.watermark < found.earliest)


@given(st.integers(-10 * 86400, 40 * 86400), st.integers(0, 86400), st.integers(1, 35))
def test_time_only_takes_away_and_levels_only_rise(behind, more, days):
    watermark = at("01/00:00")
    now, later = (
        Horizon(watermark, watermark, watermark + timedelta(seconds=s), days) for s in (behind, behind + more)
    )
    assert later.left <= now.left
    assert later.level >= now.level
    assert now.level in (0, *LEVELS)
    assert later.left >= timedelta()
    assert 0 <= now.used_percent <= later.used_percent <= 100


@given(st.integers(1, 35))
def test_it_is_read_back_from_the_event_as_it_was_written(days):
    found = horizon("20/12:00", "10/12:00-20/13:00", days)
    assert Horizon.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert Horizon.from_json({}) is None


@pytest.mark.parametrize(
    ("recorded", "is_told"),
    [("10/12:00", True), ("20/13:00", True), ("20/13:01", False), ("10/11:59", False)],
    ids=["the oldest of it", "up to date", "of the future", "lost, which a full export at work may make good"],
)
def test_a_run_whose_plan_has_failed_tells_of_history_by_the_record_only_what_is_sure(recorded, is_told):
    told = horizon_of_record(format_instant(at(recorded)), at("10/12:00"), at("20/13:00"), 10)
    assert told == (horizon(recorded, "10/12:00-20/13:00") if is_told else None)
