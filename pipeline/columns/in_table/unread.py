"""Columns and nested fields of types that Iceberg has and Spark does not read, as PyIceberg adds them. Pure.

With one of them Spark reads nothing of a table: no job can work on it, and not even Spark's ALTER TABLE takes it out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pipeline.columns.in_table.schema_fields import schema_fields
from pipeline.columns.in_table.table_columns import current_schema
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
    # What a list or map is of cannot go without it.
    return [
        field.way[-1].path
        for field in schema_fields(current_schema(metadata)["fields"])
        if isinstance(field.type, str) and not _READ.match(field.type)
    ]
