"""Columns that somebody has made required, though no item has to have what they hold, or fields inside them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.columns.in_table.schema_fields import SchemaField, schema_fields
from pipeline.columns.in_table.table_columns import current_schema, held_attributes, told_key, told_names
from pipeline.columns.names import OWN_COLUMNS


def needlessly_required(metadata: Mapping[str, Any]) -> list[str]:
    """The paths of such columns and fields; none of the key, which every item has.

    The table tells its key itself: a job of maintenance, which asks as well, knows none. `metadata`: the content of an
    Iceberg metadata file.
    """
    properties, columns = metadata.get("properties", {}), current_schema(metadata)["fields"]
    held, key = held_attributes(((raw, raw["name"]) for raw in columns), told_names(properties)), told_key(properties)
    columns = [raw for raw in columns if held.get(raw["id"]) not in key]
    return [field.path for field in schema_fields(columns) if field.is_required and not _is_as_made(field)]


def _is_as_made(field: SchemaField) -> bool:
    """Whether nobody can make it anything else: a map's key, and what is inside one of the product's own columns."""
    return field.is_in_key or any(column.path in OWN_COLUMNS for column in field.around[:1])
