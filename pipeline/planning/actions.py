"""The actions that the planner may answer with, and what is handed on of each. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Union

from pipeline.errors import PipelineError
from pipeline.events import PlanEvent
from pipeline.instants import format_instant, format_optional
from pipeline.planning.journal import Claim, RunPlan

#: The reason of an Idle that says the table is as it should be; the other reasons say nothing of the table.
UP_TO_DATE = "UpToDate"
PAUSED, ANOTHER_RUN = "Paused", "AnotherRun"
NOTHING_RESTORABLE, WISH_FULFILLED, HANDED_OVER = "NothingRestorable", "WishFulfilled", "HandedOver"
#: The kind of an Export whose plan has no exports.
MAINTAINS = "Maintain"
#: What a person is told of NothingRestorable.
NOTHING_RESTORABLE_MESSAGE = "Point-in-time recovery was turned on a moment ago; nothing can be exported yet."


@dataclass(frozen=True)
class Export:
    """Make the plan's exports, if it has any, and run its job. `number`: the claim to hold; `adopted`: it is held already.

    `tries` and `counted`: what its claim says of earlier refusals.
    `because`: why the schedule does what nobody has asked for, else "".
    """

    plan: RunPlan
    number: int
    adopted: bool = False
    taken_over_from: str = ""
    because: str = ""
    tries: int = 1
    counted: str = ""

    @property
    def is_new(self) -> bool:
        """Whether nobody has claimed this work before."""
        return not (self.adopted or self.taken_over_from)

    @property
    def kind(self) -> str:
        """What the run begins with: the exports, or, where the plan has none, the job that puts the table's files in order."""
        return "Export" if self.plan.requests else MAINTAINS

    def claim(self, owner: str, settings: str) -> Claim:
        """The claim to make for it. `owner`: the execution's ARN; `settings`: the digest of the table's settings."""
        return Claim(self.number, owner, self.plan, self.tries, settings, self.counted)


@dataclass(frozen=True)
class Record:
    """The table is right and the last-export-time parameter is not: write it again from the table.

    `unrecorded`: the mode of the work that its run has committed and not recorded any more; "" where somebody has changed
    the parameter. `fulfils`: whether what the execution was started for is done. `untold`: the job id of a wish, of the mode
    `unrecorded`, that is done and that nobody has been told of; the parameter may be right then.
    """

    watermark: datetime
    recorded: str
    unrecorded: str = ""
    fulfils: bool = False
    untold: str = ""

    kind = "Record"


@dataclass(frozen=True)
class Idle:
    """Nothing to do: the run ends well. `reason` is one of those above."""

    reason: str
    message: str
    until: datetime | None = None

    kind = "Idle"


@dataclass(frozen=True)
class Halt:
    """A person must act, or at least know: the run fails with the named error.

    `ends`: the job id of the wish that no run goes on with, whose end it tells; `mode`: that of the wish, where its job's own
    error tells; `asked`: the input to ask for it again, as JSON. Else "".
    """

    error: str
    message: str
    remedy: str
    ends: str = ""
    mode: str = ""
    asked: str = ""

    kind = "Halt"

    @classmethod
    def of(
        cls,
        error: type[PipelineError],
        message: str,
        remedy: str = "",
        *,
        ends: str = "",
        mode: str = "",
        asked: str = "",
    ) -> Halt:
        """The Halt for an error, with its own remedy unless told otherwise."""
        return cls(error.__name__, message, remedy or error.default_remedy, ends, mode, asked)


Action = Union[Export, Record, Idle, Halt]


def describe(action: Action) -> PlanEvent:
    """The action as plain JSON values, for the event that the state machine switches on and for a dry run."""
    if isinstance(action, Export):
        return _of_export(action)
    if isinstance(action, Record):
        return _of_record(action)
    if isinstance(action, Idle):
        until = format_optional(action.until)
        return {"kind": action.kind, "reason": action.reason, "message": action.message, "until": until}
    return _of_halt(action)


def _of_export(action: Export) -> PlanEvent:
    plan = action.plan
    told: PlanEvent = {
        "kind": action.kind,
        "mode": plan.mode,
        "job": plan.job,
        "claim": action.number,
        "job_id": plan.job_id,
        "attempt": plan.attempt,
        "exports": [request.to_json() for request in plan.requests],
        "start": format_instant(plan.start),
        "end": format_instant(plan.end),
        "taken_over_from": action.taken_over_from,
    }
    if action.because:
        told["because"] = action.because
    if action.adopted:
        told["adopted"] = True
    return told


def _of_record(action: Record) -> PlanEvent:
    told: PlanEvent = {
        "kind": action.kind,
        "watermark": format_instant(action.watermark),
        "recorded": action.recorded,
        "unrecorded": action.unrecorded,
        "fulfils": action.fulfils,
    }
    return {**told, "mode": action.unrecorded, "job_id": action.untold} if action.untold else told


def _of_halt(action: Halt) -> PlanEvent:
    wish: PlanEvent = {"ends": action.ends, "asked": action.asked} if action.ends else {}
    if action.mode:
        wish["mode"] = action.mode
    return {"kind": action.kind, "error": action.error, "message": action.message, "remedy": action.remedy, **wish}
