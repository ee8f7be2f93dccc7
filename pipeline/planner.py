"""The planner: turns what was observed into one action. Pure: the same observation gives the same action, always.

It answers five questions in this order, and the first that settles the matter wins:

1. May anything be planned?             control, another run at work, recovery on
2. Is there half-done work?             what a run that died had planned is finished first, as it was planned; a wish
                                        whose job has ended too often is given up, and its person is told before all else
3. Can source and table be trusted?     same source table, a watermark that makes sense
4. Was something special asked for?     backfill, full, verify
5. What has closed since the watermark? bootstrap, catch-up of everything closed, or idle
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from pipeline.errors import (
    AnotherRunAtWork,
    ControlUnknown,
    HistoryLost,
    InputRefused,
    PipelineError,
    PitrOff,
    RecoveryTooShort,
    TableRecreated,
    WatermarkAhead,
    WatermarkMissing,
    WishGivenUp,
)
from pipeline.execution_input import BACKFILL, FULL, UPDATE, VERIFY, ExecutionInput, asking
from pipeline.half_done import half_done, wish_given_up
from pipeline.instants import floor_to, format_instant
from pipeline.journal import RunPlan
from pipeline.observation import PAUSED, UP_TO_DATE, Action, Export, Halt, Idle, Observation, Record
from pipeline.windows import SHORTEST_WINDOW, closed_windows, cut, next_close

RUN, PAUSE = "RUN", "PAUSE"
#: DynamoDB's clock may differ from itself by about a minute between calls; more than this is no clock's fault.
CLOCK_TOLERANCE = timedelta(minutes=10)
NOTHING_RESTORABLE = "Point-in-time recovery was turned on a moment ago; nothing can be exported yet."


def next_action(
    seen: Observation, wish: ExecutionInput, window_length: timedelta, history_needed: timedelta = timedelta()
) -> Action:
    """Decide what this run does next.

    `window_length`: the grid that the next windows end on. `history_needed`: how much history the source must keep for
    the table's settings.
    """
    return (
        _held_back(seen, wish)
        or _give_up(seen, wish)
        or half_done(seen, wish)
        or _unfit(seen, wish)
        or _special_wish(seen, wish, window_length)
        or _update(seen, window_length, history_needed)
    )


def _halt(error: type[PipelineError], message: str, remedy: str = "") -> Halt:
    return Halt(error.__name__, message, remedy or error.default_remedy)


def _held_back(seen: Observation, wish: ExecutionInput) -> Action | None:
    """A person's control, another run at work, or recovery that is off.

    A run holds the table until it has ended, also when its job has committed: it still has to record and to tell, and a
    special wish must not be planned a second time because somebody else's claim came in between. The schedule comes
    again by itself; a person who wished something would wait in vain, so they are told.
    """
    if seen.control == PAUSE:
        return Idle(PAUSED, "The control parameter says PAUSE; set it to RUN to go on.")
    if seen.control != RUN:
        return _halt(ControlUnknown, f"control is {seen.control!r}; allowed are {RUN} and {PAUSE}")
    claim = seen.claim
    if claim and claim.owner_runs and claim.owner != seen.execution:
        return another_run(wish, f"{claim.owner} is at work on this table; this run leaves it alone.")
    if seen.source.latest is None or seen.source.earliest is None:
        return _halt(PitrOff, f"point-in-time recovery is off for {seen.source.table.name}")
    return None


def another_run(wish: ExecutionInput, message: str) -> Action:
    """What a run does that finds another one at work."""
    if wish.mode == UPDATE:
        return Idle("AnotherRun", message)
    return _halt(AnotherRunAtWork, f"the {wish.mode} was not begun: {message}")


def _give_up(seen: Observation, wish: ExecutionInput) -> Action | None:
    """A wish that is given up is told of before the schedule goes on: afterwards nobody would know of it.

    Told is what has been mailed, so that nothing but the mail itself ends this.
    """
    claim = seen.claim
    if claim is None or wish.mode != UPDATE or not wish_given_up(claim) or claim.is_done(seen.table):
        return None
    plan = claim.plan
    if plan.job_id == seen.given_up:
        return None
    start = format_instant(plan.start) if plan.mode == BACKFILL else ""
    asked = asking(seen.source.table.name, plan.mode, start)
    told = f"the job of the {plan.mode} ({plan.job_id}) has ended {claim.ended_runs} times without success"
    return Halt(WishGivenUp.__name__, told, WishGivenUp.default_remedy, plan.job_id, asked)


def _unfit(seen: Observation, wish: ExecutionInput) -> Action | None:
    """Source or table are no base for more changes; a full export would be a new base."""
    if wish.mode == FULL or not seen.table.exists:
        return None
    marker = seen.table.marker
    latest, earliest = seen.restorable
    if marker is None:
        return _halt(
            WatermarkMissing,
            "the table exists and carries no watermark that can be read, neither in a snapshot nor in a property",
        )
    if marker.source_id != seen.source.table.id:
        return _halt(
            TableRecreated,
            f"the table was loaded from {marker.source_arn} with id {marker.source_id}; "
            f"the source table's id is now {seen.source.table.id}",
        )
    watermark = format_instant(marker.watermark)
    if marker.watermark > latest + CLOCK_TOLERANCE:
        return _halt(
            WatermarkAhead, f"the watermark is {watermark}; the source can be restored only to {format_instant(latest)}"
        )
    if marker.watermark < earliest:
        return _halt(
            HistoryLost, f"the watermark is {watermark}; the source's history begins at {format_instant(earliest)}"
        )
    return None


def _special_wish(seen: Observation, wish: ExecutionInput, window_length: timedelta) -> Action | None:
    """A backfill, full export or verification asked for by a person, once for each execution."""
    if wish.mode == UPDATE:
        return None
    claim = seen.claim
    if claim and claim.owner == seen.execution and _serves(claim.plan, wish) and claim.is_done(seen.table):
        return _record(seen) or Idle("WishFulfilled", f"The {wish.mode} is done.")
    if wish.mode == BACKFILL:
        return _backfill(seen, wish, window_length)
    if wish.mode == VERIFY:
        return _verify(seen)
    latest, earliest = seen.restorable
    if latest < earliest:
        return _halt(InputRefused, NOTHING_RESTORABLE, "Start the execution again in a few minutes.")
    return _new_plan(seen, FULL, (latest,))


def _serves(plan: RunPlan, wish: ExecutionInput) -> bool:
    """Whether a plan is what was wished for: a backfill that somebody else had begun may start elsewhere."""
    return plan.mode == wish.mode and (wish.start is None or plan.start == wish.start)


def _backfill(seen: Observation, wish: ExecutionInput, window_length: timedelta) -> Action:
    """Everything from the instant asked for up to the watermark: an old window alone would undo newer changes."""
    start, watermark = wish.start, seen.table.watermark
    assert start is not None  # ExecutionInput.parse holds "from" and backfill together
    _, earliest = seen.restorable
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


def _verify(seen: Observation) -> Action:
    """A full export at the watermark, to be compared with the table."""
    watermark = seen.table.watermark
    latest, _ = seen.restorable
    if watermark is None:
        return _halt(InputRefused, "there is no table yet to verify", "Bring the table up to date first.")
    if watermark > latest:
        told = f"watermark {format_instant(watermark)}; nothing after {format_instant(latest)} can be exported yet"
        return _halt(InputRefused, told, "Start the execution again in a few minutes.")
    return _new_plan(seen, VERIFY, (watermark,))


def _update(seen: Observation, window_length: timedelta, history_needed: timedelta) -> Action:
    """Bootstrap, catch up, or idle.

    Where the source keeps too little history nothing is begun anew, but what can still be exported is.
    """
    too_short = _recovery_too_short(seen, history_needed)
    latest, earliest = seen.restorable
    watermark = seen.table.watermark
    if watermark is None and latest < earliest:
        return Idle("NothingRestorable", NOTHING_RESTORABLE)
    if watermark is None:
        on_grid = floor_to(latest, window_length)
        return too_short or _new_plan(seen, UPDATE, (on_grid if on_grid >= earliest else latest,))
    windows = closed_windows(watermark, latest, window_length)
    if windows:
        return _new_plan(seen, UPDATE, (watermark, *(window.end for window in windows)))
    until = next_close(watermark, window_length)
    told = f"The table is at {format_instant(watermark)}; nothing has closed since."
    return _record(seen) or too_short or Idle(UP_TO_DATE, told, until)


def _recovery_too_short(seen: Observation, history_needed: timedelta) -> Halt | None:
    """History that is gone before its window can be exported is lost again and again, however often it is made good."""
    kept = seen.source.recovery_days
    if history_needed <= timedelta(days=kept):
        return None
    hours = history_needed / timedelta(hours=1)
    return _halt(
        RecoveryTooShort,
        f"the source keeps {kept * 24} hours of history; a window, a tick and the time to ask take {hours:g}",
    )


def _record(seen: Observation) -> Action | None:
    """The table wins over the parameter."""
    watermark = seen.table.watermark
    if watermark is None or seen.recorded == format_instant(watermark):
        return None
    return Record(watermark, seen.recorded)


def _new_plan(seen: Observation, mode: str, bounds: tuple[datetime, ...]) -> Export:
    claim = seen.claim
    number = claim.number + 1 if claim else 1
    plan = RunPlan(mode, seen.source.table.id, bounds, attempt=number if mode == VERIFY else 0)
    if claim and wish_given_up(claim) and replace(claim.plan, attempt=0) == plan:
        plan = claim.plan.next_attempt()  # asked for again it is other work, with three job runs of its own
    return Export(plan, number)
