"""The planner: turns what was observed into one action. Pure: the same observation gives the same action, always.

It answers five questions in this order, and the first that settles the matter wins:

1. May anything be planned?             control, another run at work, recovery on
2. Is there half-done work?             what a run that died had planned is finished first, as it was planned; a wish
                                        whose job has ended too often is given up, and its person is told before all else
3. Can source and table be trusted?     same source table, a watermark that makes sense
                                        lost history is made good by a full export, where the settings say so
4. Was something special asked for?     backfill, full, verify, maintain
5. What has closed since the watermark? bootstrap, catch-up of everything closed; else maintenance, if it is due, or idle
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from pipeline.errors import (
    AnotherRunAtWork,
    ControlUnknown,
    HistoryLost,
    InputRefused,
    PitrOff,
    TablePaused,
    WishGivenUp,
)
from pipeline.execution_input import BACKFILL, FULL, MAINTAIN, REPORTED_AS, UPDATE, VERIFY, ExecutionInput, asking
from pipeline.half_done import half_done, refused_for_good, wish_given_up
from pipeline.instants import floor_to, format_instant
from pipeline.journal import RunPlan
from pipeline.maintenance import is_due
from pipeline.observation import PAUSED, UP_TO_DATE, Action, Export, Halt, Idle, Observation, Record
from pipeline.trust import halt, recovery_too_short, unfit
from pipeline.windows import SHORTEST_WINDOW, closed_windows, cut, next_close

RUN, PAUSE = "RUN", "PAUSE"
#: So many times as much history as maintenance is due after, and it waits for nothing more to close.
_OVERDUE = 2
NOTHING_RESTORABLE = "Point-in-time recovery was turned on a moment ago; nothing can be exported yet."


def next_action(
    seen: Observation,
    wish: ExecutionInput,
    window_length: timedelta,
    history_needed: timedelta = timedelta(),
    *,
    maintain_every: timedelta = timedelta(),
    rebuilds: bool = False,
) -> Action:
    """Decide what this run does next.

    `window_length`: the grid that the next windows end on. `history_needed`: how much history the source must keep for the
    settings. `maintain_every`: after how much history the files are put in order by the schedule; zero for never.
    `rebuilds`: whether it loads the table anew where history is lost.
    """
    return (
        _held_back(seen, wish)
        or (_rebuild(seen, wish, history_needed) if rebuilds else None)
        or _give_up(seen, wish)
        or half_done(seen, wish)
        or unfit(seen, wish)
        or _special_wish(seen, wish, window_length)
        # Where every round takes as long as a window, something has always closed: then it comes first for once.
        or _maintenance(seen, _OVERDUE * maintain_every)
        or _update(seen, window_length, history_needed)
        or _maintenance(seen, maintain_every)
        or _up_to_date(seen, window_length)
    )


def _held_back(seen: Observation, wish: ExecutionInput) -> Action | None:
    """A person's control, another run at work, or recovery that is off.

    A run holds the table until it has ended, also when its job has committed: it still has to record and to tell, and a wish
    must not be planned twice because somebody else's claim came in between. The schedule comes again by itself; a person
    who wished something would wait in vain, so they are told.
    """
    claim = seen.claim
    if seen.control == PAUSE and wish.mode != UPDATE and (claim is None or claim.owner != seen.execution):
        return halt(TablePaused, f"the {wish.mode} was not begun: the control parameter says PAUSE")
    if seen.control == PAUSE:
        return Idle(PAUSED, "The control parameter says PAUSE; set it to RUN to go on.")
    if seen.control != RUN:
        return halt(ControlUnknown, f"control is {seen.control!r}; allowed are {RUN} and {PAUSE}")
    if claim and claim.owner_runs and claim.owner != seen.execution:
        return another_run(wish, f"{claim.owner} is at work on this table; this run leaves it alone.")
    if seen.source.latest is None or seen.source.earliest is None:
        return halt(PitrOff, f"point-in-time recovery is off for {seen.source.table.name}")
    return None


def another_run(wish: ExecutionInput, message: str) -> Action:
    """What a run does that finds another one at work."""
    if wish.mode == UPDATE:
        return Idle("AnotherRun", message)
    return halt(AnotherRunAtWork, f"the {wish.mode} was not begun: {message}")


def _give_up(seen: Observation, wish: ExecutionInput) -> Action | None:
    """A wish that is given up is told of before the schedule goes on: afterwards nobody would know of it.

    Told is what has been mailed, so that nothing but the mail itself ends this.
    """
    claim = seen.claim
    if claim is None or wish.mode != UPDATE or not wish_given_up(claim) or claim.is_done(seen.table):
        return None
    if (plan := claim.plan).job_id == seen.given_up:
        return None
    start = format_instant(plan.start) if plan.mode == BACKFILL else ""
    asked = asking(seen.source.table.name, plan.mode, start)
    told = f"the job of the {plan.mode} ({plan.job_id}) has ended {claim.ended_runs} times without success"
    return Halt(WishGivenUp.__name__, told, WishGivenUp.default_remedy, plan.job_id, asked)


def _rebuild(seen: Observation, wish: ExecutionInput, history_needed: timedelta) -> Action | None:
    """A full export by the schedule itself, in the place of a Halt for lost history.

    Tried for ever, with the same export: there is nothing else to go on with. But one that its job has refused for good
    is not paid for again, and none is begun where history would be lost again at once.
    """
    lost = unfit(seen, wish)
    if wish.mode != UPDATE or lost is None or lost.error != HistoryLost.__name__:
        return None
    latest, earliest = seen.restorable
    if latest < earliest:
        return Idle("NothingRestorable", NOTHING_RESTORABLE)
    begun = half_done(seen, wish, for_ever=True)
    if begun or refused_for_good(seen):
        return begun
    return recovery_too_short(seen, history_needed) or replace(_new_plan(seen, FULL, (latest,)), because=lost.message)


def _special_wish(seen: Observation, wish: ExecutionInput, window_length: timedelta) -> Action | None:
    """What a person has asked for beside an update, once for each execution."""
    if wish.mode == UPDATE:
        return None
    claim = seen.claim
    if claim and claim.owner == seen.execution and _serves(claim.plan, wish) and claim.is_done(seen.table):
        return _record(seen) or Idle("WishFulfilled", f"The {wish.mode} is done.")
    if wish.mode == BACKFILL:
        return _backfill(seen, wish, window_length)
    if wish.mode == VERIFY:
        return _verify(seen)
    if wish.mode == MAINTAIN:
        return _maintain(seen)
    latest, earliest = seen.restorable
    if latest < earliest:
        return halt(InputRefused, NOTHING_RESTORABLE, "Start the execution again in a few minutes.")
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
        return halt(InputRefused, "there is no table yet to backfill; leave out the mode to make it")
    if start < earliest:
        return halt(
            InputRefused,
            f"from is {format_instant(start)}; the earliest possible is {format_instant(earliest)}",
        )
    if watermark - start < SHORTEST_WINDOW:
        return halt(
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
        return halt(InputRefused, "there is no table yet to verify", "Bring the table up to date first.")
    if watermark > latest:
        told = f"watermark {format_instant(watermark)}; nothing after {format_instant(latest)} can be exported yet"
        return halt(InputRefused, told, "Start the execution again in a few minutes.")
    return _new_plan(seen, VERIFY, (watermark,))


def _maintain(seen: Observation) -> Action:
    """The table's files put in order, its content as it is."""
    watermark = seen.table.watermark
    if watermark is None:
        return halt(InputRefused, "there is no table yet to maintain", "Bring the table up to date first.")
    return _new_plan(seen, MAINTAIN, (watermark,))


def _update(seen: Observation, window_length: timedelta, history_needed: timedelta) -> Action | None:
    """Bootstrap, or catch up; None where the table is as it should be.

    Where the source keeps too little history nothing is begun anew, but what can still be exported is.
    """
    too_short = recovery_too_short(seen, history_needed)
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
    return _record(seen) or too_short


def _maintenance(seen: Observation, every: timedelta) -> Action | None:
    """Maintenance by the schedule itself, if it is due; once at a watermark, whatever becomes of it."""
    plan = seen.claim.plan if seen.claim else None
    tried = plan and plan.mode == MAINTAIN and plan.end == seen.table.watermark
    return None if tried or not is_due(seen.table, every) else _maintain(seen)


def _up_to_date(seen: Observation, window_length: timedelta) -> Idle:
    watermark = seen.table.watermark
    assert watermark is not None  # else there was a bootstrap to plan
    told = f"The table is at {format_instant(watermark)}; nothing has closed since."
    return Idle(UP_TO_DATE, told, next_close(watermark, window_length))


def _record(seen: Observation) -> Action | None:
    """The table wins over the parameter."""
    watermark = seen.table.watermark
    if watermark is None or seen.recorded == format_instant(watermark):
        return None
    return Record(watermark, seen.recorded)


def _new_plan(seen: Observation, mode: str, bounds: tuple[datetime, ...]) -> Export:
    claim = seen.claim
    number = claim.number + 1 if claim else 1
    plan = RunPlan(mode, seen.source.table.id, bounds, attempt=number if mode in REPORTED_AS else 0)
    if claim and (wish_given_up(claim) or claim.committed) and replace(claim.plan, attempt=0) == plan:
        # Asked for again, given up or rolled back, it is other work, with job runs and a report of its own.
        plan = claim.plan.next_attempt()
    while plan.job_id in seen.table.job_ids:  # it was done, and somebody may have changed the table since
        plan = plan.next_attempt()
    return Export(plan, number)
