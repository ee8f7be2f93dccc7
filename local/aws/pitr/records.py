"""Records: the lines of data files, and which simulated partition each belongs to.

Line forms as seen in real exports; `WriteTimestampMicros` is ``{"N":"<digits>"}`` there.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from local.aws.pitr.images import full_export_form
from local.aws.pitr.ion import ion_change, ion_item
from local.aws.pitr.journal import Change, Journal
from local.aws.pitr.times import SECOND
from pipeline.identity import SourceTable

DYNAMODB_JSON, ION = "DYNAMODB_JSON", "ION"
NEW_IMAGE, NEW_AND_OLD_IMAGES = "NEW_IMAGE", "NEW_AND_OLD_IMAGES"

_T = TypeVar("_T")


@dataclass(frozen=True)
class Extent:
    """What an export shows of the history, in microseconds: all items at `end`, or the changes of ``[start, end)``.

    `view` and `start` are None for a full export.
    """

    end: int
    start: int | None = None
    view: str | None = None

    @property
    def is_full(self) -> bool:
        """Whether it shows all items at one instant."""
        return self.start is None


def lines_by_partition(
    journal: Journal, table: SourceTable, extent: Extent, file_format: str, oddities: frozenset[str], partitions: int
) -> Iterator[Iterator[str]]:
    """The lines of each partition, made as they are taken. Raises HistoryGone.

    Within a partition the items of one partition key stand together.
    """
    names = [attribute.name for attribute in table.key]
    if extent.start is None:
        for keyed in _split(list(journal.state_at(extent.end).items()), names, partitions):
            yield (_full_line(image, names, file_format) for _, image in keyed)
        return
    changes = journal.net_changes(extent.start, extent.end, with_no_ops="no_op_records" in oddities)
    for listed in _split([(c.key, c) for c in _with_oddities(changes, extent.start, oddities)], names, partitions):
        yield (_change_line(change, extent.view, file_format, oddities) for _, change in listed)


def _split(keyed: Sequence[tuple[str, _T]], names: Sequence[str], partitions: int) -> list[list[tuple[str, _T]]]:
    """By the hash of the partition key; each partition holds one range of hashes."""
    split: list[list[tuple[int, str, _T]]] = [[] for _ in range(partitions)]
    for text, value in keyed:
        partition_key = text if len(names) == 1 else json.dumps(json.loads(text)[names[0]])
        placed = int.from_bytes(hashlib.blake2b(partition_key.encode(), digest_size=4).digest())
        split[placed * partitions >> 32].append((placed, text, value))
    return [[(text, value) for _, text, value in sorted(members, key=lambda member: member[:2])] for members in split]


def _full_line(image: str, names: Sequence[str], file_format: str) -> str:
    form = full_export_form(image, names)
    return f'{{"Item":{form}}}' if file_format == DYNAMODB_JSON else ion_item(json.loads(form))


def _change_line(change: Change, view: str | None, file_format: str, oddities: frozenset[str]) -> str:
    images = {"Keys": change.key}
    if change.old is not None and view != NEW_IMAGE:
        images["OldImage"] = change.old
    if change.new is not None:
        images["NewImage"] = change.new
    if file_format == ION:
        return ion_change(change.at, {name: json.loads(image) for name, image in images.items()})
    written = f'"{change.at}"' if "bare_timestamp" in oddities else f'{{"N":"{change.at}"}}'
    parts = [f'"Metadata":{{"WriteTimestampMicros":{written}}}']
    parts += [f'"{name}":{image}' for name, image in images.items()]
    if "unknown_fields" in oddities:
        parts.append('"Origin":{"S":"unheard of"}')
    return f"{{{','.join(parts)}}}"


def _with_oddities(changes: list[Change], start: int, oddities: frozenset[str]) -> list[Change]:
    if changes and "duplicate_key" in oddities:
        # A reader that takes the newest of a key's records is not misled by it.
        changes = [*changes, replace(changes[0], at=changes[0].at - 1, old=None, new=None)]
    if changes and "timestamp_outside_window" in oddities:
        first = changes[0]
        changes = [replace(c, at=start - 60 * SECOND) if c is first else c for c in changes]
    return changes
