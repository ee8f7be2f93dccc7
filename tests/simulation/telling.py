"""The states that mail: what the functions of the same names ask of the services. What is told the product's rules say."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pipeline.errors import EdgeFailed
from pipeline.instants import format_instant
from pipeline.mails import outlook, steps
from pipeline.mails.aftermath import ended_wish, tells_late
from pipeline.mails.failure import failure_mail
from pipeline.mails.failure_names import Failure
from pipeline.mails.frame import SUCCESS, Mail
from pipeline.mails.success import horizon_after, is_told_at_once
from pipeline.mails.told import Told
from pipeline.modes import MAINTAIN
from pipeline.planning.actions import Export, describe
from pipeline.planning.execution_input import ExecutionInput, tick_of
from pipeline.planning.horizon import Horizon, horizon_of_record
from pipeline.planning.observation import Observation
from tests.simulation.account import DEPLOYMENT
from tests.simulation.clock import instant
from tests.simulation.post import Sent
from tests.simulation.run import Run

State = Generator[int, None, str]
told_of = lru_cache(maxsize=64)(Told.from_text)


def look_out(run: Run, wish: ExecutionInput, seen: Observation, told: Told) -> None:
    """Keep what the plan hands to the mails, and whether there is news."""
    assert run.plan is not None
    run.outlook = outlook.outlook(wish, seen, run.plan, run.account.settings, told, run.meant_for)
    run.horizon = Horizon.from_json(run.outlook["history"])
    run.news = bool(run.outlook["news"])


def notify_news(run: Run) -> State:
    """Mail what a run without work has found."""
    event, before = _event(run), _read(run)
    yield from run.pause()
    news = outlook.after_idle(before, event, digest=None)
    yield from _tell(run, before, steps.telling(event, "orders", before, news, run.horizon, DEPLOYMENT))
    return "ChooseAction"


def notify_success(run: Run) -> State:
    """Mail what the round did, if it is to be told at once, and what is over now."""
    event = {**_event(run), "report": run.report}
    run.is_first_round = False
    if is_told_at_once(event):
        told = Sent(run.number, SUCCESS, facts={"job_id": run.report["job_id"]})
        run.ask("sns", lambda: run.account.tell(told))
    yield from run.pause()
    try:
        before = _read(run)
    except EdgeFailed:
        run.known = None
        return "Plan"
    yield from run.pause()
    run.horizon = horizon_after(event)
    news = outlook.after_round(before, event)
    yield from _tell(run, before, steps.telling(event, "orders", before, news, run.horizon, DEPLOYMENT))
    maintained = _mode(run) == MAINTAIN
    if maintained or outlook.round_works(_mode(run)):
        run.account.post.has_worked(run, maintained=maintained)
    return "Plan"


def notify_failure(run: Run) -> State:
    """Find the failure's name and mail it, once for each incident of the schedule, and always to a person."""
    failure = run.failure
    assert failure is not None
    if failure.state == "RunSparkJob":
        failure = failure.explained_by(_report(run), run.token)
    run.failure = failure
    try:
        if tick_of(run.input) is None:
            _send(run, failure_mail(_event(run), failure, DEPLOYMENT, horizon=run.horizon))
        else:
            yield from _tell_the_incident(run, failure)
    except EdgeFailed:
        run.could_not_tell()
        if tells_late(_event(run)["plan"]):
            _remember_end(run, failure)
        raise
    yield from run.pause()
    _remember_end(run, failure)
    return "Failed"


def _remember_end(run: Run, failure: Failure) -> None:
    """Record that the end of a wish has been told, or that it could not be told late."""
    job_id = ended_wish(_event(run)["plan"], failure)
    if not job_id:
        return
    try:
        told = _read(run)
    except EdgeFailed:
        run.known = None
        return
    if told.ended != job_id:
        _recorded(run, replace(told, ended=job_id))


def _tell_the_incident(run: Run, failure: Failure) -> Generator[int]:
    try:
        told: Told | None = _read(run)
    except EdgeFailed:
        run.known, told = None, None
    yield from run.pause()
    if run.plan is None:
        run.horizon = told and _horizon(run)
    yield from _tell(run, told, steps.telling_failure(_event(run), failure, told, run.horizon, DEPLOYMENT))


def _event(run: Run) -> dict[str, Any]:
    """What the states that mail are handed, but for the report of a round."""
    plan = {"table": "orders", **describe(run.plan), **run.outlook} if run.plan else {}
    started = format_instant(instant(run.started))
    return {"input": run.input, "execution": run.name, "startedAt": started, "plan": plan}


def _send(run: Run, mail: Mail, *, of_incident: bool = False) -> None:
    """Mail to the topic, and to the post what it says."""
    of_schedule = of_incident or tick_of(run.input) is not None
    sent = Sent(run.number, mail.status, of_schedule, run.known, mail.facts, _mode(run), run.account.table.loaded)
    run.ask("sns", lambda: run.account.tell(sent))


def _mode(run: Run) -> str:
    return str(describe(run.plan).get("mode", "")) if run.plan else ""


def _report(run: Run) -> dict[str, Any]:
    """The job's own report; empty where it cannot be read."""
    assert isinstance(run.plan, Export)
    job_id = run.plan.plan.job_id
    try:
        return run.report_of(job_id)
    except EdgeFailed:
        return {}


def _horizon(run: Run) -> Horizon | None:
    """The horizon of a run whose plan failed, by the operator's view of the watermark."""
    account = run.account
    recorded = account.parameters.recorded
    if not recorded or account.source is None:
        return None
    try:
        seen = run.ask("dynamodb", account.look_at_source)
        return horizon_of_record(recorded, seen.earliest, seen.latest, seen.recovery_days)
    except (EdgeFailed, ValueError):
        return None


def _read(run: Run) -> Told:
    """Read what has been told. Raises EdgeFailed."""
    text = run.ask("ssm", lambda: run.account.parameters.told)
    run.known = run.account.post.reads(run.number)
    return told_of(text)


def _tell(run: Run, before: Told | None, todo: steps.Steps) -> Generator[int]:
    """Take the steps, as lambdas/telling.py does. Time may pass after each."""
    if before is None:
        run.could_not_tell()
    is_recorded: bool | None = None
    with suppress(StopIteration):  # the steps are at their end
        while True:
            step = todo.send(is_recorded)
            if isinstance(step, Mail):
                _send(run, step, of_incident=True)
                is_recorded = None
            else:
                is_recorded = _recorded(run, step)
            yield from run.pause()
    run.account.post.has_told(run)


def _recorded(run: Run, told: Told) -> bool:
    """Write what has been told; False where it cannot be."""
    try:
        run.ask("ssm", lambda: run.account.write_told(told, run.number))
    except EdgeFailed:
        run.could_not_tell()
        return False
    run.known = run.account.post.version
    return True
