"""Everything the planner may look at, read once. Values only; what it may answer is in `pipeline.planning.actions`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from pipeline.identity import SourceTable
from pipeline.instants import whole_second
from pipeline.modes import MAINTAIN
from pipeline.planning.horizon import DEFAULT_RECOVERY_DAYS, Horizon
from pipeline.planning.journal import Claim
from pipeline.table.marker import TableState


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

    @property
    def restorable(self) -> RestorableRange | None:
        """What can be exported, in whole seconds; None with recovery off."""
        if self.earliest is None or self.latest is None:
            return None
        rounded = whole_second(self.earliest)
        earliest = rounded if rounded == self.earliest else rounded + timedelta(seconds=1)
        return RestorableRange(earliest, whole_second(self.latest))

    def horizon(self, watermark: datetime | None) -> Horizon | None:
        """Where the watermark stands in what can be exported; None without a watermark or with recovery off."""
        found = self.restorable
        return Horizon(watermark, found.earliest, found.latest, self.recovery_days) if watermark and found else None


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
    def own_claim(self) -> Claim | None:
        """The claim in force, if the execution that plans has made it."""
        return self.claim if self.claim and self.claim.owner == self.execution else None

    @property
    def other_at_work(self) -> str:
        """The execution that is at work on the table, if it is another than the one that plans; else ""."""
        claim = self.claim
        return claim.owner if claim and claim.owner_runs and claim.owner != self.execution else ""

    @property
    def is_maintained(self) -> bool:
        """Whether the last thing that was claimed is maintenance, and it has been carried out."""
        return self.claim is not None and self.claim.plan.mode == MAINTAIN and self.claim.is_done(self.table)

    @property
    def restorable(self) -> RestorableRange:
        """What can be exported, in whole seconds. Only where recovery is on."""
        found = self.source.restorable
        assert found is not None  # the planner asks first whether recovery is on
        return found
