"""Observing: everything that the planner may look at, read once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from lambdas.aws import executions, jobs, parameters, reports, source, table
from pipeline.deployment import Deployment
from pipeline.planning.journal import Claim, newest_claim
from pipeline.planning.observation import Observation
from pipeline.planning.plans import record
from pipeline.table.marker import TableState


def observe(
    deployment: Deployment,
    name: str,
    found: parameters.TableParameters,
    execution: str,
    *,
    by_schedule: bool,
    at_work: timedelta,
    is_first_round: bool,
) -> Observation:
    """Look at source, table, journal and job. `found`: the parameters of the table `name`, as they were read.

    `at_work`: for how long the execution has been; `is_first_round`: it has done nothing yet.
    """
    claim = newest_claim(found.runs)
    history = source.look(name)
    if claim:
        claim = _with_owner(deployment, name, claim, execution)
    # After the claim's owner and report: of work that they say has ended the table must not show the state of before.
    state = table.look(deployment.database, found.settings.iceberg_table)
    seen = Observation(
        source=history,
        table=state,
        control=found.control,
        recorded=found.recorded,
        claim=claim and _with_failed_runs(deployment, claim, state),
        execution=execution,
        told_end=found.told.ended,
        settings=found.settings.digest,
        by_schedule=by_schedule,
        cannot_record=found.told.cannot_record,
        at_work=at_work,
        is_first_round=is_first_round,
    )
    if record(seen):
        # It was read before the claim's owner was looked for: a run that ended in between has written it, and told so.
        seen = replace(seen, recorded=parameters.read_recorded(deployment, name))
    return seen


def _with_owner(deployment: Deployment, name: str, claim: Claim, execution: str) -> Claim:
    """Add to a claim whether its owner runs, and what its job has reported."""
    runs = claim.owner == execution or executions.runs(claim.owner)
    asks = claim.asks_for_report(execution, owner_runs=runs)
    return claim.with_report(reports.read(deployment, name, claim.plan.job_id) if asks else {}, owner_runs=runs)


def _with_failed_runs(deployment: Deployment, claim: Claim, state: TableState) -> Claim:
    """Add how often the job has failed."""
    if not claim.counts_failed_runs(state):
        return claim
    failed = jobs.failed_runs(deployment.application_id, claim.plan.job_id, since=claim.plan.end)
    return replace(claim, failed_runs=failed)
