"""Everything the planner may look at, read once, and the actions it may answer with. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Union

from pipeline.identity import SourceTable
from pipeline.instants import format_instant, whole_second
from pipeline.modes import MAINTAIN
from pipeline.planning.horizon import DEFAULT_RECOVERY_DAYS, Horizon
from pipeline.planning.journal import Claim, RunPlan
from pipeline.table.marker import TableState

#: The reason of an Idle that says the table is as it should be; the other reasons say nothing of the table.
UP_TO_DATE = "UpToDate"
PAUSED, ANOTHER_RUN = "Paused", "AnotherRun"
NOTHING_RESTORABLE, WISH_FULFILLED, HANDED_OVER = "NothingRestorable", "WishFulfilled", "HandedOver"
#: The kind of an Export whose plan has no exports.
MAINTAINS = "Maintain"
#: What a person is told of NothingRestorable.
NOTHING_RESTORABLE_MESSAGE = "Point-in-time recovery was turned on a moment ago; nothing can be exported yet."


@dataclass(frozen=True)
class RestorableRange:
    """The instants that can be exported, both ends among them."""

    earliest: datetime
    latest: datetime

    @property
    def is_empty(self) -> bool:
        """Whether recovery was turned on so short a time ago that there is no whole second in it yet."""
        return self.latest < self.earliest


@dataclass(frozen=True)
class SourceHistory:
    """The source table and the history of it that can be exported now.

    With point-in-time recovery off, `earliest` and `latest` are None. `size_bytes` is DynamoDB's own figure, up to
    six hours old. `recovery_days` is the recovery period.
    """

    table: SourceTable
    earliest: datetime | None
    latest: datetime | None
    size_bytes: int = 0
    recovery_days: int = DEFAULT_RECOVERY_DAYS

    def horizon(self, watermark: datetime | None) -> Horizon | None:
        """Where the watermark stands in this history; None without a watermark or with recovery off."""
        if watermark is None or self.earliest is None or self.latest is None:
            return None
        return Horizon(watermark, self.earliest, self.latest, self.recovery_days)


@dataclass(frozen=True)
class Observation:
    """What was seen: the source, the table, the parameters and who asks.

    `control` is the control parameter's value; `recorded` the last-export-time parameter's, or "" where there is none;
    `claim` the claim in force; `execution` the ARN of the execution that plans. `told_end`: the job id of the wish whose
    end has been mailed last, or "". `settings`: the digest of the table's settings. `by_schedule`: no person asks.
    `cannot_record`: it has been mailed that `recorded` could not be corrected, and nothing has worked since. `at_work`: for
    how long the execution has been. `is_first_round`: it has done nothing yet.
    """

    source: SourceHistory
    table: TableState
    control: str
    recorded: str
    claim: Claim | None
    execution: str
    told_end: str = ""
    settings: str = ""
    by_schedule: bool = True
    cannot_record: bool = False
    at_work: timedelta = timedelta(0)
    is_first_round: bool = True

    @property
    def horizon(self) -> Horizon | None:
        """Where the table stands in the history of its source; None where it follows another one, or nobody knows."""
        follows = self.table.marker is not None and self.table.marker.source_id == self.source.table.id
        return self.source.horizon(self.table.watermark) if follows else None

    @property
    def is_maintained(self) -> bool:
        """Whether the last thing that was claimed is maintenance, and it has been carried out."""
        return self.claim is not None and self.claim.plan.mode == MAINTAIN and self.claim.is_done(self.table)

    @property
    def restorable(self) -> RestorableRange:
        """What can be exported, in whole seconds. Only where recovery is on."""
        earliest, latest = self.source.earliest, self.source.latest
        assert latest is not None and earliest is not None  # the planner asks first whether recovery is on
        rounded = whole_second(earliest)
        return RestorableRange(rounded if rounded == earliest else rounded + timedelta(seconds=1), whole_second(latest))


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


Action = Union[Export, Record, Idle, Halt]


def describe(action: Action) -> dict[str, Any]:
    """The action as plain JSON values, for the event that the state machine switches on and for a dry run."""
    if isinstance(action, Export):
        plan = action.plan
        return {
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
            **({"because": action.because} if action.because else {}),
        }
    if isinstance(action, Record):
        return {
            "kind": action.kind,
            "watermark": format_instant(action.watermark),
            "recorded": action.recorded,
            "unrecorded": action.unrecorded,
            "fulfils": action.fulfils,
            **({"mode": action.unrecorded, "job_id": action.untold} if action.untold else {}),
        }
    if isinstance(action, Idle):
        until = format_instant(action.until) if action.until else ""
        return {"kind": action.kind, "reason": action.reason, "message": action.message, "until": until}
    wish = {"ends": action.ends, "asked": action.asked} if action.ends else {}
    if action.mode:
        wish["mode"] = action.mode
    return {"kind": action.kind, "error": action.error, "message": action.message, "remedy": action.remedy, **wish}
