"""New plans: what a run begins that has nothing half done to finish, each piece of work told apart from all before. Pure."""

from __future__ import annotations

from datetime import datetime

from pipeline.errors import InputRefused
from pipeline.modes import MAINTAIN, UPDATE
from pipeline.planning.actions import Export, Halt
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
