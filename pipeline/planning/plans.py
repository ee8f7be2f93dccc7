"""New plans: what a run begins that has nothing half done to finish, each piece of work told apart from all before. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from pipeline.errors import InputRefused
from pipeline.modes import MAINTAIN, UPDATE
from pipeline.planning.actions import Export, Halt
from pipeline.planning.half_done import is_damaged
from pipeline.planning.journal import Claim, RunPlan
from pipeline.planning.observation import Observation


def new_plan(seen: Observation, mode: str, bounds: tuple[datetime, ...]) -> Export:
    """Work that is claimed anew. `bounds`: the ends of touching windows, or one instant."""
    claim = seen.claim
    number = claim.number + 1 if claim else 1
    # What is asked for again is other work, whatever came in between: with exports, job runs and a report of its own.
    plan = RunPlan(mode, seen.source.table.id, bounds, attempt=0 if mode == UPDATE else number)
    return Export(_not_done(plan, seen), number)


def begun_anew(action: Export, seen: Observation, report_of: Callable[[str], Mapping[str, Any]]) -> Export:
    """A new plan, told apart from what was tried before of the same stretch, too; `report_of`: what a job of this id has left.

    That was an update, and other work or a rollback came in between. Files that were damaged then are not read again, though
    DynamoDB answers for hours with the same export; and what was refused then is nothing that this claim's job has refused.
    """
    plan = action.plan
    while is_damaged(tried := Claim(action.number, "", plan).with_refusal(report_of(plan.job_id))):
        plan = _not_done(plan.next_attempt(), seen)
    return replace(action, plan=plan, counted=tried.refused_by)


def _not_done(plan: RunPlan, seen: Observation) -> RunPlan:
    """The plan, by the first attempt that the table does not show: what was done before and is planned again is other work."""
    while plan.job_id in seen.table.job_ids:
        plan = plan.next_attempt()
    return plan


def new_maintenance(seen: Observation) -> Export | Halt:
    """The table's files put in order, its content as it is."""
    watermark = seen.table.watermark
    if watermark is None:
        return Halt.of(
            InputRefused, "there is no table yet to maintain", "Bring the table up to date first: leave out the mode."
        )
    return new_plan(seen, MAINTAIN, (watermark,))
