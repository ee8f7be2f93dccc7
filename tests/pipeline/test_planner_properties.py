"""What holds for every world: properties of the plan, and months of schedule in which runs die anywhere."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.exports.windows import LONGEST_WINDOW, SHORTEST_WINDOW
from pipeline.instants import floor_to, format_instant, whole_second
from pipeline.modes import BACKFILL, UPDATE
from pipeline.planning.actions import UP_TO_DATE, Export, Idle
from pipeline.planning.journal import Claim, RunPlan
from pipeline.planning.observation import Observation, SourceHistory
from pipeline.planning.planner import next_action
from pipeline.planning.rules import Rules
from pipeline.table.marker import NO_TABLE, Marker, TableState
from tests.pipeline.world import SOURCE, at, claim, plan, wish

LATEST = at("13:00")
grids = st.integers(15, 1440).map(lambda minutes: timedelta(minutes=minutes))
spans = st.integers(0, 35 * 86_400_000).map(lambda milliseconds: timedelta(milliseconds=milliseconds))


@st.composite
def worlds(draw: st.DrawFn) -> Observation:
    """A source with up to 35 days of history, a table somewhere in it or none, and perhaps a dead run's claim."""
    latest = LATEST + draw(spans)
    earliest = latest - draw(spans)
    watermark = whole_second(latest - draw(spans)) if draw(st.booleans()) else None
    marker = watermark and Marker(watermark, watermark, "merge", "job", SOURCE.arn, SOURCE.id, {})
    state = TableState(exists=True, marker=marker, job_ids=frozenset({"job"})) if marker else NO_TABLE
    recorded = draw(st.sampled_from(["", format_instant(watermark) if watermark else ""]))
    dead = draw(st.sampled_from([None, claim(plan("12:00 13:00")), claim(plan("12:00"))]))
    return Observation(SourceHistory(SOURCE, earliest, latest), state, "RUN", recorded, dead, "me")


def _following(latest: datetime, history: timedelta, watermark: datetime) -> Observation:
    """A table that follows its source, with nothing half done."""
    marker = Marker(watermark, watermark, "merge", "job", SOURCE.arn, SOURCE.id, {})
    state = TableState(exists=True, marker=marker, job_ids=frozenset({"job"}))
    return Observation(
        SourceHistory(SOURCE, latest - history, latest), state, "RUN", format_instant(watermark), None, "me"
    )


@st.composite
def behind(draw: st.DrawFn, grid: timedelta) -> Observation:
    """A table that is two windows behind at the least, within its source's history."""
    history = draw(st.timedeltas(2 * grid + timedelta(seconds=1), timedelta(days=35)))
    latest = LATEST + draw(spans)
    return _following(
        latest, history, whole_second(latest - draw(st.timedeltas(2 * grid, history - timedelta(seconds=1))))
    )


@st.composite
def level(draw: st.DrawFn, grid: timedelta) -> Observation:
    """A table after whose watermark no window has ended yet."""
    latest = LATEST + draw(spans)
    watermark = whole_second(latest - draw(st.timedeltas(timedelta(), latest - floor_to(latest, grid))))
    return _following(latest, timedelta(days=1), max(watermark, floor_to(latest, grid)))


@given(worlds(), grids)
def test_every_plan_can_be_carried_out(world, grid):
    action = next_action(world, wish(), Rules(grid))
    assume(isinstance(action, Export))
    ends = action.plan.bounds
    lengths = [later - earlier for earlier, later in pairwise(ends)]
    assert all(SHORTEST_WINDOW <= length <= LONGEST_WINDOW for length in lengths)
    assert all(instant == whole_second(instant) for instant in ends)
    assert world.source.earliest <= ends[0]
    assert ends[-1] <= world.source.latest
    assert len(action.plan.requests) <= 36


@given(st.data(), grids)
def test_new_windows_start_at_the_watermark_touch_and_end_on_the_grid(data, grid):
    world = data.draw(behind(grid))
    windows = [request.window for request in next_action(world, wish(), Rules(grid)).plan.requests]
    assert windows[0].start == world.table.watermark
    assert all(earlier.end == later.start for earlier, later in pairwise(windows))
    assert windows[-1].end == floor_to(windows[-1].end, grid)
    assert world.source.latest - windows[-1].end < grid


@given(st.data(), st.sampled_from([15, 20, 30, 60, 120, 240, 360, 720]).map(lambda minutes: timedelta(minutes=minutes)))
def test_with_a_grid_that_divides_half_a_day_every_end_is_on_it(data, grid):
    plan = next_action(data.draw(behind(grid)), wish(), Rules(grid)).plan
    assert not plan.is_full
    assert all(end == floor_to(end, grid) for end in plan.bounds[1:])


@given(st.data(), grids)
def test_idling_until_an_instant_means_that_there_is_work_then_and_not_before(data, grid):
    world = data.draw(level(grid))
    action = next_action(world, wish(), Rules(grid))
    assert (action.kind, action.reason) == ("Idle", UP_TO_DATE)
    assert action.until > world.source.latest
    at_that_time = replace(world, source=replace(world.source, latest=action.until))
    a_second_before = replace(world, source=replace(world.source, latest=action.until - timedelta(seconds=1)))
    assert isinstance(next_action(at_that_time, wish(), Rules(grid)), Export)
    assert next_action(a_second_before, wish(), Rules(grid)) == action


@given(st.integers(15 * 60, 30 * 86_400), st.integers(0, 86_400), grids)
def test_a_backfill_ends_at_the_watermark_whatever_the_grid(seconds, offset, grid):
    watermark = LATEST + timedelta(seconds=offset)
    start = watermark - timedelta(seconds=seconds)
    marker = Marker(watermark, watermark, "merge", "job", SOURCE.arn, SOURCE.id, {})
    history = SourceHistory(SOURCE, start, watermark + timedelta(days=1))
    world = Observation(history, TableState(True, marker), "RUN", format_instant(watermark), None, "me")
    action = next_action(world, replace(wish(BACKFILL, "12:00"), start=start), Rules(grid))
    assert isinstance(action, Export)
    assert (action.plan.start, action.plan.end, action.plan.mode) == (start, watermark, BACKFILL)


class Account:
    """A source, a table and claims, with executions that may die between any two steps. What is under test decides."""

    def __init__(self) -> None:
        self.latest = at("13:00")
        self.state = NO_TABLE
        self.recorded = ""
        self.claim: Claim | None = None
        self.merged: list[RunPlan] = []
        self.recorded_jobs: set[str] = set()

    def look(self, execution: str) -> Observation:
        history = SourceHistory(SOURCE, at("01/00:00"), self.latest)
        found = self.claim and replace(self.claim, owner_runs=self.claim.owner == execution)
        return Observation(history, self.state, "RUN", self.recorded, found, execution)

    def run(self, execution: str, grid: timedelta, dies_after: int) -> Idle | None:
        """One execution: plan, claim, commit, record, and again until idle; None if it died after so many steps."""
        for _ in range(100):
            action = next_action(self.look(execution), wish(), Rules(grid))
            if isinstance(action, Idle):
                return action
            steps = [lambda a=action: self._claim(a, execution), lambda a=action: self._commit(a), self._record]
            for step in steps if isinstance(action, Export) else [self._record]:
                if dies_after == 0:
                    return None
                dies_after -= 1
                step()
        raise AssertionError("it never came to rest")

    def _claim(self, action: Export, execution: str) -> None:
        assert self.claim is None or action.adopted or action.number == self.claim.number + 1
        self.claim = Claim(action.number, execution, action.plan)

    def _commit(self, action: Export) -> None:
        found = action.plan
        if not found.is_full:
            assert found.start == self.state.watermark, "a gap or an overlap"
        marker = Marker(found.end, found.start, "merge", found.job_id, SOURCE.arn, SOURCE.id, {})
        self.state = TableState(True, marker, self.state.job_ids | {found.job_id})
        self.merged.append(found)

    def _record(self) -> None:
        self.recorded = format_instant(self.state.watermark)
        self.recorded_jobs.add(self.state.marker.job_id)  # of this one the mail tells


ticks = st.tuples(st.integers(60, 3 * 86_400), st.integers(0, 9))


@given(st.lists(ticks, min_size=1, max_size=12), grids)
def test_whatever_dies_and_whenever_the_backlog_only_shrinks_and_in_the_end_everything_closed_is_in_the_table(
    days, grid
):
    account = Account()
    for number, (seconds, dies_after) in enumerate(days):
        account.latest += timedelta(seconds=seconds)
        before = account.state.watermark
        account.run(f"execution {number}", grid, dies_after)
        assert before is None or account.state.watermark >= before
    rested = account.run("the last one", grid, dies_after=1000)
    assert rested is not None
    assert rested.reason == "UpToDate"
    assert rested.until > account.latest
    assert account.recorded == format_instant(account.state.watermark)
    assert account.latest - account.state.watermark < grid + SHORTEST_WINDOW


@given(st.lists(ticks, min_size=1, max_size=12), grids)
def test_whatever_dies_before_it_is_recorded_is_recorded_and_so_told_before_more_is_merged(days, grid):
    account = Account()
    for number, (seconds, dies_after) in enumerate([*days, (60, 1000)]):
        account.latest += timedelta(seconds=seconds)
        account.run(f"execution {number}", grid, dies_after)
    assert {found.job_id for found in account.merged} == account.recorded_jobs


@given(st.lists(ticks, min_size=1, max_size=12), grids)
def test_no_stretch_of_history_is_merged_twice(days, grid):
    account = Account()
    for number, (seconds, dies_after) in enumerate([*days, (60, 1000)]):
        account.latest += timedelta(seconds=seconds)
        account.run(f"execution {number}", grid, dies_after)
    bootstraps = [found for found in account.merged if found.is_full]
    assert len(bootstraps) == 1
    assert len({found.job_id for found in account.merged}) == len(account.merged)
    assert all(found.mode == UPDATE for found in account.merged)
