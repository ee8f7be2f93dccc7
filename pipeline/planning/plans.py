"""New plans: what a run begins that has nothing half done to finish, each piece of work told apart from all before. Pure."""

from __future__ import annotations

from datetime import datetime

from pipeline.errors import InputRefused
from pipeline.instants import format_instant
from pipeline.modes import LEAVES_WATERMARK, MAINTAIN, UPDATE
from pipeline.planning.actions import Export, Halt, Record
from pipeline.planning.journal import RunPlan
from pipeline.planning.observation import Observation


def new_plan(seen: Observation, mode: str, bounds: tuple[datetime, ...]) -> Export:
    """Work that is claimed anew. `bounds`: the ends of touching windows, or one instant."""
    claim = seen.claim
    number = claim.number + 1 if claim else 1
    # What is asked for again is other work, whatever came in between: with exports, job runs and a report of its own.
    plan = RunPlan(mode, seen.source.table.id, bounds, attempt=0 if mode == UPDATE else number)
    while plan.job_id in seen.table.job_ids:  # it was done, and somebody may have changed the table since
        plan = plan.next_attempt()
    return Export(plan, number)


def new_maintenance(seen: Observation) -> Export | Halt:
    """The table's files put in order, its content as it is."""
    watermark = seen.table.watermark
    if watermark is None:
        return Halt.of(
            InputRefused, "there is no table yet to maintain", "Bring the table up to date first: leave out the mode."
        )
    return new_plan(seen, MAINTAIN, (watermark,))


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
    claim = seen.claim
    if seen.is_first_round or claim is None or claim.owner != seen.execution or not claim.is_done(seen.table):
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
