"""Windows that follow the changes: the rule, and what it comes to on a quiet and on a busy table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pipeline.exports.window_bounds import WindowBounds, WindowLengths
from pipeline.exports.windows import SMALLEST_INCREMENTAL
from pipeline.instants import floor_to
from pipeline.planning.actions import Export
from pipeline.planning.observation import SourceHistory
from pipeline.planning.planner import next_action
from pipeline.planning.rules import Rules, windows_within
from pipeline.planning.window_lengths import window_length
from pipeline.prices import export_cost
from pipeline.settings import Settings
from pipeline.table.marker import Commit, Marker, TableState, read_table_state
from tests.pipeline.snapshots import metadata
from tests.pipeline.world import ARN, HOUR, QUARTER_HOUR, SOURCE, at, seen, wish

USUAL = WindowLengths.of(WindowBounds())
MB = 10**6
DAY = timedelta(days=1)


def commit(stretch: str, megabytes: float | None, job: str = "merge") -> Marker:
    start, end = map(at, stretch.split())
    billed = None if megabytes is None else int(megabytes * MB)
    return Marker(end, start, job, f"{job}-{end}", ARN, SOURCE.id, {}, billed)


def shows(*commits: Marker) -> TableState:
    """A table with these commits, newest first."""
    return TableState(True, commits[0], commits=tuple(Commit(marker, marker.to_properties()) for marker in commits))


def minutes(length: timedelta) -> int:
    return round(length / timedelta(minutes=1))


@pytest.mark.parametrize(
    ("shortest", "longest", "steps"),
    [
        (15, 240, [15, 30, 60, 120, 240]),
        (15, 1440, [15, 30, 60, 120, 240, 480, 1440]),
        (20, 60, [20, 60]),
        (60, 60, [60]),
        (15, 75, [15, 75]),
    ],
)
def test_every_length_divides_the_next(shortest, longest, steps):
    assert list(map(minutes, WindowLengths.of(WindowBounds(shortest, longest)).steps)) == steps


@pytest.mark.parametrize(
    ("most", "longest"), [(300, 240), (240, 240), (239, 120), (60, 60), (59, 30), (15, 15), (14, 15)]
)
def test_the_longest_is_a_step_that_is_no_longer_than_it_may_be(most, longest):
    assert minutes(USUAL.up_to(timedelta(minutes=most)).longest) == longest


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        pytest.param([commit("12:00 12:15", 10)], 30, id="billed the least: the next step"),
        pytest.param([commit("10:00 12:00", 10)], 240, id="step by step to the longest"),
        pytest.param([commit("11:00 12:00", 20)], 30, id="half of it would have been billed the least"),
        pytest.param([commit("08:00 12:00", 10)], 240, id="which is the end"),
        pytest.param([commit("12:15 12:30", 10)], 30, id="a window cut short by its grid counts as long as it was"),
        pytest.param([commit("12:00 14:00", 11)], 120, id="billed a little more than the least: it stays"),
        pytest.param([commit("12:00 14:00", 19)], 120, id="as long as half of it would be billed the least"),
        pytest.param([commit("12:00 14:00", 21)], 60, id="billed twice the least: half as long"),
        pytest.param([commit("08:00 12:00", 400)], 15, id="a burst: the shortest at once"),
        pytest.param([commit("12:00 12:15", 9_000)], 15, id="never shorter than the shortest"),
        pytest.param([commit("18/12:00 12:00", 30)], 240, id="three days in three windows, each billed the least"),
        pytest.param([commit("20/10:00 12:00", 21)], 240, id="a day and two hours, billed hardly more than the least"),
        pytest.param([commit("18/12:00 12:00", 3_000)], 15, id="three days, and busy ones"),
        pytest.param([commit("12:00 12:00", None, "load")], 15, id="nothing merged yet"),
        pytest.param([commit("12:00 12:00", None, "load"), commit("08:00 12:00", 10)], 15, id="replaced since"),
        pytest.param([commit("08:00 12:00", None)], 15, id="merged by a version that did not write it down"),
        pytest.param(
            [commit("01/00:00 12:00", 90_000, "backfill"), commit("10:00 12:00", 10)],
            240,
            id="a backfill plays no part",
        ),
    ],
)
def test_the_next_window_is_the_shortest_that_would_have_been_billed_more_than_the_least(last, expected):
    assert minutes(window_length(USUAL, shows(*last))) == expected


@pytest.mark.parametrize(
    ("setting", "tick", "days", "longest"),
    [
        ({"shortest": 15, "longest": 1440}, 15, 35, 1440),
        ({"shortest": 15, "longest": 1440}, 15, 2, 1440),
        ({"shortest": 15, "longest": 1440}, 15, 1, 480),
        ({"shortest": 15, "longest": 1440}, 1440, 1, 15),
        (1440, 15, 1, 1440),
    ],
)
def test_windows_with_bounds_stay_within_the_recovery_period(setting, tick, days, longest):
    raw = {"tables": [{"name": "orders", "window_minutes": setting, "tick_minutes": tick}]}
    assert minutes(windows_within(Settings.parse(raw).tables[0], days).longest) == longest


def test_a_fixed_length_is_that_whatever_was_billed():
    assert window_length(WindowLengths.of(60), shows(commit("08:00 12:00", 10))) == HOUR


def test_without_a_table_or_its_commits_windows_are_the_shortest():
    assert window_length(USUAL, TableState(exists=False)) == QUARTER_HOUR
    assert window_length(USUAL, TableState(True, commit("08:00 12:00", 10))) == QUARTER_HOUR


def test_a_commit_that_cannot_be_read_is_none():
    broken = commit("08:00 12:00", 10).to_properties() | {"tidemark.billed-bytes": "many"}
    assert window_length(USUAL, read_table_state(metadata(broken))) == QUARTER_HOUR
    older, backfill = commit("06:00 08:00", 10), commit("06:00 12:00", 50, "backfill").to_properties()
    found = read_table_state(metadata(older.to_properties(), broken, backfill))
    assert window_length(USUAL, found) == window_length(USUAL, shows(older)) != QUARTER_HOUR


@given(st.integers(15, 1440), st.integers(1, 96), st.integers(0, 100_000), st.integers(900, 30 * 86_400))
def test_whatever_was_billed_the_length_is_one_of_the_steps(shortest, factor, megabytes, seconds):
    allowed = WindowLengths.of(
        WindowBounds(shortest, max(shortest, min(shortest * factor, 1440 // shortest * shortest)))
    )
    last = replace(commit("12:00 12:15", megabytes), start=at("12:15") - timedelta(seconds=seconds))
    assert window_length(allowed, shows(last)) in allowed.steps


@dataclass
class Lived:
    """What a table lived through: its windows in order, each with the bytes it was billed; the longest lag."""

    windows: list[tuple[datetime, datetime, int]] = field(default_factory=list)
    lag: timedelta = timedelta()

    def dollars_a_month(self, days: int) -> float:
        return export_cost(sum(billed for _, _, billed in self.windows)) * 30 / days


def live(written: Callable[[datetime], float], days: int, allowed: WindowLengths = USUAL) -> Lived:
    """Let the planner look every quarter of an hour at a table to which `written` bytes an hour are written."""
    lived, now = Lived(), at("01/00:00")
    table = shows(Marker(now, now, "load", "load", ARN, SOURCE.id, {}))
    for _ in range(days * 96):
        now += QUARTER_HOUR
        assert table.watermark is not None
        lived.lag = max(lived.lag, now - table.watermark)
        world = replace(seen(shows=table), source=SourceHistory(SOURCE, at("01/00:00"), now))
        action = next_action(world, wish(), Rules(window_length(allowed, table)))
        if isinstance(action, Export):
            start, end = action.plan.bounds  # never behind: one window at a time
            ticks = range(round((end - start) / QUARTER_HOUR))
            changes = sum(written(start + n * QUARTER_HOUR) / 4 for n in ticks)
            lived.windows.append((start, end, max(SMALLEST_INCREMENTAL, int(changes))))
            table = shows(Marker(end, start, "merge", "merge", ARN, SOURCE.id, {}, lived.windows[-1][2]))
    return lived


def test_a_quiet_table_comes_to_the_longest_windows_and_costs_a_sixteenth():
    lived = live(lambda _when: 100_000, 30)
    assert [minutes(end - start) for start, end, _ in lived.windows[:8]] == [15, 15, 30, 60, 120, 240, 240, 240]
    assert (len(lived.windows), lived.dollars_a_month(30)) == (184, pytest.approx(0.184))
    assert export_cost(SMALLEST_INCREMENTAL) * (30 * DAY / QUARTER_HOUR) == pytest.approx(2.88)


def test_a_busy_table_is_as_fresh_as_with_the_shortest_windows_and_costs_no_cent_more():
    lived = live(lambda _when: 50 * MB, 5)
    assert lived.lag == QUARTER_HOUR
    assert lived.dollars_a_month(5) == pytest.approx(export_cost(30 * 24 * 50 * MB))


def test_in_office_hours_windows_are_short_and_at_night_they_are_long():
    busy = lambda when: 60 * MB if 8 <= when.hour < 18 else 0  # noqa: E731  a curve, used once
    lived = live(busy, 10)
    at_work = [minutes(end - start) for start, end, _ in lived.windows if 12 <= start.hour < 18]
    at_night = [minutes(end - start) for start, end, _ in lived.windows if start.hour < 4]
    assert set(at_work) == {15}
    assert max(at_night) == 240
    assert lived.lag == 4 * HOUR
    costs = [one.dollars_a_month(10) for one in (live(busy, 10, WindowLengths.of(15)), lived)]
    assert costs == [pytest.approx(3.48), pytest.approx(2.052)]


@hypothesis_settings(max_examples=20)
@given(st.lists(st.sampled_from([0, 1, 30, 45, 70, 500]), min_size=4, max_size=12))
def test_however_the_pace_changes_windows_touch_end_on_the_grid_and_stay_in_bounds(paces):
    began = at("01/00:00")
    lived = live(lambda when: paces[(when - began) // (DAY / 2) % len(paces)] * MB, 4)
    assert all(earlier[1] == later[0] for earlier, later in pairwise(lived.windows))
    assert all(end == floor_to(end, QUARTER_HOUR) for _, end, _ in lived.windows)
    assert all(QUARTER_HOUR <= end - start <= 4 * HOUR for start, end, _ in lived.windows)
    assert lived.lag <= 4 * HOUR
