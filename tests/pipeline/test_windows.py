"""Windows: what is legal, and how few of them a stretch takes."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.exports.windows import (
    LONGEST_WINDOW,
    SHORTEST_WINDOW,
    ExportWindow,
    closed_windows,
    cut,
    next_close,
    windows_between,
)
from pipeline.instants import floor_to
from tests.pipeline.world import HOUR, QUARTER_HOUR, at, bounds

starts = st.integers(0, 86_400).map(lambda seconds: at("01/00:00") + timedelta(seconds=seconds))
lengths = st.integers(15 * 60, 36 * 86_400).map(lambda seconds: timedelta(seconds=seconds))
grids = st.integers(15, 1440).map(lambda minutes: timedelta(minutes=minutes))


@pytest.mark.parametrize(
    ("start", "end"),
    [
        pytest.param("12:00", "12:15", id="exactly the shortest"),
        pytest.param("20/12:00", "12:00", id="exactly the longest"),
        pytest.param("12:00:01", "12:59:59", id="any second"),
    ],
)
def test_dynamodb_takes_windows_of_15_minutes_to_24_hours(start, end):
    assert ExportWindow(at(start), at(end)).length == at(end) - at(start)


@pytest.mark.parametrize(
    ("start", "end", "told"),
    [
        pytest.param("12:00", "12:14:59", "15 minutes to 24 hours", id="a second too short"),
        pytest.param("20/12:00", "12:00:01", "15 minutes to 24 hours", id="a second too long"),
        pytest.param("12:00", "12:00", "15 minutes to 24 hours", id="empty"),
        pytest.param("13:00", "12:00", "15 minutes to 24 hours", id="backwards"),
        pytest.param("12:00:00.5", "13:00", "whole seconds", id="from a fraction"),
        pytest.param("12:00", "13:00:00.001", "whole seconds", id="to a fraction"),
    ],
)
def test_other_windows_do_not_exist(start, end, told):
    with pytest.raises(ValueError, match=told):
        ExportWindow(at(start), at(end))


def test_a_window_without_a_time_zone_does_not_exist():
    with pytest.raises(ValueError, match="time zone"):
        ExportWindow(at("12:00").replace(tzinfo=None), at("13:00").replace(tzinfo=None))


def test_a_window_is_written_half_open():
    assert str(ExportWindow(at("12:00"), at("13:00"))) == "[2026-11-21T12:00:00Z, 2026-11-21T13:00:00Z)"


def test_windows_sort_by_their_start():
    first, second = windows_between(bounds("12:00 13:00 14:00"))
    assert sorted([second, first]) == [first, second]


@given(starts, lengths, grids)
def test_a_stretch_is_cut_into_the_fewest_windows_and_wholly(start, length, grid):
    windows = cut(start, start + length, grid)
    assert (windows[0].start, windows[-1].end) == (start, start + length)
    assert all(earlier.end == later.start for earlier, later in pairwise(windows))
    assert len(windows) == -(-length // LONGEST_WINDOW)


@given(starts, st.integers(1, 1000), st.sampled_from([15, 20, 30, 45, 60, 90, 180, 360, 720]))
def test_ends_are_on_the_grid_where_that_costs_no_window(start, steps, minutes):
    grid = timedelta(minutes=minutes)
    end = floor_to(start, grid) + steps * grid
    if end - start >= SHORTEST_WINDOW:
        assert all(window.end == floor_to(window.end, grid) for window in cut(start, end, grid))


@pytest.mark.parametrize(
    ("text", "grid", "expected"),
    [
        pytest.param("12:00 12:15", HOUR, "12:00 12:15", id="one"),
        pytest.param("20/11:59:59 12:00", HOUR, "20/11:59:59 11:00 12:00", id="a second over a day"),
        pytest.param(
            "20/23:50 23:55", timedelta(hours=24), "20/23:50 23:40 23:55", id="the rest would be shorter than is legal"
        ),
        pytest.param(
            "14/00:00 00:00",
            timedelta(minutes=25),
            "14/00:00 15/00:00 16/00:00 17/00:00 18/00:00 19/00:00 20/00:00 00:00",
            id="a grid that would cost an eighth window gives way",
        ),
        pytest.param(
            "20/23:45 22/00:00",
            timedelta(hours=24),
            "20/23:45 00:00 22/00:00",
            id="the first is of the shortest length",
        ),
    ],
)
def test_a_stretch_is_cut_at_the_grid_where_that_is_legal_and_costs_no_window(text, grid, expected):
    start, end = bounds(text)
    assert cut(start, end, grid) == windows_between(bounds(expected))


@pytest.mark.parametrize(
    ("watermark", "latest", "expected"),
    [
        pytest.param("12:00", "12:14:59", (), id="nothing has closed"),
        pytest.param("12:00", "12:15", windows_between(bounds("12:00 12:15")), id="one window"),
        pytest.param("12:01", "12:15", (), id="fourteen minutes to the grid"),
        pytest.param("12:01", "12:30", windows_between(bounds("12:01 12:30")), id="twenty-nine minutes to the grid"),
        pytest.param("12:30", "12:00", (), id="ahead"),
    ],
)
def test_a_window_closes_once_an_end_on_the_grid_that_is_far_enough_can_be_restored(watermark, latest, expected):
    assert closed_windows(at(watermark), at(latest), QUARTER_HOUR) == expected


@given(starts, grids)
def test_the_next_window_closes_at_the_first_end_on_the_grid_that_is_far_enough(watermark, grid):
    close = next_close(watermark, grid)
    assert close == floor_to(close, grid)
    assert closed_windows(watermark, close, grid)
    assert not closed_windows(watermark, close - timedelta(seconds=1), grid)
