"""One seed: a table, its schedule, what goes wrong, a person who types what the mails say, and what must always hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from pipeline.errors import DamagedExport
from pipeline.exports.windows import closed_windows
from pipeline.instants import format_instant
from pipeline.modes import UPDATE
from pipeline.planning.actions import Export, Idle
from pipeline.settings import HALT, REBUILD
from pipeline.table.maintenance import is_due
from tests.simulation.account import GRACE, PATIENCE, Account
from tests.simulation.clock import DAY, MINUTE, Clock, Process, instant
from tests.simulation.execution import execute
from tests.simulation.faults import Faults
from tests.simulation.person import Person
from tests.simulation.run import FATES, Run

#: Where every seed begins: 2026-01-01T00:00:00Z.
START = 1_767_225_600
TICK = 15 * MINUTE
_WINDOWS: tuple[int | dict[str, int], ...] = (
    *(60, 15, 240, 30, 1_440, 90),
    {"shortest": 15, "longest": 240},
    *(480, 45),
    {"shortest": 30, "longest": 1_440},
)
#: After so long without trouble maintenance has been tried again where it had failed.
_LONG_CALM = 3 * DAY
#: Of so many tables one rebuilds itself where history is lost.
_REBUILDING = 4
#: Of so many runs one is struck in one of its calls; of so many one is slow.
_STRUCK, _SLOW = 40, 12


@dataclass
class Lived:
    """What one seed lived through. `ways` are the steps of the state machine that were taken."""

    seed: int
    ticks: int = 0
    runs: int = 0
    exports: int = 0
    commits: int = 0
    verified: int = 0
    mails: int = 0
    rows: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    ways: set[tuple[str, str]] = field(default_factory=set)
    idles: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)


class Simulation:
    """A seed at work. Raises Violation where an invariant does not hold."""

    def __init__(self, seed: int) -> None:
        self.clock = Clock(START)
        window = _WINDOWS[seed % len(_WINDOWS)]
        self.account = Account(seed, self.clock, window, REBUILD if seed % _REBUILDING == 1 else HALT)
        self.dice = self.account.dice
        self.lived = Lived(seed)
        self.live: dict[int, Process] = {}
        self.account.on_end = self._ended
        self.person = Person(self.account, self.start)
        self.account.on_mail = self.person.reads
        self.faults = Faults(self.account, self.lived.faults, self)
        self.ticks_lost, self.tick_delay, self.copies = False, 0, 1

    def live_for(self, seconds: int) -> Lived:
        """Let so much virtual time pass and tell what happened."""
        self.clock.at(START, self._schedule())
        self.clock.at(START, self.faults.come_and_go())
        self.clock.at(START, self.person.wishes())
        self.clock.run_until(START + seconds)
        jobs = self.account.jobs
        self.lived.exports, self.lived.commits = self.account.exports.made, jobs.committed
        self.lived.verified = jobs.verified
        self.lived.mails = self.account.mails
        return self.lived

    def start(self, by: str, wish: Mapping[str, Any]) -> Run:
        """Start an execution."""
        self.lived.runs += 1
        struck = self.dice.randrange(_STRUCK) == 0
        run = Run(
            self.account,
            self.lived.runs,
            wish,
            by,
            calls_left=self.dice.randint(1, 40) if struck else 0,
            fate=self.dice.choice(FATES) if struck else "",
            slow=self.dice.randrange(_SLOW) == 0,
        )
        if by != "schedule":
            run.says("is started by {}: {}", by, wish)
        process = execute(run, self.lived.ways)
        self.live[run.number] = process
        self.clock.at(self.clock.now, process)
        return run

    def stop_a_run(self) -> bool:
        """StopExecution for one that runs; False where none does."""
        if not self.live:
            return False
        self.live[self.dice.choice(list(self.live))].close()
        return True

    def _schedule(self) -> Process:
        while True:
            tick = {"table": "orders", "scheduled_time": format_instant(instant(self.clock.now))}
            self.lived.ticks += 1
            self._check_not_stuck()
            if not self.ticks_lost:
                for _ in range(self.copies):
                    delay = self.tick_delay and self.dice.randint(0, self.tick_delay)
                    self.clock.after(delay, lambda wish=tick: self.start("schedule", wish))
            yield TICK

    def _check_not_stuck(self) -> None:
        """Once nothing has been wrong for a tick and two rounds, everything that had closed by then is in the table."""
        account, now = self.account, self.clock.now
        calm = account.calm_since()
        if calm is None or now - calm < GRACE or account.source is None:
            return
        if account.awaits_person and now - account.left_alone_since < PATIENCE:
            return
        watermark = account.table.state.watermark
        latest = instant(account.source.latest(now - GRACE))
        lengths = {account.window, account.settings.windows.longest}
        behind = watermark is None or any(closed_windows(watermark, latest, length) for length in lengths)
        if behind:
            what = f"nothing is wrong since {format_instant(instant(calm))}, and the table is at {watermark}"
            raise account.timeline.violated("never stuck for longer than a tick", what)
        # Tried once at a watermark, it is tried again when as much has come in: windows have a day at most.
        ended = replace(account.table.state, maintained=account.table.put_in_order)
        if now - calm > _LONG_CALM and is_due(ended, account.settings.maintain_every + timedelta(seconds=_LONG_CALM)):
            what = f"the table is at {watermark}, and was maintained at {ended.maintained}"
            raise account.timeline.violated("files do not pile up", what)

    def _ended(self, run: Run) -> None:
        self.live.pop(run.number, None)
        self.account.post.ends(run)
        self.person.sees_the_end(run)
        if run.outcome == "FAILED":
            self._check_failure(run)
        elif run.outcome == "SUCCEEDED":
            self._check_success(run)

    def _check_failure(self, run: Run) -> None:
        """A run that starts while nothing is wrong succeeds, unless only a person can help."""
        assert run.failure is not None
        self.lived.errors[run.failure.error] += 1
        calm = self.account.calm_since()
        if calm is None or run.started <= calm or self.person.must_help(run) or _knows_of_no_damage(run):
            return
        what = f"run {run.number} failed with {run.failure.error} although nothing was wrong: {run.failure.message}"
        raise self.account.timeline.violated("a run that starts while nothing is wrong succeeds", what)

    def _check_success(self, run: Run) -> None:
        """A wish is fulfilled, or who wished is told."""
        assert isinstance(run.plan, Idle) or run.dry
        if isinstance(run.plan, Idle):
            self.lived.idles[run.plan.reason] += 1
            if run.input.get("mode", UPDATE) != UPDATE and not run.dry and run.plan.reason == "AnotherRun":
                what = f"run {run.number} was to {run.input}, and ended as if all was well: {run.plan.message}"
                raise self.account.timeline.violated("who wishes something is told", what)


def _knows_of_no_damage(run: Run) -> bool:
    """Whether a run has met a damaged export that no job of the same work had refused before: only that leaves a report."""
    assert run.failure is not None
    if not (isinstance(run.plan, Export) and issubclass(run.failure.error_class, DamagedExport)):
        return False
    return all(export.refusals.count(run.plan.plan.job_id) <= 1 for export in run.exports)


def simulate(seed: int, days: int) -> Lived:
    """Live through a seed. Raises Violation with the timeline that led to it."""
    return Simulation(seed).live_for(days * DAY)
