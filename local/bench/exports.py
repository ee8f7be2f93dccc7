"""The benchmark's exports: full ones of made-up items, and windows of changes that touch, as DynamoDB writes them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from local.aws.pitr.files import (
    ExportedObject,
    ExportHeading,
    FileListing,
    bill,
    export_id,
    gzipped,
    manifests,
    md5_base64,
    multipart_etag,
)
from local.aws.pitr.records import NEW_AND_OLD_IMAGES, Extent
from local.aws.pitr.times import micros_of_instant
from local.bench import orders
from pipeline.exports.windows import ExportWindow
from pipeline.identity import SourceTable

SOURCE = SourceTable(
    "arn:aws:dynamodb:us-east-1:000000000000:table/bench-orders", "0b9ff8a2-0000-4000-8000-00000000be0c", orders.KEY
)
LOADED_AT = datetime(2026, 11, 1, tzinfo=UTC)
_WINDOW_LENGTH = timedelta(hours=1)
_BYTES_A_FILE = 45_000_000
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


@dataclass(frozen=True)
class WrittenExport:
    """An export on disk: the file of its manifest summary, its items, and the bytes of its lines before compression."""

    summary: Path
    items: int
    raw_bytes: int


def write_full(folder: Path, items: int, item: Callable[[int], str] = orders.order) -> WrittenExport:
    """A full export of the items 0 to `items`; `item` makes DynamoDB JSON of a number."""
    in_a_file = max(1, _BYTES_A_FILE // len(item(0)))
    parts = [partial(_full, item, first, min(first + in_a_file, items)) for first in range(0, items, in_a_file)]
    return _write(folder, Extent(micros_of_instant(LOADED_AT)), parts)


def window(index: int) -> ExportWindow:
    """The window so many windows after the load; they touch."""
    start = LOADED_AT + index * _WINDOW_LENGTH
    return ExportWindow(start, start + _WINDOW_LENGTH)


def write_changes(folder: Path, items: int, first: int, changes: int, index: int) -> WrittenExport:
    """An incremental export of window `index`: so many changes of a table of `items` orders, from change `first` on."""
    bounds, end, share = window(index), first + changes, -(-changes // 4)
    start = micros_of_instant(bounds.start)
    parts = [
        partial(orders.changes, items, begin, min(begin + share, end), start) for begin in range(first, end, share)
    ]
    return _write(folder, Extent(micros_of_instant(bounds.end), start, NEW_AND_OLD_IMAGES), parts)


def _full(item: Callable[[int], str], first: int, end: int) -> Iterable[str]:
    return (f'{{"Item":{item(number)}}}' for number in range(first, end))


def _write(folder: Path, extent: Extent, parts: Sequence[Callable[[], Iterable[str]]]) -> WrittenExport:
    heading = ExportHeading(export_id(extent.end, f"{len(parts):08x}"), SOURCE, extent, extent.end, "bench")
    with ProcessPoolExecutor(max_workers=2) as pool:
        written = list(pool.map(_write_file, [folder] * len(parts), [heading] * len(parts), range(len(parts)), parts))
    names = random.Random(heading.export_id)  # noqa: S311 - names, not secrets
    raw_bytes = sum(raw for _, raw in written)
    billed = bill(extent, raw_bytes)  # as if the lines were what the items weigh, which is a little less
    for manifest in manifests(heading, [listing for listing, _ in written], extent.end, billed, names):
        _put(folder, manifest)
    items = sum(listing.item_count for listing, _ in written)
    return WrittenExport(folder / heading.summary_key, items, raw_bytes)


def _write_file(
    folder: Path, heading: ExportHeading, place: int, part: Callable[[], Iterable[str]]
) -> tuple[FileListing, int]:
    """One data file, as the manifest lists it, and its bytes before compression."""
    lines = list(part())
    content, count = gzipped(lines)
    letters = random.Random(f"{heading.export_id} {place}").choices(_LETTERS, k=26)  # noqa: S311 - names
    key = f"{heading.data_folder}{''.join(letters)}.json.gz"
    _put(folder, ExportedObject(key, content))
    raw_bytes = sum(len(line.encode()) + 1 for line in lines)
    return FileListing(key, count, md5_base64(content), multipart_etag(content)), raw_bytes


def _put(folder: Path, made: ExportedObject) -> None:
    file = folder / made.key
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(made.content)
