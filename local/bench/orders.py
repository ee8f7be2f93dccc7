"""The benchmark's data: exports of a table of orders, as DynamoDB writes them, about 800 bytes an item.

Deterministic: an order is made of its number and its version alone, so any part of the table can be written by any
process, and the change stream knows every old image without keeping it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from local.aws.pitr.files import (
    ExportedObject,
    ExportHeading,
    FileListing,
    export_id,
    gzipped,
    manifests,
    md5_base64,
    multipart_etag,
)
from local.aws.pitr.records import NEW_AND_OLD_IMAGES, Extent
from local.aws.pitr.times import micros_of_instant
from pipeline.identity import KeyAttribute, SourceTable
from pipeline.windows import ExportWindow

SOURCE = SourceTable(
    "arn:aws:dynamodb:us-east-1:000000000000:table/bench-orders",
    "0b9ff8a2-0000-4000-8000-00000000be0c",
    (KeyAttribute("customer", "S"), KeyAttribute("order", "N")),
)
LOADED_AT = datetime(2026, 11, 1, tzinfo=UTC)
_WINDOW_LENGTH = timedelta(hours=1)
#: Of the changes, every tenth inserts and every tenth deletes; the others update.
_INSERTS, _DELETES = 0, 1
_ITEMS_A_FILE = 62_500
_STATES = ("placed", "paid", "packed", "sent", "delivered", "returned")
_CITIES = ("Lisbon", "Oslo", "Kyoto", "Quito", "Perth", "Zürich", "São Paulo")
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


@dataclass(frozen=True)
class WrittenExport:
    """An export on disk: the file of its manifest summary, its items, and the bytes of its lines before compression."""

    summary: Path
    items: int
    raw_bytes: int


@dataclass(frozen=True)
class _Part:
    """What one file holds: orders, or changes, from `first` to `end`, of a table of `items`. No `changes`: of a load."""

    first: int
    end: int
    items: int
    changes: int = 0
    index: int = 0


def write_full(folder: Path, items: int) -> WrittenExport:
    """A full export of orders 0 to `items`."""
    parts = [_Part(first, min(first + _ITEMS_A_FILE, items), items) for first in range(0, items, _ITEMS_A_FILE)]
    return _write(folder, Extent(micros_of_instant(LOADED_AT)), parts)


def window(index: int) -> ExportWindow:
    """The window so many windows after the load; they touch."""
    start = LOADED_AT + index * _WINDOW_LENGTH
    return ExportWindow(start, start + _WINDOW_LENGTH)


def write_changes(folder: Path, items: int, changes: int, index: int = 0) -> WrittenExport:
    """An incremental export of `changes` changes in a window, spread over a table of `items` orders.

    No order changes in two windows, as long as a window changes less than a share of 1/`index + 1` of them.
    """
    bounds = window(index)
    extent = Extent(micros_of_instant(bounds.end), micros_of_instant(bounds.start), NEW_AND_OLD_IMAGES)
    share = -(-changes // 4)
    parts = [_Part(first, min(first + share, changes), items, changes, index) for first in range(0, changes, share)]
    return _write(folder, extent, parts)


def _write(folder: Path, extent: Extent, parts: Sequence[_Part]) -> WrittenExport:
    total = sum(part.end - part.first for part in parts)
    heading = ExportHeading(export_id(extent.end, f"{total:08x}"), SOURCE, extent, extent.end, "bench")
    with ProcessPoolExecutor(max_workers=2) as pool:
        written = list(pool.map(_write_file, [folder] * len(parts), [heading] * len(parts), parts))
    names = random.Random(heading.export_id)  # noqa: S311 - names, not secrets
    for manifest in manifests(heading, [listing for listing, _ in written], extent.end, 0, names):
        _put(folder, manifest)
    return WrittenExport(folder / heading.summary_key, total, sum(raw for _, raw in written))


def _write_file(folder: Path, heading: ExportHeading, part: _Part) -> tuple[FileListing, int]:
    """One data file, as the manifest lists it, and its bytes before compression."""
    lines = (
        list(_change_lines(part)) if part.changes else [f'{{"Item":{order(n)}}}' for n in range(part.first, part.end)]
    )
    content, count = gzipped(lines)
    letters = random.Random(f"{heading.export_id} {part.first}").choices(_LETTERS, k=26)  # noqa: S311 - names
    key = f"{heading.data_folder}{''.join(letters)}.json.gz"
    _put(folder, ExportedObject(key, content))
    return FileListing(key, count, md5_base64(content), multipart_etag(content)), sum(
        len(line.encode()) + 1 for line in lines
    )


def _put(folder: Path, made: ExportedObject) -> None:
    file = folder / made.key
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(made.content)


def _change_lines(part: _Part) -> Iterator[str]:
    step, begin = max(1, part.items // part.changes), micros_of_instant(window(part.index).start)
    for change in range(part.first, part.end):
        kind = change % 10
        new_number = part.items * (part.index + 1) + change
        number = new_number if kind == _INSERTS else change * step + part.index
        old = "" if kind == _INSERTS else f',"OldImage":{order(number)}'
        new = "" if kind == _DELETES else f',"NewImage":{order(number, 1)}'
        micros = begin + 1_000 * change
        yield f'{{"Metadata":{{"WriteTimestampMicros":{{"N":"{micros}"}}}},"Keys":{{{_key(number)}}}{old}{new}}}'


def _key(number: int) -> str:
    return f'"customer":{{"S":"c{number % 9973:06d}"}},"order":{{"N":"{number}"}}'


def order(number: int, version: int = 0) -> str:
    """An order as DynamoDB JSON. All ten types occur; a fiftieth of the orders has an odd value somewhere."""
    r = random.Random(number * 2 + version)  # noqa: S311 - test data, not a secret
    x = r.getrandbits(62)
    lines = ",".join(
        f'{{"M":{{"sku":{{"S":"SKU-{(x >> i) % 50000:05d}"}},"quantity":{{"N":"{(x >> (i + 3)) % 9 + 1}"}},'
        f'"price":{{"N":"{(x >> i) % 90000 / 100:.2f}"}}}}}}'
        for i in range(1 + x % 3)
    )
    rare = ',"note":{"S":"Leave at the door; `ring` twice \\"please\\""}' if x % 10 == 0 else ""
    weight = '{"S":"about two kilos"}' if x % 50 == 0 else f'{{"N":"{(x >> 7) % 5000 / 100:g}"}}'
    return (
        f'{{{_key(number)},"order state":{{"S":"{_STATES[(x >> 9) % 6]}"}},"total":{{"N":"{(x >> 5) % 5000000 / 100:.2f}"}}'
        f',"paid":{{"BOOL":{"true" if x & 1 else "false"}}},"lines":{{"L":[{lines}]}}'
        f',"ship.to":{{"M":{{"city":{{"S":"{_CITIES[(x >> 11) % 7]}"}},"Zip-Code":{{"S":"{(x >> 13) % 99999:05d}"}}'
        f',"street":{{"S":"{x:019d} Long Street"}}}}}},"tags":{{"SS":["new","vip{x % 7}"]}}'
        f',"slots":{{"NS":["{x % 24}","{24 + x % 5}"]}}'
        f',"label":{{"B":"{x:016x}"}},"seals":{{"BS":["{x % 65536:04x}"]}},"coupon":{{"NULL":true}},"weight":{weight}'
        f',"version":{{"N":"{version}"}},"created":{{"N":"{1760000000 + number}"}},"trace":{{"S":"{x:032x}"}}{rare}}}'
    )
