"""What a run costs, from list prices of us-east-1 as published in public sources in November 2026, in US dollars.

Other Regions differ by some percent; the figures are for orders of magnitude and for comparing windows, not for books.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from pipeline.journal import RunPlan

EXPORT_PER_GB = 0.10
#: An incremental export bills at least 10,000,000 bytes, however quiet the window was.
SMALLEST_INCREMENTAL = 10_000_000
#: EMR Serverless on arm64.
VCPU_HOUR, MEMORY_GB_HOUR, STORAGE_GB_HOUR = 0.042094, 0.004628, 0.000111

_GB = 1e9


def export_cost(billed_bytes: int) -> float:
    """What DynamoDB asks for exports that billed so many bytes."""
    return billed_bytes / _GB * EXPORT_PER_GB


def job_cost(billed: Mapping[str, Any]) -> float:
    """What EMR Serverless asks for a job run's ``BilledResourceUtilization`` (hours of vCPU, memory and storage)."""
    return (
        float(billed.get("VCPUHour", 0)) * VCPU_HOUR
        + float(billed.get("MemoryGBHour", 0)) * MEMORY_GB_HOUR
        + float(billed.get("StorageGBHour", 0)) * STORAGE_GB_HOUR
    )


def estimate_export(plan: RunPlan, table_bytes: int) -> float:
    """What a plan's exports will cost at the least: the table's size for a full one, the minimum bill for each window."""
    if plan.is_full:
        return export_cost(table_bytes)
    return export_cost(SMALLEST_INCREMENTAL * len(plan.requests))


def month_of_exports(window: timedelta, bytes_per_hour: float = 0) -> float:
    """What a table costs in exports in 30 days with windows of this length, when so much is written to it."""
    billed = max(SMALLEST_INCREMENTAL, bytes_per_hour * (window / timedelta(hours=1)))
    return billed / _GB * EXPORT_PER_GB * (timedelta(days=30) / window)
