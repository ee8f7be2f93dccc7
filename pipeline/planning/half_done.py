"""Half-done work: whether a run finishes what another one that died had planned, and how.

It is finished as it was planned: the same exports and the same job, found by their tokens. Only what does not fit source
and table any more, or is given up, is left undone.
"""

from __future__ import annotations

from pipeline.errors import DamagedExport
from pipeline.modes import FULL, REPORTED_AS, UPDATE, VERIFY, WISHES_FOR_ROWS
from pipeline.planning.actions import Export, Halt
from pipeline.planning.execution_input import ExecutionInput
from pipeline.planning.journal import Claim
from pipeline.planning.observation import Observation

#: How many job runs of a person's wish may end without success before the schedule goes on without it.
MOST_JOB_RUNS = 3
#: How often the schedule tries what its job refuses each time, before it waits for a person: exports and jobs cost money.
MOST_TRIES = 3
_TRY_AGAIN = "Once the cause is removed, start a run: it tries again at once."


def wish_given_up(claim: Claim) -> bool:
    """Whether a backfill or full export is left undone because its job has ended too often, or its files are damaged."""
    too_often = claim.failed_runs >= MOST_JOB_RUNS or _is_damaged_for_good(claim)
    return claim.plan.mode in WISHES_FOR_ROWS and too_often and not claim.committed


def out_of_reach(seen: Observation) -> bool:
    """Whether the claim in force is a backfill or full export, undone, that can no longer be exported from its beginning.

    One that its job has refused for good is left undone for that, as its mail has said.
    """
    claim = _open(seen, *WISHES_FOR_ROWS)
    return claim is not None and not is_refused_for_good(claim) and claim.plan.start < seen.restorable.earliest


def full_refused_for_good(seen: Observation) -> bool:
    """Whether the claim in force is a full export that its job has refused and that is not tried again, in reach or not."""
    claim = _open(seen, FULL)
    return claim is not None and (is_refused_for_good(claim) or _is_damaged_for_good(claim))


def _open(seen: Observation, *modes: str) -> Claim | None:
    """The claim in force, if it is for one of these on this source, and the table has not shown it; in reach or not."""
    claim = seen.claim
    if claim is None or claim.plan.mode not in modes or claim.committed:
        return None
    return claim if claim.plan.source_id == seen.source.table.id else None


def half_done(seen: Observation, wish: ExecutionInput, *, for_ever: bool = False) -> Export | Halt | None:
    """The claim in force is not carried out, and nobody else is at it: finish it as it was planned.

    `for_ever`: also where its job has ended without success so often that it would be given up. A Halt where the job would
    only refuse it once more.
    """
    claim = _undone(seen)
    if claim is None:
        return None
    if seen.own_claim:
        return Export(claim.plan, claim.number, adopted=True)
    if _is_left_undone(claim, wish, for_ever):
        return None
    needs_files = is_damaged(claim)
    # What heals by itself, as a job that died or a lost race, is tried for ever, and counts for nothing.
    is_refused = needs_files or is_refused_for_good(claim)
    is_tried_alike = seen.by_schedule and claim.settings == seen.settings
    if is_tried_alike and is_refused and claim.tries >= MOST_TRIES:
        return _stopped(claim)
    return Export(
        claim.plan.next_attempt() if needs_files else claim.plan,
        claim.number + 1,
        taken_over_from=claim.owner,
        tries=claim.tries + is_refused if is_tried_alike else 1,
        counted=claim.refused_by or claim.counted,
    )


def _stopped(claim: Claim) -> Halt:
    """Nothing is exported and no job started until the settings change or a person starts a run."""
    error = claim.refused_as
    assert error is not None  # what is refused by nothing of the product's is tried for ever
    remedy = claim.remedy or error.default_remedy
    said = f"the job has refused it {claim.tries} times, and it is not tried again by itself. It said: {claim.refusal}"
    return Halt.of(error, said, _TRY_AGAIN if is_damaged(claim) else f"{remedy} {_TRY_AGAIN}")


def _undone(seen: Observation) -> Claim | None:
    """The claim in force, if what it planned is not done yet and still fits."""
    claim = seen.claim
    if claim is None or claim.is_done(seen.table) or not still_applies(claim, seen):
        return None
    # Who rolls the table back to before a backfill or full export does not want it again.
    return None if claim.committed and claim.plan.mode in WISHES_FOR_ROWS else claim


def is_refused_for_good(claim: Claim) -> bool:
    """Whether the claim's job has refused it in a way that does not heal."""
    return claim.refused_as is not None and not claim.refused_as.heals_by_itself


def is_damaged(claim: Claim) -> bool:
    """Whether the claim's job has refused files that are not what DynamoDB wrote: then only new files help."""
    return claim.refused_as is not None and issubclass(claim.refused_as, DamagedExport)


def _is_damaged_for_good(claim: Claim) -> bool:
    """Whether new files were damaged as often as they are asked for."""
    return is_damaged(claim) and claim.tries >= MOST_TRIES


def _is_left_undone(claim: Claim, wish: ExecutionInput, for_ever: bool) -> bool:
    """Whether half-done work is left undone, so that it does not keep the schedule, or what a person asks for, from theirs.

    - A backfill or full export: after the third job run that failed, and after a refusal that does not heal.
    - A verification, or maintenance: after any refusal, and after the second run whose job died without a report.
    - Where a person asks for a full export: everything else, which it brings too, and a full export that its job has refused.
    """
    if wish_given_up(claim) and not for_ever:
        return True
    if claim.plan.mode in REPORTED_AS and (claim.refused_with or claim.is_second_try):
        return True
    if wish.mode == FULL and (claim.plan.mode != FULL or claim.refused_as):
        return True
    return claim.plan.mode != UPDATE and is_refused_for_good(claim)


def still_applies(claim: Claim, seen: Observation) -> bool:
    """Whether the plan still fits source and table: either may have been replaced or taken back meanwhile."""
    plan, marker = claim.plan, seen.table.marker
    if plan.source_id != seen.source.table.id or plan.start < seen.restorable.earliest:
        return False
    if plan.is_full and plan.mode != VERIFY:
        return plan.mode == FULL or not seen.table.exists
    if marker is None or marker.source_id != plan.source_id:
        return False
    return marker.watermark == (plan.start if plan.mode == UPDATE else plan.end)
