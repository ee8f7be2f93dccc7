"""The product's own columns in a table's metadata: where they are, and what somebody has made of them. Pure.

`metadata` is the content of an Iceberg metadata file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.columns.names import OWN_COLUMNS
from pipeline.columns.table_columns import current_schema


def own_ids(fields: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The ids of the product's own columns among the fields of a schema, by their names."""
    return {raw["name"]: raw["id"] for raw in fields if raw["name"] in OWN_COLUMNS}


def lost_own(metadata: Mapping[str, Any]) -> list[str]:
    """The product's own columns that the table has had, and has no more under their names.

    Looked for in all schemas: who compacts such a table leaves none of before among its snapshots.
    """
    own = own_ids(current_schema(metadata)["fields"])
    gone = [name for name in OWN_COLUMNS if name not in own]
    had = {name for schema in metadata["schemas"] for name in own_ids(schema["fields"])} if gone else ()
    return [name for name in gone if name in had]


def renamed_own(metadata: Mapping[str, Any]) -> dict[str, str]:
    """The product's own columns that somebody has given another name, and which have no successor: what they were, by name."""
    lost = lost_own(metadata)
    now = {raw["id"]: raw for raw in current_schema(metadata)["fields"]} if lost else {}
    then = [raw for schema in metadata["schemas"] for raw in schema["fields"] if raw["name"] in lost]
    # The same id may be another column's, where the table was replaced whole.
    stayed = [raw for raw in then if raw["id"] in now and now[raw["id"]]["type"] == raw["type"]]
    return {now[raw["id"]]["name"]: raw["name"] for raw in stayed}
