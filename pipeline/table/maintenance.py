"""Maintenance: when the schedule puts a table's files in order, which snapshots go, and what is told of it. Pure.

Every merge leaves small files, rows that delete files hide, and a snapshot that keeps all files it refers to. Maintenance
writes small files together, lets go of what is older than the settings keep, and removes files that no snapshot knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pipeline.instants import format_instant
from pipeline.table.marker import WATERMARK, TableState, with_marker
from pipeline.table.snapshots import ancestors_of_main
from pipeline.wording import number_of

#: The property of a table, of Iceberg's own, by which somebody keeps every snapshot and every file.
GC = "gc.enabled"
#: What is counted; what goes for good only where something may.
COUNTED = (
    "files_rewritten",
    "files_written",
    "bytes_rewritten",
    "delete_files_removed",
    "snapshots_expired",
    "files_expired",
    "orphans_removed",
)


def is_due(table: TableState, every: timedelta) -> bool:
    """Whether so much history has come in since maintenance was last begun, or else since the oldest commit; zero: never."""
    if not every or table.watermark is None:
        return False
    since = table.maintained or table.commits[-1].marker.watermark
    return table.watermark - since >= every


def oldest_kept(metadata: Mapping[str, Any], watermark: datetime, keep: timedelta) -> int | None:
    """When the oldest snapshot was made that is to be kept, in milliseconds; None where all are.

    That is the newest that shows the table as it was `keep` before the watermark, or earlier: every instant since can be
    looked at. Reckoned in the table's history, not by the clock: of a table that nothing comes to nothing goes.
    """
    until = format_instant(watermark - keep)
    marked = with_marker(ancestors_of_main(metadata))
    return next((one["timestamp-ms"] for one in marked if one["summary"][WATERMARK] <= until), None)


def may_remove(metadata: Mapping[str, Any]) -> bool:
    """Whether Iceberg lets snapshots and files of the table go: not where somebody has set that they stay."""
    return str(metadata.get("properties", {}).get(GC, "true")).lower() == "true"


def lines(counts: Mapping[str, int]) -> list[str]:
    """What maintenance has done, in lines for people."""
    found = {name: counts.get(name, 0) for name in COUNTED}
    written = (
        f"Files written together: {found['files_rewritten']} became {found['files_written']} "
        f"({found['bytes_rewritten'] / 1e6:.1f} MB); {number_of(found['delete_files_removed'], 'delete file')} went."
    )
    if "snapshots_expired" not in counts:
        return [written, f"No snapshots and orphan files were let go: the table's property {GC} is false."]
    return [
        written,
        f"Snapshots that expired: {found['snapshots_expired']}, with {number_of(found['files_expired'], 'file')}.",
        f"Orphan files, of jobs that died: {found['orphans_removed']}.",
    ]
