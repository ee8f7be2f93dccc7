"""Whether an order may be carried out on the table as it stands: exactly once, in order, for one source.

Pure: the table's state and the order in, a decision out.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pipeline.columns.in_table.table_columns import has_key
from pipeline.errors import Gap, KeyMismatch, OtherTable, OtherTableId, Overlap, TableGone, WatermarkMissing
from pipeline.instants import format_instant
from pipeline.job_kinds import LOAD, MERGE
from pipeline.job_order import JobOrder
from pipeline.table.marker import Marker, TableState, read_table_state, snapshot_at


def is_done(state: TableState, order: JobOrder) -> bool:
    """Whether the order's work is in the table already.

    The work of a merge is there also where another job has brought the same stretch of the same source. Raises what
    `check_fits` raises, WatermarkMissing or TableGone, where it is not there and cannot be brought any more.
    """
    if order.job_id in state.job_ids:
        return True
    if order.job == LOAD:
        return False
    marker = _marker(state, order)
    check_source(marker, order)
    if order.job == MERGE and (marker.start, marker.watermark) == (order.start, order.end):
        return True
    check_fits(marker, order)
    return False


def check_follows(state: TableState, order: JobOrder) -> None:
    """Refuse to maintain a table that is of another source, or at another instant than the order says."""
    check_fits(_marker(state, order), order)


def check_key(metadata: Mapping[str, Any], order: JobOrder) -> None:
    """Refuse to look for the rows of a table by another key than theirs. Raises KeyMismatch."""
    if not has_key(metadata, order.source.key):
        declared = ", ".join(map(str, order.source.key))
        raise KeyMismatch(f"the rows of {order.table} are not found by the key {declared}, which the order says")


def compared_snapshot(metadata: Mapping[str, Any], order: JobOrder) -> int:
    """The snapshot that a verification looks at: the newest that shows the table at the order's instant.

    Raises what `check_fits` raises where the table has another source, or was never there.
    """
    marker = _marker(read_table_state(metadata), order)
    check_source(marker, order)
    found = snapshot_at(metadata, order.end)
    if found is None:
        raise _refusal(order.end, marker.watermark, order)
    return found


def check_fits(marker: Marker, order: JobOrder) -> None:
    """Refuse changes of another source, and changes that do not meet the watermark exactly."""
    check_source(marker, order)
    meets = order.start if order.job == MERGE else order.end
    if meets != marker.watermark:
        raise _refusal(meets, marker.watermark, order)


def check_source(marker: Marker, order: JobOrder) -> None:
    """Refuse exports of another source than the table follows."""
    if marker.source_arn != order.source.arn:
        raise OtherTable(f"{order.table} follows {marker.source_arn}, not {order.source.arn}")
    if marker.source_id != order.source.id:
        raise OtherTableId(f"{order.table} follows the table with id {marker.source_id}, not {order.source.id}")


def _refusal(meets: datetime, watermark: datetime, order: JobOrder) -> Gap | Overlap:
    stretch = f"the {order.job} of [{format_instant(order.start)}, {format_instant(order.end)})"
    here = f"{stretch} must meet the watermark {format_instant(watermark)} of {order.table}"
    if meets > watermark:
        return Gap(f"{here}, and comes after it: the changes between would be lost")
    return Overlap(f"{here}, and comes before it: rows deleted since could come back for ever")


def _marker(state: TableState, order: JobOrder) -> Marker:
    if not state.exists:
        # It did when this was planned. Whatever the settings say of lost history, the planner makes a table where there is none.
        raise TableGone(f"{order.table} does not exist any more, so there is nothing to {order.job}")
    if state.marker is None:
        raise WatermarkMissing(f"{order.table} carries no watermark, so there is nothing to {order.job}")
    return state.marker
