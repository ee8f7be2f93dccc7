"""The planner: turns what was observed into one action. Pure: the same observation gives the same action, always.

It answers five questions in this order, and the first that settles the matter wins:

1. May anything be planned?            control, another run at work
2. Can source and table be trusted?    recovery on, same source table, a watermark that makes sense
3. Is there half-done work?            the claim of a run that died is finished first, as it was planned
4. Was something special asked for?    backfill, full
5. What has closed since the watermark? bootstrap, catch-up of everything closed, or idle
"""

from __future__ import annotations

from datetime import datetime, timedelta

from pipeline.errors import (
    ControlUnknown,
    DamagedExport,
    HistoryLost,
    InputRefused,
    PipelineError,
    PitrOff,
    TableRecreated,
    WatermarkAhead,
    WatermarkMissing,
    error_names,
)
from pipeline.execution_input import BACKFILL, FULL, UPDATE, ExecutionInput
from pipeline.instants import floor_to, format_instant, whole_second
from pipeline.journal import Claim, RunPlan
from pipeline.observation import Action, Export, Halt, Idle, Observation, Record
from pipeline.windows import SHORTEST_WINDOW, closed_windows, cut, next_close

RUN, PAUSE = "RUN", "PAUSE"
#: DynamoDB's clock may differ from itself by about a minute between calls; more than this is no clock's fault.
CLOCK_TOLERANCE = timedelta(minutes=10)


def next_action(seen: Observation, wish: ExecutionInput, window_length: timedelta) -> Action:
    """Decide what this run does next."""
    return (
        _held_back(seen)
        or _source_unfit(seen, wish)
        or _half_done(seen)
        or _table_unfit(seen, wish)
        or _special_wish(seen, wish, window_length)
        or _update(seen, window_length)
    )


def _halt(error: type[PipelineError], message: str, remedy: str = "") -> Halt:
    return Halt(error.__name__, message, remedy or error.default_remedy)


def _held_back(seen: Observation) -> Action | None:
    """A person's control, or another run at work."""
    if seen.control == PAUSE:
        return Idle("Paused", "The control parameter says PAUSE; set it to RUN to go on.")
    if seen.control != RUN:
        return _halt(ControlUnknown, f"control is {seen.control!r}; allowed are {RUN} and {PAUSE}")
    claim = seen.claim
    if claim and claim.owner_runs and claim.owner != seen.execution and not claim.is_done(seen.table):
        return Idle("AnotherRun", f"{claim.owner} is at work on this table; this run leaves it alone.")
    return None


def _source_unfit(seen: Observation, wish: ExecutionInput) -> Action | None:
    """The source cannot be exported, or is not the table we know."""
    if seen.source.latest is None or seen.source.earliest is None:
        return _halt(PitrOff, f"point-in-time recovery is off for {seen.source.table.name}")
    marker = seen.table.marker
    if marker and marker.source_id != seen.source.table.id and wish.mode != FULL and not _finishes_full(seen):
        return _halt(
            TableRecreated,
            f"the table was loaded from {marker.source_arn} with id {marker.source_id}; "
            f"the source table's id is now {seen.source.table.id}",
        )
    return None


def _finishes_full(seen: Observation) -> bool:
    """Whether a full export that a person asked for is under way for the present source table."""
    claim = seen.claim
    return claim is not None and claim.plan.mode == FULL and claim.plan.source_id == seen.source.table.id


def _half_done(seen: Observation) -> Action | None:
    """The claim in force is not carried out, and nobody else is at it: finish it as it was planned."""
    claim = seen.claim
    if claim is None or claim.is_done(seen.table) or not _still_applies(claim, seen):
        return None
    if claim.owner == seen.execution:
        return Export(claim.plan, claim.number, adopted=True)
    plan = claim.plan.next_attempt() if _damaged(claim.refused_with) else claim.plan
    return Export(plan, claim.number + 1, taken_over_from=claim.owner)


def _damaged(error: str) -> bool:
    """Whether the job refused files that are not what DynamoDB wrote: then only new files help."""
    known = error_names().get(error)
    return known is not None and issubclass(known, DamagedExport)


def _still_applies(claim: Claim, seen: Observation) -> bool:
    """Whether the plan still fits the table: it may have been rolled back, replaced or re-created meanwhile."""
    plan, watermark = claim.plan, seen.table.watermark
    _, earliest = _range(seen)
    if plan.source_id != seen.source.table.id or plan.start < earliest:
        return False
    if plan.mode == BACKFILL:
        return plan.end == watermark
    if plan.is_full:
        return plan.mode == FULL or not seen.table.exists
    return plan.start == watermark


def _table_unfit(seen: Observation, wish: ExecutionInput) -> Action | None:
    """The table is no base for more changes; a full export would be a new base."""
    if wish.mode == FULL or not seen.table.exists:
        return None
    watermark = seen.table.watermark
    latest, earliest = _range(seen)
    if watermark is None:
        return _halt(
            WatermarkMissing, "the table exists and carries no watermark, neither in a snapshot nor in a property"
        )
    if watermark > latest + CLOCK_TOLERANCE:
        return _halt(
            WatermarkAhead,
            f"the watermark is {format_instant(watermark)}; the source can be restored only to {format_instant(latest)}",
        )
    if watermark < earliest:
        return _halt(
            HistoryLost,
            f"the watermark is {format_instant(watermark)}; the source's history begins at {format_instant(earliest)}",
        )
    return None


def _range(seen: Observation) -> tuple[datetime, datetime]:
    """Latest and earliest restorable time, in whole seconds inside the range."""
    assert seen.source.latest is not None and seen.source.earliest is not None  # _source_unfit came first
    earliest = whole_second(seen.source.earliest)
    if earliest < seen.source.earliest:
        earliest += timedelta(seconds=1)
    return whole_second(seen.source.latest), earliest


def _special_wish(seen: Observation, wish: ExecutionInput, window_length: timedelta) -> Action | None:
    """A backfill or full export asked for by a person, once for each execution."""
    if wish.mode == UPDATE:
        return None
    claim = seen.claim
    if claim and claim.owner == seen.execution and claim.plan.mode == wish.mode and claim.is_done(seen.table):
        return _record(seen) or Idle("WishFulfilled", f"The {wish.mode} is done.")
    if wish.mode == FULL:
        latest, _ = _range(seen)
        return _new_plan(seen, FULL, (latest,))
    return _backfill(seen, wish, window_length)


def _backfill(seen: Observation, wish: ExecutionInput, window_length: timedelta) -> Action:
    """Everything from the instant asked for up to the watermark: an old window alone would undo newer changes."""
    start, watermark = wish.start, seen.table.watermark
    assert start is not None  # ExecutionInput.parse holds "from" and backfill together
    _, earliest = _range(seen)
    if watermark is None:
        return _halt(InputRefused, "there is no table yet to backfill; leave out the mode to make it")
    if start < earliest:
        return _halt(
            InputRefused,
            f"from is {format_instant(start)}; the earliest possible is {format_instant(earliest)}",
        )
    if watermark - start < SHORTEST_WINDOW:
        return _halt(
            InputRefused,
            f"from is {format_instant(start)}; it must lie 15 minutes or more before the watermark {format_instant(watermark)}",
        )
    windows = cut(start, watermark, window_length)
    return _new_plan(seen, BACKFILL, (start, *(window.end for window in windows)))


def _update(seen: Observation, window_length: timedelta) -> Action:
    """Bootstrap, catch up, or idle."""
    latest, earliest = _range(seen)
    watermark = seen.table.watermark
    if watermark is None and latest < earliest:
        return Idle(
            "NothingRestorable", "Point-in-time recovery was turned on a moment ago; nothing can be exported yet."
        )
    if watermark is None:
        on_grid = floor_to(latest, window_length)
        return _new_plan(seen, UPDATE, (on_grid if on_grid >= earliest else latest,))
    windows = closed_windows(watermark, latest, window_length)
    if windows:
        return _new_plan(seen, UPDATE, (watermark, *(window.end for window in windows)))
    until = next_close(watermark, window_length)
    return _record(seen) or Idle(
        "UpToDate", f"The table is at {format_instant(watermark)}; nothing has closed since.", until
    )


def _record(seen: Observation) -> Action | None:
    """The table wins over the parameter."""
    watermark = seen.table.watermark
    if watermark is None or seen.recorded == format_instant(watermark):
        return None
    return Record(watermark, seen.recorded)


def _new_plan(seen: Observation, mode: str, bounds: tuple[datetime, ...]) -> Export:
    number = seen.claim.number + 1 if seen.claim else 1
    return Export(RunPlan(mode, seen.source.table.id, bounds), number)
