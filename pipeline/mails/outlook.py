"""Outlook: what a plan tells the states that mail, and what these find in it that is worth telling.

The states know of each other only what the state machine hands on. So a plan says, beside its action, where it has seen the
table; the rules of `pipeline.mails.incidents` make news of it, once when it is planned and once more when it is mailed.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from pipeline.events import PlanEvent, StateEvent
from pipeline.mails.aftermath import ended_wish, tells_late
from pipeline.mails.digest import Digest, digest_due
from pipeline.mails.failure_names import Failure
from pipeline.mails.incidents import News, after_failure, after_look, round_works
from pipeline.mails.success import horizon_after
from pipeline.mails.told import Told
from pipeline.modes import FULL, MAINTAIN, TOLD_TO_THE_END
from pipeline.planning.actions import ANOTHER_RUN, MAINTAINS, PAUSED, UP_TO_DATE, Action, Export, Idle
from pipeline.planning.execution_input import ExecutionInput, meant_for, tick_of
from pipeline.planning.half_done import full_refused_for_good
from pipeline.planning.horizon import Horizon
from pipeline.planning.observation import Observation
from pipeline.planning.rules import history_needed
from pipeline.planning.trust import load_too_long, recovery_too_short
from pipeline.settings import DAILY, TableSettings
from pipeline.table.continuity import NOTHING_KNOWN, Rows, rows_of_report, rows_of_table


def outlook(
    wish: ExecutionInput, seen: Observation, action: Action, settings: TableSettings, told: Told, began: datetime
) -> PlanEvent:
    """What the mails need, and the names of the news there are. `began`: what the execution is meant for.

    A run with work leaves the news to its end: it may be over then, and whatever fails tells it. But not the days that are
    to be summed up where the work is maintenance, which lets their commits go.
    """
    is_off = isinstance(action, Idle) and action.reason == PAUSED and seen.source.earliest is None
    horizon = _without_recovery(seen, began) if is_off else _told_horizon(seen)
    # Of a full export the table will have the history that its new source has, whose the table may not be yet.
    after = seen.source.horizon(action.plan.end) if isinstance(action, Export) else None
    idle_for = action.reason if isinstance(action, Idle) else ""
    is_maintenance = isinstance(action, Export) and action.plan.mode == MAINTAIN
    # Where every round takes as long as a window, some run is always at work, and none finds the table up to date.
    digest = _digest(seen, settings, told) if is_maintenance or idle_for in (UP_TO_DATE, ANOTHER_RUN) else None
    found: PlanEvent = {
        "history": horizon.to_json() if horizon else {},
        "history_after": after.to_json() if after else {},
        "works": idle_for == UP_TO_DATE,
        "maintained": seen.is_maintained,
        "maintains": settings.maintain_days > 0,
        "digest": digest.to_json() if digest else {},
        "rows": rows_of_table(seen.table.commits).to_json(),
        "tick_minutes": settings.tick_minutes,
        "success_mail": settings.success_mail,
        "rebuilds": _rebuilds(seen, settings, action),
        "pitr_off": is_off,
        "at_work": seen.other_at_work if idle_for == ANOTHER_RUN else "",
    }
    news = _of_days(told, digest) if is_maintenance else _of_look(told, found, began, digest)
    return {**found, "news": news.names if (idle_for or is_maintenance) and not wish.dry_run else []}


def _digest(seen: Observation, settings: TableSettings, told: Told) -> Digest | None:
    if settings.success_mail != DAILY:
        return None
    return digest_due(seen.table.commits, seen.table.watermark, told.digested)


def _rebuilds(seen: Observation, settings: TableSettings, action: Action) -> bool:
    """Whether the next run makes lost history good by itself, as the planner has it; after a full export, if that fails."""
    too_short = recovery_too_short(seen, history_needed(settings)) or load_too_long(seen)
    is_tried = isinstance(action, Export) and action.plan.mode == FULL  # what was refused before it counts no more
    return settings.rebuilds and not (too_short or (full_refused_for_good(seen) and not is_tried))


def _told_horizon(seen: Observation) -> Horizon | None:
    """The table's horizon; None where history is lost and another run is at work on the full export that makes that good.

    Who was warned would ask for a second one, be refused as long as the first takes, and then pay for it.
    """
    claim, horizon = seen.claim, seen.horizon
    if claim is None or horizon is None or not horizon.is_lost:
        return horizon
    return None if seen.other_at_work and claim.plan.mode == FULL and not claim.is_done(seen.table) else horizon


def _without_recovery(seen: Observation, began: datetime) -> Horizon | None:
    """The horizon of a paused table whose recovery is off: all history has gone, and while it is paused no run fails for that."""
    now = max(began, seen.table.watermark or began) + timedelta(seconds=1)
    return replace(seen, source=replace(seen.source, earliest=now, latest=now)).horizon


def after_idle(told: Told, event: StateEvent, digest: Digest | None) -> News:
    """The news of a run before it idles, or maintains. `event` is NotifyNews's.

    `digest`: the event's, with what its jobs have found. `told` is read again for it: a reply that was lost must not lead to
    a second mail.
    """
    plan = event["plan"]
    digest = None if digest and digest.end == told.digested else digest
    if plan.get("kind") == MAINTAINS:
        return _of_days(told, digest)
    return _of_look(told, plan, meant_for(event), digest)


def _of_look(told: Told, plan: PlanEvent, began: datetime, digest: Digest | None) -> News:
    return after_look(
        told,
        began,
        works=plan["works"],
        horizon=Horizon.from_json(plan["history"]),
        digest=digest,
        rows=Rows.from_json(plan["rows"]),
        maintained=plan["maintained"],
        maintains=plan["maintains"],
    )


def _of_days(told: Told, digest: Digest | None) -> News:
    """What a run tells before it maintains: the days alone. The rest it leaves to its end, as any run with work does."""
    return News(replace(told, digested=digest.end), digest=digest) if digest else News(told)


def after_round(told: Told, event: StateEvent) -> News:
    """The news of a round that was carried out: what it has found, and what is over now. `event` is NotifySuccess's."""
    plan, rows = event["plan"], rows_of_report(event["report"])
    mode = plan.get("mode", "")
    ended = plan["job_id"] if mode in TOLD_TO_THE_END else told.ended
    return after_look(
        replace(told, ended=ended),
        meant_for(event),
        works=round_works(mode),
        horizon=horizon_after(event),
        # Else what a run has done that died before its mails.
        rows=Rows.from_json(plan["rows"]) if rows == NOTHING_KNOWN else rows,
        maintained=mode == MAINTAIN,
        by_round=True,
    )


def after_failed_tick(told: Told, event: StateEvent, failure: Failure, horizon: Horizon | None) -> News:
    """The news of a failed run of the schedule. `event` is NotifyFailure's."""
    plan, tick = event["plan"], tick_of(event["input"])
    assert tick is not None  # who has started a run is told each failure of it, which is no news
    kind, ended = failure.told_as(plan), ended_wish(plan, failure)
    if ended and tells_late(plan):
        # Only an end that nobody had been told of is planned so, and where its mail fails it is recorded all the same.
        told = replace(told, ended="")
    return after_failure(told, kind, tick, horizon, ended)
