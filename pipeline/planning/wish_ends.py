"""The end of a wish: who has asked for a backfill, a full export or a verification is told once what has become of it. Pure.

The run that does it tells, as a rule. A run may end before its job does, or before its mail: then nobody would hear of the
job's refusal, or that all is done. So the next run looks whether that has been told, before it leaves the wish behind.
Maintenance has no part in this: it is due again whoever has asked for it.
"""

from __future__ import annotations

from pipeline.errors import VerificationFailed, WishGivenUp, error_names
from pipeline.instants import format_instant
from pipeline.planning.execution_input import BACKFILL, CALLED, FULL, UPDATE, VERIFY, ExecutionInput, asking
from pipeline.planning.half_done import is_refused_for_good
from pipeline.planning.journal import Claim
from pipeline.planning.observation import HANDED_OVER, Halt, Idle, Observation, Record
from pipeline.planning.wishes import serves

#: What is told to its end, also where the schedule has begun it by itself, as a full export.
TOLD_TO_THE_END = (BACKFILL, FULL, VERIFY)
ASK_FOR_IT = "Ask for it again."


def may_be_untold(seen: Observation) -> bool:
    """Whether the claim is of such a wish, and it has not been told of, by what was read before its owner was looked for."""
    claim = seen.claim
    return claim is not None and claim.plan.mode in TOLD_TO_THE_END and claim.plan.job_id != seen.told_end


def untold_end(seen: Observation, wish: ExecutionInput) -> Halt | Idle | Record | None:
    """What tells the end of the wish that was claimed last, if it has ended and nobody has been told.

    Who asks for the same again, or for everything anew, hears of that. A run for the schedule that could not tell of what it
    has done itself leaves that to the next, and begins nothing that would take its place; that one tells, once, and then the
    table is followed in any case: neither it nor a person's own wish must wait for a mail.
    """
    claim = seen.claim
    if claim is None or not may_be_untold(seen) or wish.dry_run:
        return None
    is_done, is_own = claim.is_done(seen.table), claim.owner == seen.execution
    if is_done and is_own and wish.mode == UPDATE:
        return Idle(HANDED_OVER, f"The {CALLED[claim.plan.mode]} is done and could not be told; the next run tells it.")
    if is_own or not seen.is_first_round:
        return None
    if is_done:
        return _done(seen, claim)
    return None if serves(claim.plan, wish) or wish.mode == FULL else _left_undone(seen, claim)


def _done(seen: Observation, claim: Claim) -> Record | None:
    """What has been committed or verified; not where others have committed since, whose report would be taken for it."""
    plan, marker = claim.plan, seen.table.marker
    if marker is None or (plan.mode != VERIFY and marker.job_id != plan.job_id):
        return None
    return Record(marker.watermark, seen.recorded, plan.mode, untold=plan.job_id)


def _left_undone(seen: Observation, claim: Claim) -> Halt | None:
    """What no run goes on with because its job has refused it, or, of a verification, because two of its runs have died."""
    plan = claim.plan
    table, start = seen.source.table.name, format_instant(plan.start) if plan.mode == BACKFILL else ""
    asked = asking(table, plan.mode, start)
    refused = error_names().get(claim.refused_with)
    if refused is not None and (plan.mode == VERIFY or is_refused_for_good(claim)):
        # What a verification has found does not change when it is asked for once more.
        asked = "" if refused is VerificationFailed else asked
        told = f"the {CALLED[plan.mode]} ({plan.job_id}), of which no run has told: {claim.refusal}"
        told += f" (It was asked for as {asked})" if asked else ""
        # What heals when it is tried again is not tried again here.
        remedy = ASK_FOR_IT if refused.heals_by_itself else claim.remedy or refused.default_remedy
        return Halt(refused.__name__, told, remedy, ends=plan.job_id, mode=plan.mode, asked=asked)
    if plan.mode == VERIFY and claim.number > plan.attempt:
        told = f"two runs of the verification ({plan.job_id}) have ended before its job did"
        return Halt(WishGivenUp.__name__, told, WishGivenUp.default_remedy, ends=plan.job_id, asked=asked)
    return None
