"""Columns and nested fields of types that Iceberg has and Spark does not read, as PyIceberg adds them. Pure.

With one of them Spark reads nothing of a table: no job can work on it, and not even Spark's ALTER TABLE takes it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.columns.table_columns import current_schema
from pipeline.errors import RebuildNeeded

_READ = re.compile(r"(boolean|int|long|float|double|date|timestamp|timestamptz|string|uuid|binary)$|fixed\[|decimal\(")


def check_read(metadata: Mapping[str, Any]) -> None:
    """Refuse a table with such a column. Raises RebuildNeeded. `metadata`: the content of an Iceberg metadata file."""
    if names := ", ".join(unread(metadata)):
        raise RebuildNeeded(
            f"Spark reads no column of the types of {names}, which somebody has added",
            "Replace the table's content by a new full export, which takes them out.",
        )


def unread(metadata: Mapping[str, Any]) -> list[str]:
    """The paths of such columns, and of such fields of structs."""
    return [path for raw in current_schema(metadata)["fields"] for path in _below(raw["name"], raw["type"])]


def _below(path: str, type_: Any) -> Iterator[str]:
    if isinstance(type_, str):
        if not _READ.match(type_):
            yield path
    elif type_["type"] == "struct":
        for field in type_["fields"]:
            yield from _below(f"{path}.{field['name']}", field["type"])
    else:
        for part in ("key", "element", "value"):
            # What a list or map is of cannot go without it.
            inside = [*_below(f"{path}.{part}", type_[part])] if part in type_ else []
            yield from (path if one == f"{path}.{part}" else one for one in inside)
