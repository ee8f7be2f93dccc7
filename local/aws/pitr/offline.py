"""Exports without any server: writes of one table in, a folder that mirrors the bucket out, by the export service's own code.

    table = SourceTable("arn:aws:dynamodb:us-east-1:000000000000:table/orders", "0b9…", (KeyAttribute("pk", "S"),))
    journal = journal_of(table, enabled_at=NOON, writes=[
        Put(NOON + timedelta(minutes=1), {"pk": {"S": "a"}, "total": {"N": "12.50"}}),
        Delete(NOON + timedelta(minutes=20), {"pk": {"S": "a"}}),
    ])
    exports = write_exports(folder, table, journal, [
        FullExport(NOON + timedelta(minutes=5)),
        IncrementalExport(ExportWindow(NOON + timedelta(minutes=5), NOON + timedelta(minutes=25))),
    ])
    exports[0].summary  # folder/AWSDynamoDB/<id>/manifest-summary.json

A write at exactly an export's time, or at a window's end, is not shown by it; one at a window's start is.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from local.aws.pitr.files import (
    PARTITIONS,
    ExportHeading,
    billed_bytes,
    data_files,
    export_id,
    manifests,
    started_marker,
)
from local.aws.pitr.images import image_of, key_of, stored_form
from local.aws.pitr.journal import DEFAULT_RECOVERY_DAYS, Journal
from local.aws.pitr.oddities import oddities_named
from local.aws.pitr.records import DYNAMODB_JSON, NEW_AND_OLD_IMAGES, Extent
from local.aws.pitr.times import SECOND, micros_of_instant, whole_seconds
from pipeline.exports.windows import ExportWindow
from pipeline.identity import SourceTable

# As long as DynamoDB takes at least, so that starts and ends look real.
_EXPORT_TAKES = 300 * SECOND


@dataclass(frozen=True)
class Put:
    """An item written whole, in DynamoDB JSON; an update is the put of what it leads to."""

    at: datetime
    item: Mapping[str, Any]


@dataclass(frozen=True)
class Delete:
    """An item deleted; `key` holds its key attributes."""

    at: datetime
    key: Mapping[str, Any]


@dataclass(frozen=True)
class FullExport:
    """All items at one instant."""

    at: datetime


@dataclass(frozen=True)
class IncrementalExport:
    """The net changes of a window."""

    window: ExportWindow
    view: str = NEW_AND_OLD_IMAGES


@dataclass(frozen=True)
class WrittenExport:
    """An export in a folder: its ARN and the file of its manifest summary."""

    arn: str
    summary: Path
    item_count: int


def journal_of(table: SourceTable, *, enabled_at: datetime, writes: Iterable[Put | Delete]) -> Journal:
    """The journal of a table that was empty when recovery was switched on, after these writes, oldest first.

    Numbers and sets become what DynamoDB stores. Raises ValueError for a value that it does not take.
    """
    journal = Journal(micros_of_instant(enabled_at), recovery_days=DEFAULT_RECOVERY_DAYS)
    names = [attribute.name for attribute in table.key]
    for write in writes:
        at = micros_of_instant(write.at)
        if isinstance(write, Put):
            item = stored_form(write.item)
            journal.write(at, key_of(item, names), image_of(item))
        else:
            journal.write(at, key_of(stored_form(write.key), names), None)
    return journal


def write_exports(
    folder: Path,
    table: SourceTable,
    journal: Journal,
    requests: Sequence[FullExport | IncrementalExport],
    *,
    bucket: str = "exports",
    prefix: str | None = None,
    oddities: Iterable[str] = (),
    partitions: int = PARTITIONS,
    file_format: str = DYNAMODB_JSON,
) -> list[WrittenExport]:
    """Write the exports into `folder` as the bucket would hold them, in the order asked for; returns where they are.

    Repeatable: the same arguments give the same files. `oddities` are names of `local/aws/pitr/oddities.py`.
    """
    named = oddities_named(oddities)
    written = []
    for number, request in enumerate(requests):
        extent = extent_of(request)
        # Each starts when the previous one ends, after what it shows.
        started_at = whole_seconds(extent.end) + (number + 1) * _EXPORT_TAKES
        names = random.Random(f"{table.id} {number} {extent}")  # noqa: S311 - names, not secrets
        heading = ExportHeading(
            export_id=export_id(started_at, f"{names.getrandbits(32):08x}"),
            table=table,
            extent=extent,
            started_at=started_at,
            bucket=bucket,
            prefix=prefix,
            file_format=file_format,
            oddities=named,
        )
        written.append(_write(folder, heading, journal, names, partitions))
    return written


def extent_of(request: FullExport | IncrementalExport) -> Extent:
    """What a request asks to be shown."""
    if isinstance(request, FullExport):
        return Extent(micros_of_instant(request.at))
    window = request.window
    return Extent(micros_of_instant(window.end), micros_of_instant(window.start), request.view)


def _write(
    folder: Path, heading: ExportHeading, journal: Journal, names: random.Random, partitions: int
) -> WrittenExport:
    for marker in started_marker(heading):
        _put(folder, marker.key, marker.content)
    listings = []
    for file, listing in data_files(heading, journal, names, partitions):
        _put(folder, file.key, file.content)
        listings.append(listing)
    ended_at = heading.started_at + _EXPORT_TAKES
    for manifest in manifests(heading, listings, ended_at, billed_bytes(heading, journal), names):
        _put(folder, manifest.key, manifest.content)
    total = sum(listing.item_count for listing in listings)
    return WrittenExport(heading.arn, folder / heading.summary_key, total)


def _put(folder: Path, key: str, content: bytes) -> None:
    file = folder / key
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
