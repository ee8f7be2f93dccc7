"""What goes wrong: each a process that makes trouble, lets time pass, and ends it, unless a person has done so before.

What stands in the account's `standing` is wrong until it is taken out again; everything else is over at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from pipeline.errors import AwsUnavailable, DamagedExport, PermissionMissing, PipelineError, error_names
from tests.simulation import jobs
from tests.simulation.account import SERVICES, Account
from tests.simulation.clock import DAY, HOUR, MINUTE, Process
from tests.simulation.exports import Flaw
from tests.simulation.meddling import Meddling
from tests.simulation.source import LONGEST_PERIOD

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation

_DAMAGES = sorted(name for name, kind in error_names().items() if issubclass(kind, DamagedExport))
_REFUSALS = ("TableContended", "JobFailed")
_STANDING = {"the bucket is gone": "S3NoSuchBucket", "a permission is gone": "S3AccessDenied"}


class Faults(Meddling):
    """Everything that goes wrong in one seed, one after the other or several at once; `counts` says what did."""

    def __init__(self, account: Account, counts: Counter[str], simulation: Simulation) -> None:
        super().__init__(account)
        self._counts, self._simulation = counts, simulation

    def come_and_go(self) -> Process:
        """Days without anything wrong, and hours in which everything is."""
        while True:
            yield self._dice.randint(0, 4 * HOUR if self._dice.random() < 0.3 else 3 * DAY)
            fault = self._dice.choices(*zip(*FAULTS.items(), strict=True))[0]
            self._counts[name := fault.__name__.strip("_").replace("_", " ")] += 1
            self._account.timeline.add("trouble", "{}", name)
            self._account.clock.after(0, fault(self))

    def _while(self, standing: str, most: int) -> Process:
        """Let something be wrong for a while, of many lengths, or until somebody takes it out; once at a time."""
        account = self._account
        left = int(5 * MINUTE * (most / (5 * MINUTE)) ** self._dice.random())  # nothing lasts shorter than that
        if standing in account.standing:
            return  # whoever began it ends it
        account.standing.add(standing)
        while left > 0 and standing in account.standing:
            yield min(left, 5 * MINUTE)
            left -= 5 * MINUTE
        account.standing.discard(standing)
        account.trouble()
        account.timeline.add("trouble", "over: {}", standing)

    def _down(self, services: list[str], error: type[PipelineError], standing: str, most: int) -> Process:
        mine = {s: error for s in services if s not in self._account.down and standing not in self._account.standing}
        self._account.timeline.add("trouble", "{} for {}", error.__name__, ", ".join(mine))
        self._account.down = {**self._account.down, **mine}
        yield from self._while(standing, most)
        self._account.down = {s: kind for s, kind in self._account.down.items() if s not in mine}

    def _outage_of_a_service(self) -> Process:
        service = self._dice.choice(SERVICES)
        yield from self._down([service], AwsUnavailable, f"{service} is out", 8 * HOUR)

    def _outage_of_everything(self) -> Process:
        yield from self._down(list(SERVICES), AwsUnavailable, "everything is out", 2 * DAY)

    def _permission_gone(self) -> Process:
        service = self._dice.choice(("dynamodb", "ssm", "glue", "s3", "emr", "states"))
        yield from self._down([service], PermissionMissing, "a permission is gone", 4 * DAY)

    def _exports_refused_by_their_bucket(self) -> Process:
        standing, self._account.exports.standing = self._dice.choice(list(_STANDING.items()))
        yield from self._while(standing, 4 * DAY)
        self._account.exports.standing = ""

    def _exports_fail_for_lack_of_a_key(self) -> Process:
        self._account.exports.standing = "KmsNotFoundException"
        yield from self._while("the key is gone", 2 * DAY)
        self._account.exports.standing = ""

    def _flawed(self, flaw: Flaw) -> Process:
        """Let the next exports have a flaw; wait until they have been asked for."""
        flaws = self._account.exports.flaws
        flaws += [flaw] * self._dice.choice((1, 1, 2, 5))
        yield from self._consumed(flaws)

    def _consumed(self, waiting: list[Flaw] | list[str]) -> Process:
        standing = f"waiting to happen {id(waiting)}"
        self._account.standing.add(standing)
        for _ in range(4 * 24):
            if not waiting:
                break
            yield 15 * MINUTE
        waiting.clear()
        self._account.standing.discard(standing)
        self._account.trouble()

    def _export_fails(self) -> Process:
        yield from self._flawed(Flaw(failure="UNKNOWN"))

    def _export_is_damaged(self) -> Process:
        yield from self._flawed(Flaw(damage=self._dice.choice(_DAMAGES)))

    def _export_takes_hours(self) -> Process:
        yield from self._flawed(Flaw(hours=self._dice.randint(1, 40)))

    def _export_never_ends(self) -> Process:
        self._account.exports.flaws.append(Flaw(never_ends=True))
        yield from self._consumed(self._account.exports.flaws)

    def _job_goes_wrong(self) -> Process:
        troubles = self._account.jobs.troubles
        kinds = (jobs.CRASHES, jobs.CRASHES, jobs.DIES_AFTER_COMMIT, jobs.DIES_AFTER_COMMIT, jobs.HANGS, *_REFUSALS)
        troubles += [self._dice.choice(kinds)] * self._dice.choice((1, 1, 2, 4))
        yield from self._consumed(troubles)

    def _jobs_of_wishes_crash(self) -> Process:
        self._account.jobs.wishes_crash_until = self._account.clock.now + self._dice.randint(DAY, 6 * DAY)
        yield 0

    def _run_stopped(self) -> Process:
        for _ in range(200):
            if self._simulation.stop_a_run():
                return
            yield self._dice.randint(1, 4 * MINUTE)

    def _ticks_lost(self) -> Process:
        self._simulation.ticks_lost = True
        yield from self._while("the scheduler is silent", 3 * DAY)
        self._simulation.ticks_lost = False

    def _ticks_late(self) -> Process:
        self._simulation.tick_delay = 2 * HOUR
        yield from self._while("the scheduler is late", DAY)
        self._simulation.tick_delay = 0

    def _ticks_more_than_once(self) -> Process:
        self._simulation.copies = self._dice.randint(2, 10)
        yield self._dice.randint(HOUR, DAY)
        self._simulation.copies = 1

    def _source_clock_behind(self) -> Process:
        self._account.clock_error = self._dice.randint(1, MINUTE)
        yield from self._while("the source's clock is behind", 8 * HOUR)
        self._account.clock_error = 0

    def _paused(self) -> Process:
        yield from self._controlled("PAUSE", "paused", 5 * DAY)

    def _paused_for_weeks(self) -> Process:
        yield from self._controlled("PAUSE", "paused for weeks", 45 * DAY)

    def _control_misspelt(self) -> Process:
        yield from self._controlled(self._dice.choice(("run", "PAUSED", "")), "control is misspelt", 2 * DAY)

    def _controlled(self, value: str, standing: str, most: int) -> Process:
        self._account.parameters.control = value
        yield from self._while(standing, most)
        if self._account.parameters.control == value:
            self._account.parameters.control = "RUN"

    def _recovery_off(self) -> Process:
        account, source = self._account, self._account.source
        if source is not None:
            source.recovery_since = None
            yield from self._while("recovery is off", 3 * DAY)
            source.recovery_since = source.recovery_since or account.clock.now

    def _recovery_period_of_a_day(self) -> Process:
        source = self._account.source
        if source is not None and source.period_days == LONGEST_PERIOD:
            source.period_days = 1
            self._account.trouble()  # a person may have to act: it takes its time
            yield self._dice.randint(DAY, 20 * DAY)
            if source.recovery_since is not None:  # history that is gone does not come back
                source.recovery_since = source.earliest(self._account.clock.now)
            source.period_days = LONGEST_PERIOD

    def _source_created_anew(self) -> Process:
        self._account.source = None
        yield from self._while("the source table is gone", 8 * HOUR)
        if self._account.source is None:
            self._account.create_source(self._account.clock.now)


FAULTS: dict[Callable[[Faults], Process], int] = {
    Faults._outage_of_a_service: 12,
    Faults._outage_of_everything: 3,
    Faults._permission_gone: 3,
    Faults._exports_refused_by_their_bucket: 3,
    Faults._exports_fail_for_lack_of_a_key: 3,
    Faults._export_fails: 8,
    Faults._export_is_damaged: 8,
    Faults._export_takes_hours: 5,
    Faults._export_never_ends: 2,
    Faults._job_goes_wrong: 12,
    Faults._jobs_of_wishes_crash: 3,
    Faults._run_stopped: 12,
    Faults._ticks_lost: 3,
    Faults._ticks_late: 4,
    Faults._ticks_more_than_once: 6,
    Faults._source_clock_behind: 4,
    Faults._paused: 4,
    Faults._paused_for_weeks: 2,
    Faults._control_misspelt: 2,
    Faults._recovery_off: 2,
    Faults._recovery_period_of_a_day: 2,
    Faults._source_created_anew: 2,
    Faults._table_rolled_back: 6,
    Faults._table_dropped: 2,
    Faults._table_written_by_a_stranger: 2,
    Faults._claim_garbled: 2,
    Faults._parameter_wrong: 4,
    Faults._records_contradict: 2,
}
