"""Corrections: whether last-export-time says something else than the table, and is written again from it. Pure."""

from __future__ import annotations

from dataclasses import replace

from pipeline.instants import format_instant
from pipeline.modes import LEAVES_WATERMARK, UPDATE
from pipeline.planning.actions import Record
from pipeline.planning.execution_input import ExecutionInput
from pipeline.planning.observation import Observation
from pipeline.planning.wishes import is_fulfilled


def correction(seen: Observation, wish: ExecutionInput) -> Record | None:
    """The parameter last-export-time is corrected from the table before anything new is begun.

    Whatever came first would write it again without a word: nobody would hear of a round whose run died before its mail,
    or of a parameter that somebody has changed. A dry run passes over it: who asks for a price is told of the work. And
    where it cannot be done, that is told once, and then the table is followed all the same.
    """
    found = None if wish.dry_run or seen.cannot_record else record(seen)
    return found and replace(found, fulfils=is_fulfilled(seen, wish))


def record(seen: Observation) -> Record | None:
    """Where the last-export-time parameter says something else, the table wins."""
    watermark = seen.table.watermark
    if watermark is None or seen.recorded == format_instant(watermark) or _may_be_read_too_early(seen):
        return None
    return Record(watermark, seen.recorded, _unrecorded(seen))


def _may_be_read_too_early(seen: Observation) -> bool:
    """Whether this run has just written the parameter, and it is read as it was before: Parameter Store may answer so.

    What somebody has really put back the next tick corrects. What it said before a full export nobody knows any more.
    """
    # Also where this run has only corrected it: the claim is then that of the run which never came to record it.
    claim = seen.claim
    if seen.is_first_round or claim is None or not claim.is_done(seen.table):
        return False
    moves_it = claim.plan.mode not in LEAVES_WATERMARK
    return moves_it and (claim.plan.is_full or seen.recorded == format_instant(claim.plan.start))


def _unrecorded(seen: Observation) -> str:
    """The mode of the work in force, if the table shows it and its run may have died before it was recorded; else "".

    After an update the parameter says then what it said before; what else it says, somebody has written.
    """
    claim, marker = seen.claim, seen.table.marker
    if claim is None or marker is None or claim.plan.job_id != marker.job_id:
        return ""
    before = "" if claim.plan.is_full else format_instant(claim.plan.start)
    return "" if claim.plan.mode == UPDATE and seen.recorded != before else claim.plan.mode
