"""Former partitions beside which Iceberg 1.10 cannot write changes: it looks at those of all specs that the table has had.

By a column that the table no longer has, as where a full export brought another key, or another name of it: Iceberg looks for
it among the columns of now, and fails. So they go, with the snapshots from before the replacement; files stay until
maintenance finds that no snapshot knows them, for readers that are still at it.

By other buckets under the name of those in use, as where a full export made the table anew after the setting was changed, or
somebody has given it other buckets: of the two Iceberg makes one struct, and fails. So those in use get a name of their own.
That is told in the metadata alone: files and snapshots stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from itertools import count
from typing import Any

from pipeline.columns.in_table.field_ids import field_ids
from pipeline.columns.in_table.table_columns import current_schema, partition_names
from pipeline.errors import PartitionsKept
from pipeline.table.maintenance import GC, may_remove
from spark.iceberg.table import MAIN, Table


def with_own_partition_names(table: Table, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table's metadata once the partitions in use share no name; as it is where they share none, which is nearly always."""
    shared = _shared(metadata)
    if not shared:
        return metadata
    taken = {*partition_names(metadata), *(field["name"] for field in current_schema(metadata)["fields"])}
    update = table.java().updateSpec()
    for name in shared:
        free = next(other for number in count(2) if (other := f"{name}_{number}") not in taken)
        taken.add(free)
        update = update.renameField(name, free)
    update.commit()
    return table.metadata()


def has_former_partitions(metadata: Mapping[str, Any]) -> bool:
    """Whether there are any, so that nothing can be merged beside them."""
    return bool(_former(metadata))


def without_former_partitions(table: Table, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table's metadata once they are gone; as it is where there are none, which is nearly always.

    Raises PartitionsKept where somebody's tag or branch keeps a snapshot that has them, or the table is set to keep all, and
    then no snapshot has gone; or where ``main`` itself is set to keep more than its newest one.
    """
    former = _former(metadata)
    if not former:
        return metadata
    if not may_remove(metadata):
        raise PartitionsKept(
            f"partitions by a column that the table no longer has are kept by its property {GC}, which is "
            f"{metadata['properties'][GC]}",
            f"Set {GC} of the table to true: the snapshots from before its key was replaced have to go.",
        )
    table.drop_leftovers()
    if kept_by := _refs_to(table, former):
        raise _kept(kept_by)
    # The newest snapshot, which stays, may be one that does not say where the table is.
    table.settle()
    newest = next(s for s in metadata["snapshots"] if s["snapshot-id"] == metadata["current-snapshot-id"])
    expired = table.java().expireSnapshots().retainLast(1).expireOlderThan(newest["timestamp-ms"])
    expired.cleanExpiredFiles(False).cleanExpiredMetadata(True).commit()
    left = table.metadata()
    if _former(left):
        # Somebody has set that a branch keeps more than its newest snapshot; what the table is set to does not count here.
        raise _kept(left["refs"])
    return left


def _refs_to(table: Table, specs: Set[int]) -> list[str]:
    """The tags and branches of snapshots with files in partitions of these specs."""
    java = table.java()
    heads = [(str(name), java.snapshot(ref.snapshotId())) for name, ref in dict(java.refs()).items() if name != MAIN]
    return [name for name, head in heads if any(m.partitionSpecId() in specs for m in head.allManifests(java.io()))]


def _kept(by: Iterable[str]) -> PartitionsKept:
    names = ", ".join(sorted(by))
    return PartitionsKept(
        f"partitions by a column that the table no longer has are kept by its tags and branches: {names}"
    )


def _former(metadata: Mapping[str, Any]) -> set[int]:
    """The ids of the specs, not in use any more, that are by a column, or nested field, that is gone."""
    there, used = field_ids(metadata), metadata["default-spec-id"]
    former = (spec for spec in metadata["partition-specs"] if spec["spec-id"] != used)
    return {spec["spec-id"] for spec in former if any(field["source-id"] not in there for field in spec["fields"])}


def _shared(metadata: Mapping[str, Any]) -> list[str]:
    """The partitions in use whose name others have as well. The newest spec that has one says how Iceberg calls it."""
    specs = sorted(metadata["partition-specs"], key=lambda spec: spec["spec-id"])
    newest = {field["field-id"]: field["name"] for spec in specs for field in spec["fields"]}
    used = next(spec["fields"] for spec in specs if spec["spec-id"] == metadata["default-spec-id"])
    names = list(newest.values())
    return [field["name"] for field in used if names.count(newest[field["field-id"]]) > 1]
