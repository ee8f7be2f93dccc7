"""Plan: look at everything once, let the planner decide, and claim the run if there is work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from lambdas.aws import parameters, reports
from lambdas.aws.clients import AWS_FAILED, aws_failures
from lambdas.observability import doorway, logger, record_lag, record_tick
from lambdas.observing import observe
from lambdas.rehearsal import rehearsed
from pipeline.deployment import Deployment
from pipeline.errors import REMEDY_MARK, AwsUnavailable
from pipeline.events import PlanEvent, StateEvent
from pipeline.instants import format_optional
from pipeline.mails.outlook import outlook
from pipeline.planning.actions import Action, Export, Halt, describe
from pipeline.planning.execution_input import ExecutionInput, meant_for, tick_minutes_of, tick_of
from pipeline.planning.observation import Observation
from pipeline.planning.planner import another_run, next_action
from pipeline.planning.plans import begun_anew
from pipeline.planning.rules import rules_of
from pipeline.settings import TableSettings

_MOST_RACES = 3
#: How often the state machine has Plan try again where AWS is unavailable.
MOST_RETRIES = 5


def _plan(event: StateEvent, deployment: Deployment) -> PlanEvent:
    with _counted(event):
        return _planned(event, deployment)


@contextmanager
def _counted(event: StateEvent) -> Iterator[None]:
    """Publish the tick that has started an execution, once: by Plan's last attempt, for the first may never have been called.

    Also where planning fails: that it fails is told elsewhere. How long the tick is stands in the execution's input, because
    the settings may be what is missing.
    """
    tick, is_last = tick_of(event["input"]), True
    try:
        with aws_failures():
            yield
    except AwsUnavailable:
        is_last = event["retries"] >= MOST_RETRIES
        raise
    finally:
        if tick and event["first"] and is_last and (minutes := tick_minutes_of(event["input"])):
            record_tick(tick, minutes)


def _planned(event: StateEvent, deployment: Deployment) -> PlanEvent:
    # A deployment in between may have added or taken out tables: who has left the table out means the one of the first round.
    wish = ExecutionInput.parse(event["input"], event.get("table") or deployment.default_table)
    for _ in range(_MOST_RACES):
        found = parameters.read(deployment, wish.table, by_schedule=tick_of(event["input"]) is not None)
        seen = observe(deployment, wish.table, found, event)
        found.settings.columns.check_key(seen.source.table.key)
        action = next_action(seen, wish, rules_of(found.settings, seen.source.recovery_days, seen.table))
        if isinstance(action, Export) and action.is_new:
            action = begun_anew(action, seen, partial(reports.read, deployment, wish.table))
        logger.info("planned", extra={"table": wish.table, "action": describe(action)})
        if wish.dry_run or _claimed(deployment, wish.table, found, action, event["execution"]):
            break
    else:
        action = another_run(wish, "Another run claimed the work first; this run leaves it alone.")
    record_lag(wish.table, seen)
    answer: PlanEvent = {
        "planned_at": event["enteredAt"],
        **_answer(wish, seen, action, found.settings, deployment),
        **outlook(wish, seen, action, found.settings, found.told, meant_for(event)),
    }
    return {**answer, **rehearsed(deployment, seen, action)} if wish.dry_run else answer


def _claimed(
    deployment: Deployment, name: str, found: parameters.TableParameters, action: Action, execution: str
) -> bool:
    """Make the claim that an Export needs; False where another starter was faster."""
    if not isinstance(action, Export) or action.adopted:
        return True
    claim = action.claim(execution, found.settings.digest)
    if not parameters.create_claim(deployment, name, claim):
        return False
    try:
        parameters.remove_claims_before(deployment, name, found.runs, claim.number)
    except AWS_FAILED:
        logger.exception("old claims not removed; the next claim removes them")
    return True


def _answer(
    wish: ExecutionInput, seen: Observation, action: Action, settings: TableSettings, deployment: Deployment
) -> PlanEvent:
    """The event that the state machine switches on and hands from state to state."""
    identity = seen.source.table
    answer: PlanEvent = {
        **describe(action),
        "seen_at": format_optional(seen.source.latest),
        "table": wish.table,
        "iceberg_table": settings.iceberg_table,
        "buckets": settings.buckets,
        "columns_file": deployment.columns_file,
        "hash_secret": settings.used_secret,
        "compare_old_images": settings.compare_old_images,
        "snapshot_days": settings.snapshot_days,
        "source": {"arn": identity.arn, "id": identity.id, "key": [str(part) for part in identity.key]},
    }
    if isinstance(action, Halt):
        answer["cause"] = f"{action.message}{REMEDY_MARK}{action.remedy}"
    return answer


handler = doorway(_plan)
