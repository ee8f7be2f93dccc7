"""Half-done work: whether a run finishes what another one that died had planned, and how.

It is finished as it was planned: the same exports and the same job, found by their tokens. Only what does not fit source
and table any more, or is given up, is left undone.
"""

from __future__ import annotations

from pipeline.errors import DamagedExport, error_names
from pipeline.planning.execution_input import BACKFILL, FULL, REPORTED_AS, UPDATE, VERIFY, ExecutionInput
from pipeline.planning.journal import Claim
from pipeline.planning.observation import Export, Observation

#: How many job runs of a person's wish may end without success before the schedule goes on without it.
MOST_JOB_RUNS = 3


def wish_given_up(claim: Claim) -> bool:
    """Whether a backfill or full export is left undone because its job has ended too often.

    What the schedule wants for itself is tried for ever: there is nothing else to go on with.
    """
    return claim.plan.mode in (BACKFILL, FULL) and claim.ended_runs >= MOST_JOB_RUNS and not claim.committed


def refused_for_good(seen: Observation) -> bool:
    """Whether the claim in force is undone, still fits, and its job has refused it in a way that does not heal."""
    claim = _undone(seen)
    return claim is not None and _is_refused_for_good(claim)


def half_done(seen: Observation, wish: ExecutionInput, *, for_ever: bool = False) -> Export | None:
    """The claim in force is not carried out, and nobody else is at it: finish it as it was planned.

    `for_ever`: however often its job has ended.
    """
    claim = _undone(seen)
    if claim is None:
        return None
    if claim.owner == seen.execution:
        return Export(claim.plan, claim.number, adopted=True)
    if _given_up(claim, wish, for_ever):
        return None
    plan = claim.plan.next_attempt() if _damaged(claim.refused_with) else claim.plan
    return Export(plan, claim.number + 1, taken_over_from=claim.owner)


def _undone(seen: Observation) -> Claim | None:
    """The claim in force, if what it planned is not done yet and still fits."""
    claim = seen.claim
    if claim is None or claim.is_done(seen.table) or not _still_applies(claim, seen):
        return None
    # Who rolls the table back to before a backfill or full export does not want it again.
    return None if claim.committed and claim.plan.mode in (BACKFILL, FULL) else claim


def _is_refused_for_good(claim: Claim) -> bool:
    refused = error_names().get(claim.refused_with)
    return refused is not None and not refused.heals_by_itself


def _given_up(claim: Claim, wish: ExecutionInput, for_ever: bool) -> bool:
    """Whether half-done work is left undone, so that it does not keep the schedule, or what a person asks for, from theirs.

    - A backfill or full export: after the third job run that failed, and after a refusal that does not heal.
    - A verification, or maintenance: after any refusal, and after the second run whose job died without a report.
    - Anything but a full export, and one that its job has refused: where a person asks for a full export, which helps.
    """
    if wish_given_up(claim) and not for_ever:
        return True
    if claim.plan.mode in REPORTED_AS and (claim.refused_with or claim.number > claim.plan.attempt):
        return True
    if wish.mode == FULL and (claim.plan.mode != FULL or claim.refused_with in error_names()):
        return True
    return claim.plan.mode != UPDATE and _is_refused_for_good(claim)


def _damaged(error: str) -> bool:
    """Whether the job refused files that are not what DynamoDB wrote: then only new files help."""
    known = error_names().get(error)
    return known is not None and issubclass(known, DamagedExport)


def _still_applies(claim: Claim, seen: Observation) -> bool:
    """Whether the plan still fits source and table: either may have been replaced or taken back meanwhile."""
    plan, marker = claim.plan, seen.table.marker
    if plan.source_id != seen.source.table.id or plan.start < seen.restorable.earliest:
        return False
    if plan.is_full and plan.mode != VERIFY:
        return plan.mode == FULL or not seen.table.exists
    if marker is None or marker.source_id != plan.source_id:
        return False
    return marker.watermark == (plan.start if plan.mode == UPDATE else plan.end)
