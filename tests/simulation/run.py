"""One execution of the state machine: its variables, its calls to AWS, and how it may end before its time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from pipeline.errors import AwsUnavailable, PipelineError
from pipeline.instants import format_instant
from pipeline.job_order import JobOrder
from pipeline.mails.failure_names import Failure
from pipeline.planning.actions import Action, Export, Halt, Idle
from pipeline.planning.execution_input import tick_of
from pipeline.planning.horizon import Horizon
from pipeline.planning.journal import RunPlan
from tests.simulation.account import MACHINE, Account
from tests.simulation.clock import instant
from tests.simulation.exports import Export as MadeExport
from tests.simulation.jobs import JobRun

Answer = TypeVar("Answer")
#: What may become of one call: the run dies before it or after it, its reply is lost, or it fails once.
DIES_BEFORE, DIES_AFTER, REPLY_LOST, FAILS_ONCE = "dies before", "dies after", "loses the reply of", "fails once in"
FATES = (DIES_BEFORE, DIES_AFTER, REPLY_LOST, FAILS_ONCE)


class Died(Exception):
    """The execution ended without a state of its own: stopped, timed out, out of events."""


@dataclass
class Run:
    """An execution. `calls_left`: how many calls until `fate` strikes, 0 for never. `slow`: seconds pass between calls."""

    account: Account
    number: int
    input: Mapping[str, Any]
    by: str
    calls_left: int = 0
    fate: str = ""
    slow: bool = False
    plan: Action | None = None
    #: What the claim said that was in force when it planned.
    claimed: RunPlan | None = None
    seen_at: datetime | None = None
    exports: list[MadeExport] = field(default_factory=list)
    checks: int = 0
    ready: bool = False
    dry: bool = False
    order: JobOrder | None = None
    token: str = ""
    job_run: JobRun | None = None
    failure: Failure | None = None
    #: Where it has seen the table last, what its plan tells the mails, and what is handed on of a round's report.
    horizon: Horizon | None = None
    outlook: Mapping[str, Any] = field(default_factory=dict)
    report: Mapping[str, Any] = field(default_factory=dict)
    news: bool = False
    #: How often the parameter ``told`` had been written when this run read it last; None where it could not be read.
    known: int | None = 0
    #: Whether a state that mails has been given up, or what it mailed could not be recorded.
    untold: bool = False
    steps: int = 0
    is_first_round: bool = True
    outcome: str = ""

    def __post_init__(self) -> None:
        """It runs from the moment it is made."""
        self.name = f"{MACHINE}:run-{self.number}".replace("stateMachine", "execution")
        self.started = self.planned = self.account.clock.now
        self.account.running.add(self.name)

    def ask(self, service: str, act: Callable[[], Answer]) -> Answer:
        """Make one call to a service. Raises AwsUnavailable, PermissionMissing, what the call itself raises, or Died."""
        down = self.account.down
        if down and service in down:
            raise down[service](f"{service} is not to be had")
        if self.calls_left:
            self.calls_left -= 1
            if not self.calls_left:
                return self._strike(service, act)
        return act()

    def report_of(self, job_id: str) -> dict[str, Any]:
        """Read the report that a job has left; empty where it has left none."""
        return self.ask("s3", lambda: self.account.jobs.report(job_id))

    def _strike(self, service: str, act: Callable[[], Answer]) -> Answer:
        self.account.trouble()
        self.says("{} a call to {}", self.fate, service)
        if self.fate == FAILS_ONCE:
            raise AwsUnavailable(f"{service} was busy")
        if self.fate == DIES_BEFORE:
            raise Died
        act()
        if self.fate == DIES_AFTER:
            raise Died
        raise AwsUnavailable(f"the reply of {service} was lost")

    @property
    def meant_for(self) -> datetime:
        """When it began for those who watch the schedule."""
        return tick_of(self.input) or instant(self.started)

    def could_not_tell(self) -> None:
        """A state that mails has been given up, or what it mailed could not be recorded."""
        self.untold, self.account.post.failed_at = True, self.account.clock.now

    def pause(self) -> Iterator[int]:
        """Let time pass between two calls, in which others may come in between."""
        if self.slow:
            yield self.account.dice.randint(0, 20)

    def failed(self, state: str, called: str, error: PipelineError) -> None:
        """Set the state machine's ``failure`` variable. `called`: Step Functions' name for the error."""
        self.failure = Failure.from_state({"state": state, "error": called, "cause": str(error)})

    def says(self, what: str, *values: object) -> None:
        """Add to the timeline."""
        self.account.timeline.add(f"run {self.number}", what, *values)


def told(action: Action) -> str:
    """An action in a few words."""
    if isinstance(action, Export):
        plan = action.plan
        if not plan.requests:
            return f"{plan.mode}: at {format_instant(plan.end)}, claim {action.number}, attempt {plan.attempt}"
        ends = f"{format_instant(plan.start)} to {format_instant(plan.end)}" if not plan.is_full else f"{plan.end}"
        over = f", takes over from {action.taken_over_from.rpartition(':')[2]}" if action.taken_over_from else ""
        count = f"{len(plan.requests)} exports" if not plan.is_full else "a full export"
        return f"{plan.mode}: {count}, {ends}, claim {action.number}, attempt {plan.attempt}{over}"
    if isinstance(action, Idle):
        return f"idle, {action.reason}"
    if isinstance(action, Halt):
        return f"halt, {action.error}: {action.message}"
    return f"record {format_instant(action.watermark)}"


class Words:
    """An action that is put into words only when somebody reads the timeline."""

    def __init__(self, action: Action) -> None:
        self._action = action

    def __format__(self, _spec: str) -> str:
        return told(self._action)
