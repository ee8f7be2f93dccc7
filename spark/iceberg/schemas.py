"""Columns as Spark and Iceberg types, with the exact attribute names as comments."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pyspark.sql.types import StructType

from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.names import MISFITS, WRITE_TIME, doc_of
from pipeline.columns.types import ColumnType, Field, Kind

_SCALARS = {Kind.LONG: "long", Kind.BYTES: "binary", Kind.FLAG: "boolean"}


def table_schema(columns: Columns) -> dict[str, Any]:
    """The whole table as the JSON of a Spark schema: key columns (required), attributes, the product's own columns."""
    own = [
        _column(WRITE_TIME, "timestamp"),
        _column(MISFITS, {"type": "map", "keyType": "string", "valueType": "string", "valueContainsNull": False}),
    ]
    key = [{**field, "nullable": False} for field in _fields(columns.key)]
    return {"type": "struct", "fields": [*key, *_fields(columns.attributes), *own]}


def _fields(fields: Sequence[Field]) -> list[dict[str, Any]]:
    # What holds no attribute keeps the comment that somebody has given it.
    return [
        {**_column(f.name, _type(f.type)), "metadata": {"comment": doc_of(f.attribute)} if f.attribute else {}}
        for f in fields
    ]


def _column(name: str, type_: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, "nullable": True, "metadata": {}}


def _type(type_: ColumnType) -> Any:
    if type_.kind is Kind.DECIMAL:
        return f"decimal({type_.digits},{type_.scale})"
    if type_.kind is Kind.STRUCT:
        return {"type": "struct", "fields": _fields(type_.fields)}
    if type_.element is None:
        return _SCALARS.get(type_.kind, "string")
    element = _type(type_.element)
    if type_.kind is Kind.DICTIONARY:
        return {"type": "map", "keyType": "string", "valueType": element, "valueContainsNull": True}
    return {"type": "array", "elementType": element, "containsNull": True}


def optional(schema: Any) -> StructType:
    """The schema with nothing required: what Spark takes from rows of which it cannot know that they hold no null."""
    text = json.dumps(schema)
    for required in ("nullable", "valueContainsNull", "containsNull"):
        text = text.replace(f'"{required}": false', f'"{required}": true')
    return StructType.fromJson(json.loads(text))
