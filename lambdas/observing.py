"""Observing: everything that the planner may look at, read once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from lambdas.aws import executions, jobs, parameters, reports, source, table
from pipeline.deployment import Deployment
from pipeline.events import StateEvent
from pipeline.instants import parse_timestamp
from pipeline.planning.corrections import record
from pipeline.planning.execution_input import tick_of
from pipeline.planning.journal import Claim, newest_claim
from pipeline.planning.observation import Observation
from pipeline.planning.wish_ends import may_be_untold
from pipeline.table.marker import TableState

#: For so long after a claim Step Functions may not know its owner yet: what it answers may be behind.
_YOUNG = timedelta(minutes=2)


def observe(deployment: Deployment, name: str, found: parameters.TableParameters, event: StateEvent) -> Observation:
    """Look at source, table, journal and job. `found`: the parameters of the table `name`, as they were read.

    `event` is Plan's: execution, input, startedAt, enteredAt, first.
    """
    claim, execution = newest_claim(found.runs), event["execution"]
    history = source.look(name)
    if claim:
        age = parse_timestamp(event["enteredAt"]) - found.claimed_at[str(claim.number)]
        claim = _with_owner(deployment, name, claim, execution, is_young=age < _YOUNG)
    # Read after the claim's owner and report: read before, it might not show yet what these say has ended.
    state = table.look(deployment, found.settings.iceberg_table)
    seen = Observation(
        source=history,
        table=state,
        control=found.control,
        recorded=found.recorded,
        claim=claim and _with_failed_runs(deployment, claim, state),
        execution=execution,
        told_end=found.told.ended,
        settings=found.settings.digest,
        by_schedule=tick_of(event["input"]) is not None,
        cannot_record=found.told.cannot_record,
        at_work=parse_timestamp(event["enteredAt"]) - parse_timestamp(event["startedAt"]),
        is_first_round=event["first"],
    )
    if record(seen) or may_be_untold(seen):
        # They were read before the claim's owner was looked for: a run that ended in between has written them, and told so.
        told, recorded = parameters.read_again(deployment, name)
        seen = replace(seen, recorded=recorded, told_end=told.ended)
    return seen


def _with_owner(deployment: Deployment, name: str, claim: Claim, execution: str, *, is_young: bool) -> Claim:
    """Add to a claim whether its owner runs, and what its job has reported.

    An owner that nobody knows has ended long ago, unless it was made just now: a tick that comes twice starts two executions
    within a second.
    """
    known = claim.owner == execution or executions.runs(claim.owner)
    runs = is_young if known is None else known
    asks = claim.asks_for_report(execution, owner_runs=runs)
    return claim.with_report(reports.read(deployment, name, claim.plan.job_id) if asks else {}, owner_runs=runs)


def _with_failed_runs(deployment: Deployment, claim: Claim, state: TableState) -> Claim:
    """Add how often the job has failed."""
    if not claim.counts_failed_runs(state):
        return claim
    failed = jobs.failed_runs(deployment.application_id, claim.plan.job_id, since=claim.plan.end)
    return replace(claim, failed_runs=failed)
