"""Partitions by a column that the table no longer has, as where a full export brought another key, or another name of it.

Iceberg 1.10 cannot write changes beside them: it looks for the partitions of all specs the table has had among the columns
of now, and fails. So they go, with the snapshots from before the replacement; files stay until maintenance finds that no
snapshot knows them, for readers that are still at it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.errors import PartitionsKept
from pipeline.table_columns import field_ids
from spark.table import Table


def without_former_partitions(table: Table, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table's metadata once they are gone; as it is where there are none, which is nearly always.

    Raises PartitionsKept where somebody's tag or branch keeps a snapshot that has them.
    """
    if not _has_former(metadata):
        return metadata
    table.drop_leftovers()
    newest = next(s for s in metadata["snapshots"] if s["snapshot-id"] == metadata["current-snapshot-id"])
    expired = table.java().expireSnapshots().expireOlderThan(newest["timestamp-ms"])
    expired.cleanExpiredFiles(False).cleanExpiredMetadata(True).commit()
    left = table.metadata()
    if _has_former(left):
        others = ", ".join(sorted(set(left["refs"]) - {"main"}))
        raise PartitionsKept(
            f"partitions by a column that the table no longer has are kept by its tags and branches: {others}"
        )
    return left


def _has_former(metadata: Mapping[str, Any]) -> bool:
    """Whether a spec that is not in use any more is by a column, or nested field, that is gone."""
    there, used = field_ids(metadata), metadata["default-spec-id"]
    former = (spec["fields"] for spec in metadata["partition-specs"] if spec["spec-id"] != used)
    return any(field["source-id"] not in there for fields in former for field in fields)
