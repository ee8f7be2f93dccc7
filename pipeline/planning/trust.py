"""Trust: whether source and table are a base for more changes, and what a person must do where they are not. Pure."""

from __future__ import annotations

from datetime import timedelta

from pipeline.errors import (
    HistoryLost,
    RecoveryTooShort,
    TableRecreated,
    WatermarkAhead,
    WatermarkMissing,
)
from pipeline.identity import SourceTable
from pipeline.instants import format_instant
from pipeline.job_kinds import LOAD
from pipeline.modes import FULL
from pipeline.planning.actions import Halt
from pipeline.planning.execution_input import ExecutionInput
from pipeline.planning.observation import Observation
from pipeline.planning.rules import TIME_TO_ASK

#: DynamoDB's clock may differ from itself by about a minute between calls; more than this is no clock's fault.
CLOCK_TOLERANCE = timedelta(minutes=10)


def unfit(seen: Observation, wish: ExecutionInput) -> Halt | None:
    """Source or table are no base for more changes; a full export would be a new base."""
    if wish.mode == FULL or not seen.table.exists:
        return None
    marker = seen.table.marker
    restorable = seen.restorable
    if marker is None:
        return Halt.of(
            WatermarkMissing,
            "the table exists and carries no watermark that can be read, neither in a snapshot nor in a property",
        )
    if marker.source_arn != seen.source.table.arn:
        return _of_another(marker.source_arn, seen.source.table)
    if marker.source_id != seen.source.table.id:
        return Halt.of(
            TableRecreated,
            f"the table was loaded from {marker.source_arn} with id {marker.source_id}; "
            f"the source table's id is now {seen.source.table.id}",
        )
    if marker.watermark > restorable.latest + CLOCK_TOLERANCE:
        told = f"the source can be restored only to {format_instant(restorable.latest)}"
        return Halt.of(WatermarkAhead, f"the watermark is {format_instant(marker.watermark)}; {told}")
    if marker.watermark < restorable.earliest:
        told = f"the source's history begins at {format_instant(restorable.earliest)}"
        return Halt.of(HistoryLost, f"the watermark is {format_instant(marker.watermark)}; {told}")
    return None


def _of_another(arn: str, source: SourceTable) -> Halt:
    """The settings have given a table the name of another one's, as of one that was taken out and has left its rows."""
    return Halt.of(
        TableRecreated,
        f"the table holds the rows of another source table, {arn}, and none of {source.arn}",
        f"Give {source.name} an iceberg_table of its own in the settings, and deploy. Or, if nobody needs the rows of the other "
        "source any more, replace them by a new full export.",
    )


def recovery_too_short(seen: Observation, history_needed: timedelta) -> Halt | None:
    """History that is gone before its window can be exported is lost again and again, however often it is made good."""
    kept = seen.source.recovery_days
    if history_needed <= timedelta(days=kept):
        return None
    hours = history_needed / timedelta(hours=1)
    return Halt.of(
        RecoveryTooShort,
        f"the source keeps {kept * 24} hours of history; a window, a tick and the time to ask take {hours:g} hours",
    )


def load_too_long(seen: Observation) -> Halt | None:
    """A load that was lost again when it was done: the next one takes as long, and costs as much."""
    table, claim, kept = seen.table, seen.claim, timedelta(days=seen.source.recovery_days)
    if table.marker is None or table.marker.job != LOAD or table.committed_at is None:
        return None
    # What several runs have tried took as long as they waited, and not as a load does.
    if claim is None or claim.plan.job_id != table.marker.job_id or claim.is_second_try:
        return None
    took = table.committed_at - table.marker.watermark
    if took + TIME_TO_ASK <= kept:
        return None
    took_hours, kept_hours = took / timedelta(hours=1), kept // timedelta(hours=1)
    return Halt.of(
        RecoveryTooShort,
        f"the last full export with its load took {took_hours:.1f} hours, and the source keeps {kept_hours} hours of history: "
        "with the time to ask for more that is too little, and what has changed meanwhile was lost again",
        "Let the source keep its history for longer, 35 days at most: the next run makes the table anew then. Or let the jobs "
        "have more executors (spark.max_executors), deploy, and ask for a full export.",
    )
