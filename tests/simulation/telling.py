"""The states that mail, as the functions of the same names do: read what has been told, mail the news, record it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from pipeline.errors import EdgeFailed
from pipeline.instants import format_instant, parse_instant
from pipeline.mails.failure import failure_mail
from pipeline.mails.failure_names import Failure
from pipeline.mails.frame import SUCCESS, Mail
from pipeline.mails.incidents import News, after_failure, after_look, all_clear_later, ending, round_works
from pipeline.mails.notices import notices
from pipeline.mails.success import is_told_at_once
from pipeline.mails.told import Kind, Told
from pipeline.planning.execution_input import FULL, MAINTAIN, tick_of
from pipeline.planning.horizon import Horizon
from pipeline.planning.observation import UP_TO_DATE, Export, Halt, Idle, Observation, describe
from pipeline.table.continuity import Rows
from tests.simulation.account import DEPLOYMENT
from tests.simulation.clock import instant
from tests.simulation.post import Sent
from tests.simulation.run import Run

State = Generator[int, None, str]
told_of = lru_cache(maxsize=64)(Told.from_text)


def look_out(run: Run, seen: Observation, told: Told) -> None:
    """What the plan hands to the mails, and whether there is news; as `_outlook` of lambdas/plan.py does."""
    action = run.plan
    run.horizon = seen.horizon
    run.works = isinstance(action, Idle) and action.reason == UP_TO_DATE
    run.maintained, run.loaded = seen.is_maintained, run.account.table.loaded
    quiet = isinstance(action, Idle) and not run.dry
    run.news = quiet and bool(_after_look(run, told, works=run.works, maintained=run.maintained).names)


def notify_news(run: Run) -> State:
    """Mail what a run without work has found."""
    before = _read(run)
    yield from run.pause()
    yield from _tell(run, before, _after_look(run, before, works=run.works, maintained=run.maintained))
    return "ChooseAction"


def _after_look(run: Run, told: Told, *, works: bool, maintained: bool) -> News:
    rows = Rows(trusted=run.loaded)
    return after_look(told, run.meant_for, works=works, horizon=run.horizon, rows=rows, maintained=maintained)


def notify_success(run: Run) -> State:
    """Mail what the round did, if it is to be told at once, and what is over now."""
    mode = _mode(run)
    assert run.plan is not None
    planned = {"success_mail": run.account.settings.success_mail, **describe(run.plan)}
    if is_told_at_once({"input": run.input, "plan": planned}):
        run.ask("sns", lambda: run.account.tell(Sent(run.number, SUCCESS)))
    yield from run.pause()
    try:
        before = _read(run)
    except EdgeFailed:
        run.known = None
        return "Plan"
    yield from run.pause()
    watermark = run.account.table.state.watermark
    if run.horizon is not None and watermark is not None:
        run.horizon = Horizon(watermark, run.horizon.earliest, run.horizon.latest, run.horizon.recovery_days)
    works, maintained = round_works(mode), mode == MAINTAIN
    if mode == FULL:
        run.loaded = watermark
    yield from _tell(run, before, _after_look(run, before, works=works, maintained=maintained))
    if works or maintained:
        run.account.post.has_worked(run, maintained=maintained)
    return "Plan"


def notify_failure(run: Run) -> State:
    """Find the failure's name and mail it, once for each incident of the schedule, and always to a person."""
    failure = run.failure
    assert failure is not None
    if failure.state == "RunSparkJob":
        failure = failure.explained_by(_report(run), run.token)
    run.failure = failure
    tick = tick_of(run.input)
    if tick is None:
        _send(run, failure_mail(_event(run), failure, DEPLOYMENT, horizon=run.horizon))
        if given_up := _given_up(run):
            yield from run.pause()
            _remember_given_up(run, given_up)
    else:
        yield from _tell_the_incident(run, failure, tick)
    return "Failed"


def _remember_given_up(run: Run, job_id: str) -> None:
    """Record that a person has been told that a wish is given up."""
    try:
        told = _read(run)
    except EdgeFailed:
        run.known = None
        return
    record_told(run, told, replace(told, given_up=job_id))


def _tell_the_incident(run: Run, failure: Failure, tick: datetime) -> Generator[int]:
    try:
        told: Told | None = _read(run)
    except EdgeFailed:
        run.known, told = None, None
    yield from run.pause()
    if run.plan is None:
        run.horizon = told and _horizon(run)
    news = after_failure(
        told or Told(), Kind(failure.error, failure.state, _mode(run)), tick, run.horizon, _given_up(run)
    )
    if news.failed:
        incident = news.told.incident
        _send(run, failure_mail(_event(run), failure, DEPLOYMENT, horizon=run.horizon, incident=incident))
        yield from run.pause()
    yield from _tell(run, told, news)


def _event(run: Run) -> dict[str, Any]:
    """What the mails' writers are handed."""
    plan = {"table": "orders", "tick_minutes": 15, **describe(run.plan)} if run.plan else {}
    started = format_instant(instant(run.started))
    return {"input": run.input, "execution": run.name, "startedAt": started, "plan": plan}


def _send(run: Run, mail: Mail, *, of_incident: bool = False) -> None:
    """Mail to the topic, and to the post what it says."""
    of_schedule = of_incident or tick_of(run.input) is not None
    sent = Sent(run.number, mail.status, of_schedule, run.known, mail.facts, _mode(run), run.account.table.loaded)
    run.ask("sns", lambda: run.account.tell(sent))


def _given_up(run: Run) -> str:
    return run.plan.given_up if isinstance(run.plan, Halt) else ""


def _mode(run: Run) -> str:
    return run.plan.plan.mode if isinstance(run.plan, Export) else ""


def _report(run: Run) -> dict[str, str]:
    """The job's own report; empty where it cannot be read."""
    assert isinstance(run.plan, Export)
    job_id = run.plan.plan.job_id
    try:
        report = run.ask("s3", lambda: run.account.jobs.reports.get(job_id))
    except EdgeFailed:
        return {}
    if report is None or report.refusal is None:
        return {}
    told = report.refusal
    return {"error": told.name, "message": told.message, "remedy": told.remedy, "client_token": report.token}


def _horizon(run: Run) -> Horizon | None:
    """The horizon of a run whose plan failed, by the operator's view of the watermark."""
    account = run.account
    recorded = account.parameters.recorded
    if not recorded or account.source is None:
        return None
    try:
        seen = run.ask("dynamodb", account.look_at_source)
        horizon = seen.horizon(parse_instant(recorded))
        return horizon if horizon and horizon.watermark <= horizon.latest else None
    except (EdgeFailed, ValueError):
        return None


def _read(run: Run) -> Told:
    """Read what has been told. Raises EdgeFailed."""
    text = run.ask("ssm", lambda: run.account.parameters.told)
    run.known = run.account.post.reads(run.number)
    return told_of(text)


def _tell(run: Run, before: Told | None, news: News) -> Generator[int]:
    """Mail every notice of the news, then record what has been told; as lambdas/telling.py does."""
    if news.over and before:
        if record_told(run, before, ending(before, news)):
            before = ending(before, news)
            yield from run.pause()
        else:
            news = all_clear_later(news, before)
    yield from mail_notices(run, news)
    record_told(run, before, news.told)
    run.account.post.has_told(run)


def mail_notices(run: Run, news: News) -> Generator[int]:
    """Mail every notice of the news."""
    if news.names:
        for mail in notices(_event(run), "orders", news, run.horizon, DEPLOYMENT):
            _send(run, mail, of_incident=True)
            yield from run.pause()


def record_told(run: Run, before: Told | None, told: Told) -> bool:
    """Write what has been told if it is something else than before, and that is known; False where it cannot be."""
    if before is None:
        run.untold = True
    elif told != before:
        try:
            run.ask("ssm", lambda: run.account.write_told(told, run.number))
        except EdgeFailed:
            run.untold = True
            return False
        run.known = run.account.post.version
    return True
