"""What a run costs, from list prices of us-east-1 as published in public sources in November 2026, in US dollars.

Other Regions differ by some percent; the figures are for orders of magnitude and for comparing windows, not for books.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from pipeline.exports.windows import SMALLEST_INCREMENTAL, windows_between
from pipeline.planning.journal import RunPlan
from pipeline.table.marker import Marker

EXPORT_PER_GB = 0.10
#: EMR Serverless on arm64.
VCPU_HOUR, MEMORY_GB_HOUR, STORAGE_GB_HOUR = 0.042094, 0.004628, 0.000111

_GB = 1e9


def export_cost(billed_bytes: int) -> float:
    """What DynamoDB asks for exports that billed so many bytes."""
    return billed_bytes / _GB * EXPORT_PER_GB


def exported_bytes(description: Mapping[str, Any]) -> int:
    """What a full export of a table is billed by, from its ``TableDescription``: its items, and local secondary indexes."""
    indexes = description.get("LocalSecondaryIndexes", ())
    return int(description.get("TableSizeBytes", 0) + sum(index.get("IndexSizeBytes", 0) for index in indexes))


def job_cost(billed: Mapping[str, Any]) -> float:
    """What EMR Serverless asks for a job run's ``BilledResourceUtilization`` (hours of vCPU, memory and storage)."""
    return (
        float(billed.get("VCPUHour", 0)) * VCPU_HOUR
        + float(billed.get("MemoryGBHour", 0)) * MEMORY_GB_HOUR
        + float(billed.get("StorageGBHour", 0)) * STORAGE_GB_HOUR
    )


@dataclass(frozen=True)
class LastRun:
    """What is known of a table's last run with work: its job, how long all of it took, what its job was billed."""

    job_id: str
    took: timedelta | None = None
    billed: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Estimate:
    """What a plan will cost and how long it takes, as far as that can be known; None for what is not."""

    export_usd: float
    job_usd: float | None = None
    minutes: float | None = None
    like: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for a dry run's output. `like`: the job id of the run that job and minutes are taken from."""
        return asdict(self)

    @property
    def usd(self) -> float:
        """All that is known of the price."""
        return self.export_usd + (self.job_usd or 0.0)


def estimate(plan: RunPlan, table_bytes: int, last: LastRun | None = None, merged: Marker | None = None) -> Estimate:
    """Estimate a plan: exports by the table's size or by what was written of late, the job and the time as of the last run.

    `merged`: the marker of the last merge.
    """
    price = export_cost(table_bytes) if plan.is_full else _windows_cost(plan, merged)
    if last is None:
        return Estimate(price)
    minutes = None if last.took is None else round(last.took / timedelta(minutes=1), 1)
    job = None if last.billed is None else job_cost(last.billed)
    return Estimate(price, job, minutes, last.job_id if job is not None or minutes is not None else "")


def _windows_cost(plan: RunPlan, changes: Marker | None) -> float:
    """What windows will cost: the minimum bill each, or what the last merge was billed for as much time, if that is more."""
    hourly = 0.0
    if changes and changes.billed_bytes and changes.watermark > changes.start:
        billed, stretch = changes.billed_bytes, changes.watermark - changes.start
        # A multiple of the minimum bill says only that little was written.
        hourly = 0.0 if billed % SMALLEST_INCREMENTAL == 0 else billed / (stretch / timedelta(hours=1))
    hours = (window.length / timedelta(hours=1) for window in windows_between(plan.bounds))
    return export_cost(sum(max(SMALLEST_INCREMENTAL, round(hourly * length)) for length in hours))
