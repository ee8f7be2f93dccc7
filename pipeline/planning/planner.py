"""The planner: turns what was observed into one action. Pure: the same observation gives the same action, always.

It asks these questions in this order, and the first that has an answer decides:

1.  May anything be planned?              control, another run at work, recovery on
2.  Has a wish ended, and nobody told?    who asked is told: its run died before it could tell, or source or table changed
3.  Is history lost?                      the schedule makes a full export, where the settings say so
4.  Is a wish to be given up?             its job has ended too often, or it waited too long: its person is told first
5.  Is there half-done work?              what a run that died had planned is finished, as it was planned
6.  Can source and table be trusted?      same source table, a watermark that makes sense, history that reaches back to it
7.  Does last-export-time differ?         it is corrected, and told, before anything new is begun
8.  Has a person wished for something?    backfill, full, verify, maintain
9.  Is maintenance long overdue?          then it comes before the windows, once
10. What has closed since the watermark?  bootstrap, or catch-up of everything that has closed
11. Is maintenance due?                   else the table is up to date, and the run idles

A run that has been at work for long begins none of the last three: the next tick does.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from pipeline.errors import (
    AnotherRunAtWork,
    ControlUnknown,
    HistoryLost,
    PitrOff,
    TablePaused,
    WishGivenUp,
)
from pipeline.exports.windows import closed_windows, next_close
from pipeline.instants import floor_to, format_instant, format_optional
from pipeline.modes import BACKFILL, CALLED, FULL, MAINTAIN, UPDATE
from pipeline.places import PAUSE, RUN
from pipeline.planning.actions import (
    ANOTHER_RUN,
    HANDED_OVER,
    NOTHING_RESTORABLE,
    NOTHING_RESTORABLE_MESSAGE,
    PAUSED,
    UP_TO_DATE,
    Action,
    Export,
    Halt,
    Idle,
)
from pipeline.planning.corrections import correction, record
from pipeline.planning.execution_input import ExecutionInput, asking
from pipeline.planning.half_done import full_refused_for_good, half_done, out_of_reach, wish_given_up
from pipeline.planning.observation import Observation
from pipeline.planning.plans import new_maintenance, new_plan
from pipeline.planning.rules import Rules
from pipeline.planning.trust import load_too_long, recovery_too_short, unfit
from pipeline.planning.wish_ends import ASK_FOR_IT, made_anew, untold_end
from pipeline.planning.wishes import backfill_again, serves, special_wish
from pipeline.table.maintenance import is_due

_NONE_POSSIBLE = (
    "No backfill is possible now, so near is the watermark to where history begins. Let the table catch up first."
)
#: A run that has been at work for so long begins no other round: one takes two days of waiting for exports at the most, and
#: Step Functions ends the run after seven.
LONGEST_SERIES = timedelta(days=1)
#: Maintenance is overdue when so many times as much history has come in as it is due after.
_OVERDUE = 2


def next_action(seen: Observation, wish: ExecutionInput, rules: Rules) -> Action:
    """Decide what this run does next."""
    return (
        _held_back(seen, wish)
        or untold_end(seen, wish, rules)
        or _rebuild(seen, wish, rules)
        or _give_up(seen, wish)
        or half_done(seen, wish)
        or unfit(seen, wish)
        or correction(seen, wish)
        or special_wish(seen, wish, rules.window_length)
        or _handed_over(seen, _next_work(seen, rules))
        or _up_to_date(seen, rules.window_length)
    )


def _next_work(seen: Observation, rules: Rules) -> Action | None:
    """What the table needs that nobody has to ask for."""
    return (
        # Where every round takes as long as a window, something has always closed: overdue maintenance goes first, once.
        _maintenance(seen, _OVERDUE * rules.maintain_every)
        or _update(seen, rules)
        or _maintenance(seen, rules.maintain_every)
    )


def _handed_over(seen: Observation, work: Action | None) -> Action | None:
    """The work, or the end of a run that has gone on for long because something had always closed.

    Step Functions ends an execution after 25,000 events, and the machine after seven days, in the middle of whatever it does.
    """
    if isinstance(work, Export) and seen.at_work >= LONGEST_SERIES:
        return Idle(HANDED_OVER, "This run has been at work for a day; the next tick goes on from here.")
    return work


def _held_back(seen: Observation, wish: ExecutionInput) -> Action | None:
    """A person's control, another run at work, or recovery that is off.

    A run holds the table until it has ended, also when its job has committed: it still has to record and to tell, and a wish
    must not be planned twice because somebody else's claim came in between. The schedule comes again by itself; a person
    who wished something would wait in vain, so they are told.
    """
    is_at_it = seen.own_claim and serves(seen.own_claim.plan, wish)
    if seen.control == PAUSE and wish.mode != UPDATE and not is_at_it:
        return Halt.of(TablePaused, f"the {CALLED[wish.mode]} was not begun: the control parameter says PAUSE")
    if seen.control == PAUSE:
        return Idle(PAUSED, "The control parameter says PAUSE; set it to RUN to go on.")
    if seen.control != RUN:
        return Halt.of(ControlUnknown, f"control is {seen.control!r}; allowed are {RUN} and {PAUSE}")
    if seen.other_at_work:
        return another_run(wish, f"{seen.other_at_work} is at work on this table; this run leaves it alone.")
    if seen.source.restorable is None:
        return Halt.of(PitrOff, f"point-in-time recovery is off for {seen.source.table.name}")
    return None


def another_run(wish: ExecutionInput, message: str) -> Action:
    """What a run does that finds another one at work."""
    if wish.mode == UPDATE:
        return Idle(ANOTHER_RUN, message)
    return Halt.of(AnotherRunAtWork, f"the {CALLED[wish.mode]} was not begun: {message}")


def _give_up(seen: Observation, wish: ExecutionInput) -> Halt | None:
    """Tell of a wish whose job has failed too often, or that has waited too long, before anything else takes its place.

    Once, also where its mail cannot be sent, however often that is tried: a table must not wait for it.
    """
    claim = seen.claim
    is_too_late = out_of_reach(seen)
    if claim is None or not (wish_given_up(claim) or is_too_late) or claim.is_done(seen.table):
        return None
    if (plan := claim.plan).job_id == seen.told_end or serves(plan, wish):
        return None
    begins = backfill_again(seen, plan.start)
    is_possible = begins is not None or plan.mode != BACKFILL
    asked = asking(seen.source.table.name, plan.mode if is_possible else UPDATE, format_optional(begins))
    told, helps = f"the {CALLED[plan.mode]} ({plan.job_id}) ", WishGivenUp.default_remedy
    if is_too_late:
        earliest = format_instant(seen.restorable.earliest)
        told += f"was to begin at {format_instant(plan.start)}; nothing before {earliest} can be exported any more"
        helps = ASK_FOR_IT
    else:
        told += f"has ended {max(claim.failed_runs, claim.tries)} times without success"
    if plan.mode == BACKFILL and begins != plan.start:
        helps = f"{helps.removesuffix('.')}; a backfill begins at a later instant then."
    remedy = helps if is_possible else _NONE_POSSIBLE
    if not seen.table.exists and (is_too_late or not is_possible):
        asked, remedy = "", made_anew(plan.mode)
    return Halt.of(WishGivenUp, told, remedy, ends=plan.job_id, asked=asked)


def _rebuild(seen: Observation, wish: ExecutionInput, rules: Rules) -> Action | None:
    """A full export by the schedule itself, in the place of a Halt for lost history, if the settings say so.

    Tried for ever where its job has died: there is nothing else to go on with. But one that its job has refused for good
    is not paid for again, one with damaged files three times, and none is begun where history would be lost again at once.
    A backfill that is undone is lost with its history: its person is told first.
    """
    lost = unfit(seen, wish)
    if not rules.rebuilds or wish.mode != UPDATE or lost is None or lost.error != HistoryLost.__name__:
        return None
    restorable = seen.restorable
    if restorable.is_empty:
        return Idle(NOTHING_RESTORABLE, NOTHING_RESTORABLE_MESSAGE)
    if seen.claim and seen.claim.plan.mode == BACKFILL and (given_up := _give_up(seen, wish)):
        return replace(given_up, remedy=made_anew(BACKFILL), asked="")
    begun = half_done(seen, wish, for_ever=True)
    if begun or full_refused_for_good(seen):
        return begun
    anew = replace(new_plan(seen, FULL, (restorable.latest,)), because=lost.message)
    return recovery_too_short(seen, rules.history_needed) or load_too_long(seen) or anew


def _update(seen: Observation, rules: Rules) -> Action | None:
    """Bootstrap, or catch up, or else the correction that was passed over; None where the table is as it should be.

    Where the source keeps too little history nothing is begun anew, but what can still be exported is.
    """
    too_short = recovery_too_short(seen, rules.history_needed)
    restorable, watermark = seen.restorable, seen.table.watermark
    if watermark is None and restorable.is_empty:
        return Idle(NOTHING_RESTORABLE, NOTHING_RESTORABLE_MESSAGE)
    if watermark is None:
        on_grid = floor_to(restorable.latest, rules.window_length)
        return too_short or new_plan(seen, UPDATE, (on_grid if on_grid >= restorable.earliest else restorable.latest,))
    windows = closed_windows(watermark, restorable.latest, rules.window_length)
    if windows:
        return new_plan(seen, UPDATE, (watermark, *(window.end for window in windows)))
    return record(seen) or too_short


def _maintenance(seen: Observation, every: timedelta) -> Action | None:
    """Maintenance by the schedule itself, if it is due; once at a watermark, whatever becomes of it."""
    plan = seen.claim.plan if seen.claim else None
    tried = plan and plan.mode == MAINTAIN and plan.end == seen.table.watermark
    return None if tried or not is_due(seen.table, every) else new_maintenance(seen)


def _up_to_date(seen: Observation, window_length: timedelta) -> Idle:
    watermark = seen.table.watermark
    assert watermark is not None  # else there was a bootstrap to plan
    told = f"The table is at {format_instant(watermark)}; nothing has closed since."
    return Idle(UP_TO_DATE, told, next_close(watermark, window_length))
