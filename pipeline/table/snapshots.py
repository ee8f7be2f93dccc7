"""The snapshots of a table's ``main``, and what the newest of them tells. Pure.

`metadata` is the content of an Iceberg metadata file. What the product says in a snapshot: `pipeline.table.marker`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def ancestors_of_main(metadata: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The snapshots of ``main``, newest first, as far back as they have not expired."""
    by_id = {snapshot["snapshot-id"]: snapshot for snapshot in metadata.get("snapshots", [])}
    snapshot_id = metadata.get("refs", {}).get("main", {}).get("snapshot-id", metadata.get("current-snapshot-id"))
    found = []
    while snapshot_id in by_id:
        found.append(by_id[snapshot_id])
        snapshot_id = by_id[snapshot_id].get("parent-snapshot-id")
    return found


def newest_summary(metadata: Mapping[str, Any]) -> Mapping[str, str]:
    """The summary of the newest snapshot of ``main``; empty where there is none."""
    return next((snapshot.get("summary", {}) for snapshot in ancestors_of_main(metadata)), {})


def shown_schema_id(metadata: Mapping[str, Any]) -> int | None:
    """The id of the schema that the newest snapshot of ``main`` was written with; None where there is none."""
    return next((snapshot.get("schema-id") for snapshot in ancestors_of_main(metadata)), None)


def row_count(metadata: Mapping[str, Any]) -> int:
    """How many rows the table has, by the summary of its newest snapshot; those that delete files hide count too."""
    return int(newest_summary(metadata).get("total-records", 0))
