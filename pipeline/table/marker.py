"""The marker: what the product writes into the table's metadata, in the commit of the data, and how it is found again.

The watermark lives in the snapshot's summary, because that moves atomically with the data; a copy stands in a table
property against snapshot expiry. It is looked for among the ancestors of ``main``, newest first, so that compaction
on top hides nothing and a rollback brings the older watermark back by itself; then in the property, but only where
``main`` comes from the snapshot that the copy names: what it says of that one stays true, and of no other is it said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from pipeline.identity import KeyAttribute, SourceTable
from pipeline.instants import EPOCH, format_instant, parse_instant
from pipeline.table.snapshots import ancestors_of_main

PREFIX = "tidemark."
WATERMARK = PREFIX + "watermark"
START = PREFIX + "start"
JOB = PREFIX + "job"
JOB_ID = PREFIX + "job-id"
SOURCE_ARN = PREFIX + "source-arn"
SOURCE_ID = PREFIX + "source-id"
#: What DynamoDB billed for the exports of a merge, in bytes.
BILLED_BYTES = PREFIX + "billed-bytes"
#: What a commit's rows are protected by: JSON of ``drop`` and ``hash``, lists of JSON pointers, and ``secret``, which tells
#: secrets apart and is none.
PROTECTED = PREFIX + "protected"
#: Beside the copy in the properties: the id of a snapshot that has the marker, or lies on top of it.
SNAPSHOT = PREFIX + "snapshot"
#: Set while a first load is being prepared: the table is there, but shows nothing yet and is not to be followed.
LOADING = PREFIX + "loading"
#: The watermark at which maintenance was last begun: so one that fails is not begun again at every tick.
MAINTAINED = PREFIX + "maintained"
#: JSON of field id to exact attribute name; of ``/`` and column path while a table is being replaced and has no ids yet.
NAMES = PREFIX + "names"
#: Counts of a commit; each is written as ``tidemark.count.<name>``.
COUNT = PREFIX + "count."
_OF_A_MARKER = (WATERMARK, START, JOB, JOB_ID, SOURCE_ARN, SOURCE_ID, BILLED_BYTES, PROTECTED)


@dataclass(frozen=True)
class Marker:
    """What one commit says of itself. `counts` are those of the commit that moved or confirmed the watermark.

    `billed_bytes` is what its exports were billed; None for a load.
    """

    watermark: datetime
    start: datetime
    job: str
    job_id: str
    source_arn: str
    source_id: str
    counts: Mapping[str, int]
    billed_bytes: int | None = None

    def source(self, key: tuple[KeyAttribute, ...]) -> SourceTable:
        """The source that the table follows, whose key the marker does not say."""
        return SourceTable(self.source_arn, self.source_id, key)

    def to_properties(self) -> dict[str, str]:
        """Write the marker as snapshot properties (or table properties)."""
        return {
            WATERMARK: format_instant(self.watermark),
            START: format_instant(self.start),
            JOB: self.job,
            JOB_ID: self.job_id,
            SOURCE_ARN: self.source_arn,
            SOURCE_ID: self.source_id,
            **{COUNT + name: str(count) for name, count in self.counts.items()},
            **({} if self.billed_bytes is None else {BILLED_BYTES: str(self.billed_bytes)}),
        }

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Marker | None:
        """Read a marker, or None where the properties carry no watermark."""
        if WATERMARK not in properties:
            return None
        counts = {k[len(COUNT) :]: int(v) for k, v in properties.items() if k.startswith(COUNT)}
        return cls(
            watermark=parse_instant(properties[WATERMARK]),
            start=parse_instant(properties[START]),
            job=properties[JOB],
            job_id=properties[JOB_ID],
            source_arn=properties[SOURCE_ARN],
            source_id=properties[SOURCE_ID],
            counts=counts,
            billed_bytes=int(properties[BILLED_BYTES]) if BILLED_BYTES in properties else None,
        )


class Commit(NamedTuple):
    """A commit of a load, merge or backfill: its marker, and all of the summary, or of the properties, that it stands in."""

    marker: Marker
    summary: Mapping[str, str]


@dataclass(frozen=True)
class TableState:
    """What the Iceberg table says of itself.

    `exists` is False for no table at all and for one that a first load is still preparing. `job_ids` are the ids of
    every job among the ancestors of ``main``: work that is done and needs no doing again. `commits` are those whose marker can
    be read, newest first. `maintained`: the watermark at which maintenance was last begun. `committed_at`: when the newest
    of the commits was made; None where it has expired.
    """

    exists: bool
    marker: Marker | None = None
    job_ids: frozenset[str] = frozenset()
    commits: tuple[Commit, ...] = field(default=(), compare=False, repr=False)
    maintained: datetime | None = None
    committed_at: datetime | None = field(default=None, compare=False)

    @property
    def watermark(self) -> datetime | None:
        """The instant up to which the table shows every change, if it says so."""
        return self.marker.watermark if self.marker else None

    @property
    def found(self) -> str:
        """Where the table is, for people."""
        if self.watermark:
            return f"the table is at {format_instant(self.watermark)}"
        return "the table carries no watermark" if self.exists else "there is no table"


NO_TABLE = TableState(exists=False)


def read_table_state(metadata: Mapping[str, Any]) -> TableState:
    """Read the state from the content of an Iceberg table metadata file (format v2); empty where there is none.

    A newest marker that cannot be read counts as none: the table is not to be followed, and a full export can still replace
    it. An older one is passed over, so that such a full export helps; but its job has been at work all the same.
    """
    if not metadata:
        return NO_TABLE
    properties = metadata.get("properties", {})
    ancestors = ancestors_of_main(metadata)
    ours = with_marker(ancestors)
    marked = [snapshot["summary"] for snapshot in ours]
    if not marked and _is_kept(ancestors, properties):
        marked = [properties]
    if not marked and LOADING in properties:
        return NO_TABLE
    try:
        marker = Marker.from_properties(marked[0]) if marked else None
        job_ids = frozenset(found[JOB_ID] for found in marked if JOB_ID in found)
        maintained = parse_instant(properties[MAINTAINED]) if MAINTAINED in properties else None
        made = ours[0].get("timestamp-ms") if ours else None
        at = None if made is None else EPOCH + timedelta(milliseconds=made)
        return TableState(True, marker, job_ids, tuple(filter(None, map(_commit, marked))), maintained, at)
    except (KeyError, ValueError):
        return TableState(exists=True)


def _commit(summary: Mapping[str, str]) -> Commit | None:
    """The commit with this summary; None where its marker cannot be read."""
    try:
        marker = Marker.from_properties(summary)
    except (KeyError, ValueError):
        return None
    return Commit(marker, summary) if marker else None


def snapshot_at(metadata: Mapping[str, Any], watermark: datetime) -> int | None:
    """The id of the newest snapshot of ``main`` that shows the table at a watermark; None where there is none.

    That is the newest of those on top of its marker that carry none themselves: maintenance, or somebody else's hand.
    """
    ancestors, wanted = ancestors_of_main(metadata), format_instant(watermark)
    top: int | None = None
    for snapshot in ancestors:
        top = top or snapshot["snapshot-id"]
        said = snapshot.get("summary", {}).get(WATERMARK)
        if said == wanted:
            return top
        if said is not None:
            top = None
    properties = metadata.get("properties", {})
    return top if _is_kept(ancestors, properties) and properties[WATERMARK] == wanted else None


def commit_of(metadata: Mapping[str, Any], job_id: str) -> tuple[Mapping[str, Any], int | None] | None:
    """The newest snapshot of ``main`` that a job has committed, and the id of the snapshot before the job's first.

    That is None for the table's first snapshot. Nothing where the job has committed none, or it has expired.
    """
    ancestors = ancestors_of_main(metadata)
    mine = [place for place, one in enumerate(ancestors) if one.get("summary", {}).get(JOB_ID) == job_id]
    if not mine:
        return None
    before = ancestors[mine[-1] + 1 :]
    return ancestors[mine[0]], before[0]["snapshot-id"] if before else None


def had_misfits(metadata: Mapping[str, Any]) -> bool:
    """Whether the newest commit of ours had some: then there are more of them, mostly."""
    marker = read_table_state(metadata).marker
    return marker is not None and marker.counts.get("misfits", 0) > 0


def with_marker(snapshots: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those that say where the table is: the commits of loads, merges and backfills."""
    return [snapshot for snapshot in snapshots if WATERMARK in snapshot.get("summary", {})]


def marker_copied(metadata: Mapping[str, Any]) -> dict[str, str]:
    """What has to stand in the properties for the table to say where it is when all snapshots but the newest have expired.

    Empty where that stands there already, and where the table does not say where it is. Else it is the whole copy, though
    but one word may differ: two jobs that write it at once must not leave half of each. An empty value is to be removed.
    """
    ancestors, properties = ancestors_of_main(metadata), metadata.get("properties", {})
    marked = next((snapshot["summary"] for snapshot in with_marker(ancestors)), None)
    if marked is None and not _is_kept(ancestors, properties):
        return {}
    kept = {name: value for name, value in properties.items() if name in _OF_A_MARKER or name.startswith(COUNT)}
    said = kept if marked is None else {name: value for name, value in marked.items() if name.startswith(PREFIX)}
    # What is not said is removed, also where it is not there: another job may be writing it.
    copied = {**dict.fromkeys([*_OF_A_MARKER, *kept], ""), **said, SNAPSHOT: str(ancestors[0]["snapshot-id"])}
    return {} if all(properties.get(name, "") == value for name, value in copied.items()) else copied


def _is_kept(ancestors: Sequence[Mapping[str, Any]], properties: Mapping[str, str]) -> bool:
    """Whether the copy in the properties tells of an ancestor of ``main``: one that is there, or the last that has expired."""
    if not ancestors or WATERMARK not in properties:
        return False
    known = {snapshot["snapshot-id"] for snapshot in ancestors} | {ancestors[-1].get("parent-snapshot-id")}
    return properties.get(SNAPSHOT, "") in map(str, known)
