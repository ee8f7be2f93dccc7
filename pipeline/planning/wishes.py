"""Wishes: what a person asks for beside an update, once for each execution. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from pipeline.errors import InputRefused
from pipeline.exports.windows import SHORTEST_WINDOW, cut
from pipeline.instants import floor_to, format_instant
from pipeline.modes import BACKFILL, CALLED, FULL, MAINTAIN, UPDATE, VERIFY
from pipeline.planning.actions import NOTHING_RESTORABLE_MESSAGE, WISH_FULFILLED, Action, Halt, Idle
from pipeline.planning.execution_input import ExecutionInput
from pipeline.planning.journal import RunPlan
from pipeline.planning.observation import Observation
from pipeline.planning.plans import new_maintenance, new_plan

#: What a backfill has to be begun in, and tried again where something is in its way, before its beginning is out of reach;
#: and what is told to whoever comes too late.
_LEAST_ROOM, _ROOM = timedelta(minutes=45), timedelta(hours=1)
#: Where no other instant would be taken either.
_NONE_YET = "Ask again once the table has caught up, from a later instant; the command has the input as it was given."


def special_wish(seen: Observation, wish: ExecutionInput, window_length: timedelta) -> Action | None:
    """What the execution was started for; None where that is an update."""
    if wish.mode == UPDATE:
        return None
    if is_fulfilled(seen, wish):
        return Idle(WISH_FULFILLED, f"The {CALLED[wish.mode]} is done.")
    if wish.mode == BACKFILL:
        return _backfill(seen, wish, window_length)
    if wish.mode == VERIFY:
        return _verify(seen)
    if wish.mode == MAINTAIN:
        return new_maintenance(seen)
    return _full(seen)


def is_fulfilled(seen: Observation, wish: ExecutionInput) -> bool:
    """Whether the execution has done what it was started for."""
    claim = seen.own_claim
    return claim is not None and serves(claim.plan, wish) and claim.is_done(seen.table)


def _full(seen: Observation) -> Action:
    """Everything anew, as of now."""
    restorable = seen.restorable
    if restorable.is_empty:
        return Halt.of(InputRefused, NOTHING_RESTORABLE_MESSAGE, "Start the execution again in a few minutes.")
    return new_plan(seen, FULL, (restorable.latest,))


def serves(plan: RunPlan, wish: ExecutionInput) -> bool:
    """Whether a plan is what was wished for: a backfill that somebody else had begun may start elsewhere."""
    return plan.mode == wish.mode and (wish.start is None or plan.start == wish.start)


def _backfill(seen: Observation, wish: ExecutionInput, window_length: timedelta) -> Action:
    """Everything from the instant asked for up to the watermark: an old window alone would undo newer changes."""
    start, watermark = wish.start, seen.table.watermark
    assert start is not None  # ExecutionInput.parse holds "from" and backfill together
    if watermark is None:
        return Halt.of(InputRefused, "there is no table yet to backfill; leave out the mode to make it")
    if start < (seen.restorable.earliest + _LEAST_ROOM if _moves(seen) else seen.restorable.earliest):
        remedy = "" if earliest_backfill(seen) else _NONE_YET
        return Halt.of(InputRefused, f"from is {format_instant(start)}; {_possible(seen, watermark)}", remedy)
    if watermark - start < SHORTEST_WINDOW:
        return Halt.of(
            InputRefused,
            f"from is {format_instant(start)}; it must lie 15 minutes or more before the watermark {format_instant(watermark)}",
        )
    windows = cut(start, watermark, window_length)
    return new_plan(seen, BACKFILL, (start, *(window.end for window in windows)))


def _possible(seen: Observation, watermark: datetime) -> str:
    """What is told to whoever comes too late."""
    if earliest := earliest_backfill(seen):
        return f"the earliest possible is {format_instant(earliest)}"
    history = f"{format_instant(seen.restorable.earliest)}, where history begins"
    return f"none is possible now: the watermark {format_instant(watermark)} is too near to {history}"


def earliest_backfill(seen: Observation) -> datetime | None:
    """From when on a backfill can be asked for, with time enough to ask; None where that is too near to the watermark."""
    earliest, watermark = seen.restorable.earliest, seen.table.watermark
    possible = floor_to(earliest + _ROOM, timedelta(minutes=1)) if _moves(seen) else earliest
    return None if watermark is None or watermark - possible < SHORTEST_WINDOW else possible


def backfill_again(seen: Observation, start: datetime) -> datetime | None:
    """From when on a backfill that was to begin then can be asked for again; None where the watermark lies before it."""
    earliest, watermark = earliest_backfill(seen), seen.table.watermark
    if earliest is None or watermark is None:
        return None
    begins = max(start, earliest)
    return None if watermark - begins < SHORTEST_WINDOW else begins


def _moves(seen: Observation) -> bool:
    """Whether all that the source keeps is there, so that the oldest of it goes with each second."""
    return seen.restorable.latest - seen.restorable.earliest > timedelta(days=seen.source.recovery_days) - _ROOM


def _verify(seen: Observation) -> Action:
    """A full export at the watermark, to be compared with the table."""
    watermark = seen.table.watermark
    latest = seen.restorable.latest
    if watermark is None:
        return Halt.of(
            InputRefused, "there is no table yet to verify", "Bring the table up to date first: leave out the mode."
        )
    if watermark > latest:
        told = f"watermark {format_instant(watermark)}; nothing after {format_instant(latest)} can be exported yet"
        return Halt.of(InputRefused, told, "Start the execution again in a few minutes.")
    return new_plan(seen, VERIFY, (watermark,))
