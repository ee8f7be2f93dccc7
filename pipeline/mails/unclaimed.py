"""Whether a run that has failed had claimed what it was asked for: what it had not is forgotten with it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.errors import AwsUnavailable, PipelineError
from pipeline.events import PlanEvent, StateEvent
from pipeline.instants import parse_instant
from pipeline.mails.failure_names import Failure
from pipeline.modes import BACKFILL
from pipeline.planning.execution_input import wish_text


def unclaimed(event: StateEvent) -> str:
    """What a run was asked for beside an update and has not claimed, as its input; "" where there is no such wish.

    What has been claimed is finished by the next run, whoever starts it; what has not been is forgotten with this one, also
    where this one has gone on with somebody else's work first.
    """
    wish = wish_text(event["input"])
    return "" if not wish or _is_claimed(event["plan"], event["input"]) else wish


def may_have_claimed(failure: Failure) -> bool:
    """Whether Plan may have failed after it had made its claim: AWS did not answer any more, or it came to no end of its own.

    Time is up under one name or another, and an answer may be lost; what the product itself refuses it refuses before.
    """
    return failure.state == "Plan" and failure.error_class in (AwsUnavailable, PipelineError)


def _is_claimed(plan: PlanEvent, asked: Mapping[str, Any]) -> bool:
    """Whether what a run was doing is what it was asked for."""
    if plan.get("kind") == "Record":
        return bool(plan["fulfils"])  # what was asked for is done, and only the parameter is not
    if plan.get("kind", "Halt") == "Halt" or plan.get("mode") != asked["mode"]:
        return False
    return asked["mode"] != BACKFILL or parse_instant(plan["start"]) == parse_instant(asked["from"])
