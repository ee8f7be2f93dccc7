"""Bugs planted in the rules, each as a patch: what the simulation must find. The product knows nothing of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from unittest.mock import patch

from pipeline.exports.windows import ExportWindow, closed_windows
from pipeline.instants import EPOCH, format_instant, parse_instant
from pipeline.planning import planner
from pipeline.planning.actions import Action, Export
from pipeline.planning.execution_input import ExecutionInput
from pipeline.planning.journal import Claim, RunPlan
from pipeline.planning.observation import Observation
from pipeline.planning.rules import Rules
from pipeline.table import guard
from tests.simulation import machine
from tests.simulation.account import Account
from tests.simulation.run import Run

Bug = Callable[[], AbstractContextManager[None]]


@contextmanager
def cursor_moved_at_export_start() -> Iterator[None]:
    """The last export time is written when the exports are asked for, and believed by the next plan."""

    def start(run: Run) -> machine.State:
        assert isinstance(run.plan, Export)
        run.account.parameters.recorded = format_instant(run.plan.plan.end)
        return (yield from start_exports(run))

    def plan(seen: Observation, wish: ExecutionInput, rules: Rules) -> Action:
        marker, latest = seen.table.marker, seen.source.latest
        if marker and latest and marker.watermark < (cursor := _cursor(seen.recorded)) <= latest:
            seen = replace(seen, table=replace(seen.table, marker=replace(marker, watermark=cursor)))
        return next_action(seen, wish, rules)

    start_exports, next_action = machine.STATES["StartExports"], machine.next_action
    with patch.dict(machine.STATES, StartExports=start), patch.object(machine, "next_action", plan):
        yield


def _cursor(recorded: str) -> datetime:
    return parse_instant(recorded) if recorded.startswith("20") else EPOCH


@contextmanager
def overlap_after_takeover() -> Iterator[None]:
    """A takeover plans from where the dead run had begun, whether or not its job has committed since."""

    def taken_over(seen: Observation, wish: ExecutionInput, *, for_ever: bool = False) -> Action | None:
        claim, latest = seen.claim, seen.source.latest
        if claim and latest and not claim.owner_runs and claim.owner != seen.execution and not claim.plan.is_full:
            windows = closed_windows(claim.plan.start, latest, timedelta(minutes=15))
            if windows and claim.plan.end <= latest and seen.table.watermark == claim.plan.end:
                again = RunPlan(claim.plan.mode, claim.plan.source_id, (claim.plan.start, *(w.end for w in windows)))
                return Export(again, claim.number + 1, taken_over_from=claim.owner)
        return right(seen, wish, for_ever=for_ever)

    right = planner.half_done
    with patch.object(planner, "half_done", taken_over):
        yield


@contextmanager
def clamped_to_the_earliest_restorable_time() -> Iterator[None]:
    """Where history is lost, the next window starts where history begins, instead of a halt."""

    def update(seen: Observation, rules: Rules) -> Action:
        marker, earliest = seen.table.marker, seen.restorable.earliest
        if marker and marker.watermark < earliest:
            clamped = replace(seen, table=replace(seen.table, marker=replace(marker, watermark=earliest)))
            action = right_update(clamped, rules)
            return action if isinstance(action, Export) else planner.Idle("UpToDate", "so it seems")
        return right_update(seen, rules)

    def unfit(seen: Observation, wish: ExecutionInput) -> Action | None:
        found = right_unfit(seen, wish)
        return None if found is not None and getattr(found, "error", "") == "HistoryLost" else found

    right_update, right_unfit = planner._update, planner.unfit
    with patch.object(planner, "_update", update), patch.object(planner, "unfit", unfit):
        yield


@contextmanager
def claim_not_checked_for_its_owner() -> Iterator[None]:
    """A claim is taken over although the execution that made it still runs."""

    def held_back(seen: Observation, wish: ExecutionInput) -> Action | None:
        return right(replace(seen, claim=seen.claim and replace(seen.claim, owner_runs=False)), wish)

    right = planner._held_back
    with patch.object(planner, "_held_back", held_back):
        yield


@contextmanager
def end_past_the_latest_restorable_time() -> Iterator[None]:
    """A window is taken for closed when its end has passed on the wall clock."""

    def closed(watermark: datetime, latest: datetime, window: timedelta) -> tuple[ExportWindow, ...]:
        return closed_windows(watermark, latest + timedelta(minutes=5), window)

    with patch.object(planner, "closed_windows", closed):
        yield


@contextmanager
def claim_overwritten() -> Iterator[None]:
    """A claim is written whether or not somebody else has: of two starters both win."""

    def create(account: Account, claim: Claim) -> bool:
        account.parameters.runs = {**account.parameters.runs, str(claim.number): claim.to_text()}
        return True

    with patch.object(Account, "create_claim", create):
        yield


@contextmanager
def wish_of_another_taken_for_done() -> Iterator[None]:
    """A person whose wish meets another run ends well, and nothing happens."""

    def idle(_wish: ExecutionInput, message: str) -> Action:
        return planner.Idle("AnotherRun", message)

    with patch.object(planner, "another_run", idle), patch.object(machine, "another_run", idle):
        yield


@contextmanager
def maintenance_forgotten() -> Iterator[None]:
    """Maintenance that has failed once is not begun again."""
    maintenance = planner._maintenance

    def once(seen: Observation, every: timedelta) -> Action | None:
        return None if seen.table.maintained else maintenance(seen, every)

    with patch.object(planner, "_maintenance", once):
        yield


@contextmanager
def owner_taken_to_run_for_ever() -> Iterator[None]:
    """A claim is respected whether or not the execution that made it has ended."""

    def held_back(seen: Observation, wish: ExecutionInput) -> Action | None:
        return right(replace(seen, claim=seen.claim and replace(seen.claim, owner_runs=True)), wish)

    right = planner._held_back
    with patch.object(planner, "_held_back", held_back):
        yield


@contextmanager
def recorded_before_the_commit() -> Iterator[None]:
    """The last export time is recorded when the exports are asked for; nobody believes it."""

    def start(run: Run) -> machine.State:
        assert isinstance(run.plan, Export)
        run.account.record(format_instant(run.plan.plan.end))
        return (yield from start_exports(run))

    start_exports = machine.STATES["StartExports"]
    with patch.dict(machine.STATES, StartExports=start):
        yield


@contextmanager
def wish_given_up_in_silence() -> Iterator[None]:
    """What a person has wished makes room when it cannot be had, and nobody says so."""

    def silent(*_of: object) -> None:
        return None

    with patch.object(planner, "_give_up", silent), patch.object(planner, "untold_end", silent):
        yield


@contextmanager
def job_without_guard() -> Iterator[None]:
    """The job merges whatever it is given: no bug by itself, but nothing stands behind the planner then."""
    with patch.object(guard, "check_fits", lambda _marker, _order: None):
        yield


#: Every bug that is planted, and how the violation begins that it must lead to: the invariant, or more of its text.
BUGS: Mapping[Bug, str] = {
    cursor_moved_at_export_start: "the chain touches",
    overlap_after_takeover: "the chain touches",
    clamped_to_the_earliest_restorable_time: "the chain touches",
    claim_not_checked_for_its_owner: "never two workers at once",
    end_past_the_latest_restorable_time: "exports are legal",
    claim_overwritten: "never two workers at once",
    owner_taken_to_run_for_ever: "never stuck for longer than a tick",
    recorded_before_the_commit: "the watermark is never ahead of the data",
    wish_given_up_in_silence: "who has wished something is told how it ended",
    wish_of_another_taken_for_done: "who wishes something is told",
    maintenance_forgotten: "files do not pile up",
}
