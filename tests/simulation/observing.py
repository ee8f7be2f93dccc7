"""What a run sees before it plans: source, table, journal and job, asked for in the order of lambdas/observing.py."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache

from pipeline.planning.corrections import record
from pipeline.planning.execution_input import tick_of
from pipeline.planning.journal import Claim, newest_claim
from pipeline.planning.observation import Observation
from pipeline.planning.wish_ends import may_be_untold
from pipeline.table.marker import TableState
from tests.simulation.account import Parameters
from tests.simulation.run import Run
from tests.simulation.telling import told_of


def observe(run: Run, found: Parameters) -> Generator[int, None, Observation]:
    """Look at everything. Time may pass from look to look."""
    account = run.account
    claim = _newest_claim(tuple(found.runs.items()))
    history = run.ask("dynamodb", account.look_at_source)
    if claim is not None:
        claim = yield from _with_owner(run, claim)
    yield from run.pause()
    state = run.ask("glue", lambda: account.table.state)
    if claim is not None:
        claim = _with_failed_runs(run, claim, state)
    seen = Observation(
        source=history,
        table=state,
        control=found.control,
        recorded=found.recorded,
        claim=claim,
        execution=run.name,
        told_end=told_of(found.told).ended,
        settings=account.digest,
        by_schedule=tick_of(run.input) is not None,
        cannot_record=told_of(found.told).cannot_record,
        at_work=timedelta(seconds=run.planned - run.started),
        is_first_round=run.is_first_round,
    )
    if record(seen) or may_be_untold(seen):
        yield from run.pause()
        again = run.ask("ssm", account.read)
        seen = replace(seen, recorded=again.recorded, told_end=told_of(again.told).ended)
    return seen


@lru_cache(maxsize=64)
def _newest_claim(runs: tuple[tuple[str, str], ...]) -> Claim | None:
    return newest_claim(dict(runs))


def _with_owner(run: Run, claim: Claim) -> Generator[int, None, Claim]:
    """Add to a claim whether its owner runs, and what its job has reported."""
    account, job_id, report = run.account, claim.plan.job_id, {}
    yield from run.pause()
    runs = claim.owner == run.name or run.ask("states", lambda: claim.owner in account.running)
    if claim.asks_for_report(run.name, owner_runs=runs):
        yield from run.pause()
        report = run.report_of(job_id)
    return claim.with_report(report, owner_runs=runs)


def _with_failed_runs(run: Run, claim: Claim, state: TableState) -> Claim:
    """Add how often the job has failed."""
    job_id = claim.plan.job_id
    if not claim.counts_failed_runs(state):
        return claim
    return replace(claim, failed_runs=run.ask("emr", lambda: run.account.jobs.failed_runs(job_id)))
