"""The states, one function each: what each asks of the services, and where it goes next.

The decisions are the product's own: planner, claims, tokens, waiting, names of failures. Between any two calls a run may
die, be slowed down, or lose a reply.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from pipeline.errors import EdgeFailed, ExportTimedOut, JobFailed
from pipeline.exports.requests import (
    LONGEST_EXPORT,
    ExportRequest,
    client_token,
    failure_of,
    is_lost,
    retries,
    wait_before_check,
    waited,
)
from pipeline.identity import SourceTable
from pipeline.job_order import JobOrder
from pipeline.mails.failure_names import Failure
from pipeline.modes import REPORTED_AS
from pipeline.planning.actions import Action, Export, Halt, Idle, Record, describe
from pipeline.planning.execution_input import ExecutionInput
from pipeline.planning.planner import another_run, next_action
from pipeline.planning.plans import begun_anew
from pipeline.planning.rounds import committed, round_of_commit, round_of_report
from pipeline.planning.rules import rules_of
from tests.simulation.account import DEPLOYMENT
from tests.simulation.exports import Export as MadeExport
from tests.simulation.jobs import AT_WORK
from tests.simulation.observing import observe
from tests.simulation.run import Run, Words
from tests.simulation.source import ARN, KEY
from tests.simulation.telling import look_out, notify_failure, notify_news, notify_success, told_of

#: What a state leads to; a generator where time may pass in it.
State = Generator[int, None, str]
_MOST_RACES = 3


def plan(run: Run) -> State:
    """Look, decide, claim; as lambdas/plan.py does."""
    wish = ExecutionInput.parse(run.input, DEPLOYMENT.default_table)
    run.planned = run.account.clock.now
    for _ in range(_MOST_RACES):
        found = run.ask("ssm", run.account.read)
        run.known = run.account.post.version
        yield from run.pause()
        seen = yield from observe(run, found)
        settings = run.account.settings
        action = next_action(seen, wish, rules_of(settings, seen.source.recovery_days, seen.table))
        if isinstance(action, Export) and action.is_new:
            yield from run.pause()
            action = begun_anew(action, seen, run.report_of)
        yield from run.pause()
        if wish.dry_run or _claimed(run, action):
            break
    else:
        action = another_run(wish, "Another run claimed the work first; this run leaves it alone.")
    run.says("plans {}{}", "(dry run) " if wish.dry_run else "", Words(action))
    run.plan, run.exports, run.checks, run.seen_at = action, [], 0, seen.source.latest
    run.dry, run.token, run.claimed = wish.dry_run, "", seen.claim and seen.claim.plan
    look_out(run, wish, seen, told_of(found.told))
    return "ChooseAction"


def _claimed(run: Run, action: Action) -> bool:
    if not isinstance(action, Export) or action.adopted:
        return True
    claim = action.claim(run.name, run.account.digest)
    if not run.ask("ssm", lambda: run.account.create_claim(claim)):
        return False
    if run.ask("ssm", run.account.newest_number) > claim.number:
        return False
    with suppress(EdgeFailed):  # the next claim removes them
        run.ask("ssm", lambda: run.account.remove_claims_before(claim.number))
    return True


def choose_action(run: Run) -> str:
    """Tell the news if there is any, then switch on the kind of the planned action."""
    if run.news:
        run.news = False
        return "NotifyNews"
    if run.dry or isinstance(run.plan, Idle):
        return "Idle"
    if isinstance(run.plan, Export):
        return "StartExports" if run.plan.kind == "Export" else "PrepareJob"
    if isinstance(run.plan, Record):
        return "RecordWatermark"
    assert isinstance(run.plan, Halt)
    run.failure = Failure("Plan", run.plan.error, run.plan.message, run.plan.remedy)
    return "NotifyFailure"


def start_exports(run: Run) -> State:
    """Ask for every export of the plan; as lambdas/start_exports.py does."""
    run.account.begins_to_work(run.name)
    run.exports = _given_before(run)
    for request in _planned(run).plan.requests[len(run.exports) :]:
        run.exports.append(_started(run, request))
        yield from run.pause()
    return "WaitForExports"


def _given_before(run: Run) -> list[MadeExport]:
    action = _planned(run)
    if not (action.taken_over_from or action.adopted):
        return []
    given = run.ask("emr", lambda: run.account.jobs.last_exports(action.plan.job_id))
    return [run.account.exports.by_arn[arn] for arn in given]


def _started(run: Run, request: ExportRequest) -> MadeExport:
    account, action = run.account, _planned(run)
    plan, again = action.plan, bool(action.taken_over_from) or action.adopted
    prefix = DEPLOYMENT.export_prefix("orders")
    assert run.seen_at is not None
    for retry in retries(run.seen_at):
        token = client_token(plan.source_id, request, DEPLOYMENT.bucket, prefix, plan.attempt, retry)
        export = run.ask("dynamodb", lambda t=token: account.exports.ask(account.source, request, t, plan, again))
        description = export.describe(account.clock.now)
        if not is_lost(description, run.seen_at):
            return export
    raise failure_of(description)


def wait_for_exports(run: Run) -> State:
    """Wait longer from look to look."""
    yield _wait(run.checks)
    return "CheckExports"


def check_exports(run: Run) -> str:
    """Look at every export; as lambdas/check_exports.py does."""
    now = run.account.clock.now
    running = False
    for export in run.exports:
        status = run.ask("dynamodb", lambda e=export: e.status(now))
        if status == "FAILED":
            raise failure_of(export.describe(now))
        running = running or status != "COMPLETED"
    run.checks += 1
    if running and _waited(run.checks) >= LONGEST_EXPORT:
        raise ExportTimedOut(f"not complete after {_waited(run.checks)}")
    run.ready = not running
    return "ChooseReadiness"


_waited = lru_cache(maxsize=1_000)(waited)
_wait = lru_cache(maxsize=1_000)(lambda checks: wait_before_check(checks).seconds)


def choose_readiness(run: Run) -> str:
    """All complete, or wait again."""
    return "PrepareJob" if run.ready else "WaitForExports"


def prepare_job(run: Run) -> State:
    """Write the order and its token; as lambdas/prepare_job.py does."""
    run.account.begins_to_work(run.name)
    yield from run.pause()
    found = _planned(run).plan
    order = JobOrder(
        job=found.job,
        job_id=found.job_id,
        table="glue.tidemark.orders",
        source=SourceTable(ARN, found.source_id, KEY),
        exports=tuple(export.arn for export in run.exports),
        start=found.start,
        end=found.end,
        buckets=run.account.settings.buckets,
        report_uri=DEPLOYMENT.report_key("orders", found.job_id),
    )
    attempt = run.ask("emr", lambda: run.account.jobs.ended_runs(order.job_id))
    run.token = f"{order.job_id}-{attempt}"
    run.order = replace(order, client_token=run.token)
    return "RunSparkJob"


def run_spark_job(run: Run) -> State:
    """Start the job, or meet it again, and wait for its end."""
    assert run.order is not None
    order, exports = run.order, {export.arn: export for export in run.exports}
    job = run.ask("emr", lambda: run.account.jobs.start(order, run.token, exports, run.planned))
    run.job_run = job
    while job.state in AT_WORK:
        yield max(1, job.due - run.account.clock.now)
    if job.state != "SUCCESS":
        raise JobFailed(f"{job.token} ended as {job.state}")
    run.job_run = None
    return "RecordWatermark"


def record_watermark(run: Run) -> State:
    """Read the watermark back and write the operator's view; as lambdas/record_watermark.py does."""
    yield from run.pause()
    assert run.plan is not None
    account, plan = run.account, describe(run.plan)
    if plan.get("mode") in REPORTED_AS:
        report = run.report_of(plan["job_id"])
        run.report = round_of_report(plan, report, "")
        return "NotifySuccess"
    marker = committed(run.ask("glue", lambda: account.table.state), plan)
    report = run.report_of(marker.job_id)
    run.report = round_of_commit(marker, report, "")
    run.ask("ssm", lambda: account.record(run.report["watermark"]))
    return "NotifySuccess"


def _planned(run: Run) -> Export:
    assert isinstance(run.plan, Export)
    return run.plan


def entered(name: str, run: Run) -> State:
    """Go through a state; most take no time."""
    led_to = STATES[name](run)
    return led_to if isinstance(led_to, str) else (yield from led_to)


STATES: dict[str, Callable[[Run], State | str]] = {
    "Plan": plan,
    "ChooseAction": choose_action,
    "StartExports": start_exports,
    "WaitForExports": wait_for_exports,
    "CheckExports": check_exports,
    "ChooseReadiness": choose_readiness,
    "PrepareJob": prepare_job,
    "RunSparkJob": run_spark_job,
    "RecordWatermark": record_watermark,
    "NotifyNews": notify_news,
    "NotifySuccess": notify_success,
    "NotifyFailure": notify_failure,
}
