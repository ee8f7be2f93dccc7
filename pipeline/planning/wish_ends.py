"""The end of a wish: who has asked for a backfill, a full export or a verification is told once what has become of it. Pure.

The run that does it tells, as a rule. A run may end before its job does, or before its mail: then nobody would hear of the
job's refusal, or that all is done. So the next run looks whether that has been told, before it leaves the wish behind.
Nor would anybody hear of what was begun, and fits neither source nor table any more, so that no run can finish it.
Maintenance has no part in this: it is due again whoever has asked for it.
"""

from __future__ import annotations

from pipeline.errors import HistoryLost, TableGone, VerificationFailed, WishGivenUp
from pipeline.instants import format_instant, format_optional
from pipeline.modes import BACKFILL, CALLED, FULL, TOLD_TO_THE_END, UPDATE, VERIFY
from pipeline.planning.actions import HANDED_OVER, Halt, Idle, Record
from pipeline.planning.execution_input import ExecutionInput, asking
from pipeline.planning.half_done import is_refused_for_good, out_of_reach, still_applies
from pipeline.planning.journal import Claim, RunPlan
from pipeline.planning.observation import Observation
from pipeline.planning.rules import Rules
from pipeline.planning.trust import unfit
from pipeline.planning.wishes import backfill_again, serves

ASK_FOR_IT = "Ask for it again."
ASK_LATER = "Ask for it again once the table is up to date."
_CATCH_UP = "Let the table catch up: it shows then what the backfill was to bring."
_FULL_BRINGS = "A full export brings what the backfill was to bring; the table needs one anyway, as the next run says."


def may_be_untold(seen: Observation) -> bool:
    """Whether the claim is of such a wish, and it has not been told of, by what was read before its owner was looked for."""
    claim = seen.claim
    return claim is not None and claim.plan.mode in TOLD_TO_THE_END and claim.plan.job_id != seen.told_end


def untold_end(seen: Observation, wish: ExecutionInput, rules: Rules) -> Halt | Idle | Record | None:
    """What tells the end of the wish that was claimed last, if it has ended and nobody has been told.

    Who asks for the same again, or for everything anew, hears of that. A run for the schedule that could not tell of what it
    has done itself leaves that to the next, and begins nothing that would take its place; that one tells, once, and then the
    table is followed in any case: neither it nor a person's own wish must wait for a mail.
    """
    claim = seen.claim
    if claim is None or not may_be_untold(seen) or wish.dry_run:
        return None
    is_done, is_own = claim.is_done(seen.table), seen.own_claim is not None
    if is_done and is_own and wish.mode == UPDATE:
        return Idle(HANDED_OVER, f"The {CALLED[claim.plan.mode]} is done and could not be told; the next run tells it.")
    if is_own or not seen.is_first_round:
        return None
    if is_done:
        return _done(seen, claim)
    return None if serves(claim.plan, wish) or wish.mode == FULL else _left_undone(seen, claim, rules)


def _done(seen: Observation, claim: Claim) -> Record | None:
    """What has been committed or verified; not where others have committed since, whose report would be taken for it."""
    plan, marker = claim.plan, seen.table.marker
    if marker is None or (plan.mode != VERIFY and marker.job_id != plan.job_id):
        return None
    return Record(marker.watermark, seen.recorded, plan.mode, untold=plan.job_id)


def _left_undone(seen: Observation, claim: Claim, rules: Rules) -> Halt | None:
    """What no run goes on with: refused by its job, of a verification left by two runs that died, or for what is no more."""
    plan, table = claim.plan, seen.source.table.name
    asked = asking(table, plan.mode, format_instant(plan.start))
    refused = claim.refused_as
    if refused is not None and (plan.mode == VERIFY or is_refused_for_good(claim)):
        told = f"the {CALLED[plan.mode]} ({plan.job_id}), of which no run has told: {claim.refusal}"
        begins = backfill_again(seen, plan.start) if plan.mode == BACKFILL else plan.start
        if refused is VerificationFailed:
            asked = ""  # what a verification has found does not change when it is asked for once more
        else:
            told += f" (It was asked for as {asked})"
            asked = asking(table, plan.mode, format_instant(begins)) if begins else ""
        # What heals when it is tried again is not tried again here.
        remedy = ASK_FOR_IT if refused.heals_by_itself else claim.remedy
        remedy = ASK_LATER if refused is TableGone else remedy
        return Halt.of(refused, told, remedy, ends=plan.job_id, mode=plan.mode, asked=asked)
    if plan.mode == VERIFY and claim.is_second_try:
        told = f"two runs of the verification ({plan.job_id}) have ended before its job did"
        return Halt.of(WishGivenUp, told, ends=plan.job_id, asked=asked)
    # One that comes too late is given up for that; one that was committed was rolled back by somebody who does not want it.
    if claim.committed or still_applies(claim, seen) or out_of_reach(seen):
        return None
    # As long as there is a table, nothing but another full export follows one.
    return None if plan.mode == FULL and seen.table.exists else _passed_by(seen, plan, rules)


def _passed_by(seen: Observation, plan: RunPlan, rules: Rules) -> Halt:
    """A wish that was begun for a source, or for a state of the table, that is no more."""
    table, told = seen.source.table.name, f"the {CALLED[plan.mode]} ({plan.job_id}) {_why(seen, plan)}"
    begins = backfill_again(seen, plan.start) if plan.mode == BACKFILL else None
    asked, remedy = asking(table, plan.mode, format_optional(begins)), ASK_FOR_IT
    lost = unfit(seen, ExecutionInput(table))
    if plan.mode == VERIFY:
        remedy = ASK_LATER
    elif not seen.table.exists or (lost and lost.error == HistoryLost.__name__ and rules.rebuilds):
        asked, remedy = "", made_anew(plan.mode)
    elif lost:
        asked, remedy = asking(table, FULL), _FULL_BRINGS
    elif begins is None:  # of a backfill, as a full export is passed by only where there is no table
        asked, remedy = asking(table, UPDATE), _CATCH_UP
    return Halt.of(WishGivenUp, told, remedy, ends=plan.job_id, asked=asked)


def _why(seen: Observation, plan: RunPlan) -> str:
    source, marker, end = seen.source.table, seen.table.marker, format_instant(plan.end)
    if plan.source_id != source.id:
        return f"was begun for a source table with id {plan.source_id}; it is another one now, with id {source.id}"
    if plan.start < seen.restorable.earliest:
        earliest = format_instant(seen.restorable.earliest)
        return f"was to read the source as of {end}; nothing before {earliest} can be exported any more"
    if marker is None or marker.source_id != plan.source_id:
        return f"was begun for a table at {end}, which is gone or another one now"
    return f"was begun for the table at {end}; it is at {format_instant(marker.watermark)} now"


def made_anew(mode: str) -> str:
    """What is told of a wish that the next run's full export makes good."""
    return f"Nothing: the next run makes the table anew, which then shows what the {CALLED[mode]} was to bring."
