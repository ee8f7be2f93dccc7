"""What the table's properties say of columns that no schema does: key, kinds and exact names. Pure.

`pipeline.columns.in_table.table_columns` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pipeline.columns.in_table.schema_fields import ids_by_path
from pipeline.columns.in_table.table_columns import AT, ID, KEY, KINDS, PLAIN_KINDS, Columns, told_kinds, told_names
from pipeline.columns.types import ColumnType, Field, Kind, part_inside
from pipeline.table.marker import NAMES


def description(columns: Columns, schema: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The table properties that say of columns what no schema does. `schema`: in Iceberg's JSON, once the table has it."""
    return {
        **_key_property(columns.key),
        **column_kinds(columns.all, schema),
        **exact_names(columns.all, schema),
    }


def _key_property(key: Iterable[Field]) -> dict[str, str]:
    """The table property that says by which attributes, in their order, rows are found; none of a job that asks for no rows."""
    attributes = [field.attribute for field in key]
    return {KEY: json.dumps(attributes, ensure_ascii=False)} if attributes else {}


def column_kinds(fields: Iterable[Field], schema: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The table property that says which kind a column is of, where its Iceberg type is that of several.

    By the ids of the schema in Iceberg's JSON, under which a column keeps its kind whatever somebody calls it, or, for a
    table whose schema gets its ids only when it is written, by the paths of the columns.
    """
    kinds = {path: type_.kind.value for path, type_, _ in paths(fields) if type_.kind not in PLAIN_KINDS}
    return {KINDS: json.dumps(_by_place(kinds, schema, before_id=ID), sort_keys=True)}


def paths(fields: Iterable[Field], outer: str = "") -> Iterator[tuple[str, ColumnType, str]]:
    """Every field, and what is inside lists and maps, by its path in Iceberg: its type, and a field's exact name."""
    for field in fields:
        yield from _type_paths(outer + field.name, field.type, field.attribute)


def _type_paths(path: str, type_: ColumnType, attribute: str = "") -> Iterator[tuple[str, ColumnType, str]]:
    yield path, type_, attribute
    if type_.kind is Kind.STRUCT:
        yield from paths(type_.fields, f"{path}.")
    elif type_.element is not None:
        yield from _type_paths(f"{path}.{part_inside(type_)}", type_.element)


def exact_names(fields: Iterable[Field], schema: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The table property with the exact names, by ids or paths as `column_kinds` has it.

    Comments are for readers: not every name fits into one, and a comment that somebody else sets makes no other attribute.
    """
    names = {path: attribute for path, _, attribute in paths(fields) if attribute}  # what is in a list has no name
    return {NAMES: json.dumps(_by_place(names, schema, before_path=AT), ensure_ascii=False, sort_keys=True)}


def _by_place(
    by_path: Mapping[str, str], schema: Mapping[str, Any] | None, *, before_id: str = "", before_path: str = ""
) -> dict[str, str]:
    """The same by the ids of the schema, or, without one, by the paths, with what stands before either."""
    if not schema:
        return {before_path + path: value for path, value in by_path.items()}
    ids = ids_by_path(schema["fields"])
    return {f"{before_id}{ids[path]}": value for path, value in by_path.items()}


def is_described_by_path(properties: Mapping[str, str]) -> bool:
    """Whether names or kinds are told by path, as where a load replaced the table and ended before it could tell them by id."""
    names, kinds = told_names(properties), told_kinds(properties)
    return any(place.startswith(AT) for place in names) or any(not place.startswith(ID) for place in kinds)
