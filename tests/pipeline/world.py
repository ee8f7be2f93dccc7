"""Words for the tests of the rules: a world is a timeline, an action is what follows from it.

Instants are written as ``12:00`` or ``12:00:30`` on 21 November 2026, or ``14/12:00`` for another day of that month.
"""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

from pipeline.deployment import Deployment
from pipeline.identity import KeyAttribute, SourceTable
from pipeline.instants import format_instant
from pipeline.mails.told import FailureKind, Incident, ToldFailure
from pipeline.modes import BACKFILL, FULL, UPDATE, VERIFY
from pipeline.planning.actions import Action, Export
from pipeline.planning.execution_input import ExecutionInput
from pipeline.planning.horizon import Horizon
from pipeline.planning.journal import Claim, RunPlan
from pipeline.planning.observation import Observation, SourceHistory
from pipeline.planning.planner import next_action
from pipeline.planning.rules import Rules
from pipeline.table.marker import NO_TABLE, Marker, TableState

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/orders"
SOURCE = SourceTable(ARN, "id-of-orders", (KeyAttribute("id", "S"),))
RECREATED = SourceTable(ARN, "id-of-the-new-orders", (KeyAttribute("id", "S"),))
ME, OTHER = (
    "arn:aws:states:us-east-1:000000000000:execution:Tidemark:me",
    "arn:aws:states:us-east-1:000000000000:execution:Tidemark:other",
)

MACHINE = "arn:aws:states:eu-west-1:111122223333:stateMachine:Tidemark"
EXECUTION = MACHINE.replace("stateMachine", "execution") + ":abc"
DEPLOYMENT = replace(
    Deployment(**{field.name: field.name for field in fields(Deployment)}),
    stack_name="Tidemark",
    default_table="",
    parameter_prefix="/tidemark/Tidemark",
    bucket="a-bucket",
    state_machine_arn=MACHINE,
    application_id="00app",
)

HOUR, QUARTER_HOUR = timedelta(hours=1), timedelta(minutes=15)


def at(text: str) -> datetime:
    """Read ``12:00``, ``12:00:30`` or ``14/12:00``."""
    day, _, clock = text.rpartition("/")
    hours, minutes, seconds = [*map(float, clock.split(":")), 0.0][:3]
    midnight = datetime(2026, 11, int(day or 21), tzinfo=UTC)
    return midnight + timedelta(hours=hours, minutes=minutes, seconds=seconds)


def bounds(text: str) -> tuple[datetime, ...]:
    """Read ``12:00 13:00 14:00``: the ends of touching windows, or one instant for a full export."""
    return tuple(map(at, text.split()))


def plan(text: str, mode: str = UPDATE, attempt: int = 0, source: SourceTable = SOURCE) -> RunPlan:
    """The plan with these bounds."""
    return RunPlan(mode, source.id, bounds(text), attempt)


def claim(
    found: RunPlan,
    number: int = 7,
    *,
    owner: str = OTHER,
    owner_runs: bool = False,
    refused_with: str = "",
    reported: bool = False,
) -> Claim:
    """A claim as the parameters show it; an execution always sees itself running."""
    runs = owner_runs or owner == ME
    return Claim(number, owner, found, owner_runs=runs, refused_with=refused_with, reported=reported)


def table(
    watermark: str, *, source: SourceTable = SOURCE, done: tuple[RunPlan, ...] = (), job_id: str = "job"
) -> TableState:
    """A table at a watermark, with the jobs of some plans among its commits; "" is no table."""
    if not watermark:
        return NO_TABLE
    marker = Marker(at(watermark), at(watermark), "merge", job_id, source.arn, source.id, {})
    return TableState(exists=True, marker=marker, job_ids=frozenset({job_id, *(p.job_id for p in done)}))


def seen(
    watermark: str = "12:00",
    restorable: str = "09:00-13:00",
    *,
    control: str = "RUN",
    recorded: str | None = None,
    claim: Claim | None = None,
    shows: TableState | None = None,
    source: SourceTable = SOURCE,
    execution: str = ME,
) -> Observation:
    """What is seen of a world: `recorded` is the watermark unless told otherwise; `restorable` "" is recovery off."""
    earliest, _, latest = restorable.partition("-")
    history = SourceHistory(source, at(earliest) if earliest else None, at(latest) if latest else None)
    state = table(watermark) if shows is None else shows
    told = format_instant(state.watermark) if recorded is None and state.watermark else recorded or ""
    return Observation(history, state, control, told, claim, execution)


def incident(since: str, watermark: str, *kinds: FailureKind) -> Incident:
    """An open incident, all of it told at the tick `since`, while the table was at `watermark`; "" where there was none."""
    return Incident(tuple(ToldFailure(kind, at(since), at(watermark) if watermark else None) for kind in kinds))


def behind(percent: float) -> Horizon:
    """A watermark at 12:00 that so much of a recovery period of ten days has passed since."""
    watermark = at("12:00")
    latest = watermark + timedelta(days=10) * percent / 100
    return Horizon(watermark, latest - timedelta(days=10), latest, 10)


def wish(mode: str = UPDATE, start: str = "") -> ExecutionInput:
    """What an execution was asked for."""
    return ExecutionInput("orders", mode, at(start) if start else None)


def update(world: Observation, window: timedelta = HOUR) -> Action:
    """What a scheduled run does."""
    return next_action(world, wish(), Rules(window))


def full(world: Observation) -> Action:
    """What a run does that a person asked for a full export."""
    return next_action(world, wish(FULL), Rules(HOUR))


def verify(world: Observation) -> Action:
    """What a run does that a person asked for a verification."""
    return next_action(world, wish(VERIFY), Rules(HOUR))


def backfill(world: Observation, start: str, window: timedelta = HOUR) -> Action:
    """What a run does that a person asked for a backfill."""
    return next_action(world, wish(BACKFILL, start), Rules(window))


def takes_over(world: Observation) -> Export:
    """The action that finishes the claim in force as it was planned."""
    found = world.claim
    assert found is not None
    return Export(found.plan, found.number + 1, taken_over_from=found.owner, tries=found.tries)
