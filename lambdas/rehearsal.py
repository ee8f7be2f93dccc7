"""Rehearsal: what makes a dry run of a plan's answer, with what the work would cost and how long it would take."""

from __future__ import annotations

from lambdas.aws import executions, jobs
from pipeline.deployment import Deployment
from pipeline.events import PlanEvent
from pipeline.modes import REPORTED_AS
from pipeline.planning.actions import Action, Export
from pipeline.planning.observation import Observation
from pipeline.planning.window_lengths import last_merge
from pipeline.prices import LastRun, estimate
from pipeline.table.marker import Marker


def rehearsed(deployment: Deployment, seen: Observation, action: Action) -> PlanEvent:
    """What makes a dry run of an answer: nothing is begun, and what an Export would cost and how long it would take is told."""
    told: PlanEvent = {"planned": action.kind, "kind": "DryRun", "estimated_usd": 0.0}
    if not isinstance(action, Export):
        return told
    merged = last_merge(seen.table.commits)
    last = _last_run(deployment, seen, action.plan.mode, merged)
    found = estimate(action.plan, seen.source.size_bytes, last, merged)
    return {**told, "estimated_usd": found.usd, "estimate": found.to_json()}


def _last_run(deployment: Deployment, seen: Observation, mode: str, merged: Marker | None) -> LastRun | None:
    """The last run that one of this mode can be compared with: that of the claim in force, else the job of the last merge."""
    claim = seen.claim
    if claim is None or not claim.is_done(seen.table):
        return None
    done, application = claim.plan, deployment.application_id
    if done.mode == mode or {done.mode, mode}.isdisjoint(REPORTED_AS):
        took = executions.duration(claim.owner)
        return LastRun(done.job_id, took, jobs.billed(application, done.job_id, since=done.end))
    if merged is None or mode in REPORTED_AS:
        return None
    return LastRun(merged.job_id, billed=jobs.billed(application, merged.job_id, since=merged.watermark))
