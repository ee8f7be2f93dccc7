"""Cells from values: each value in the type of its column, exactly, or null where it does not fit."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.column_types import CONTAINER_TAGS, ColumnType, Field, Kind, set_tag
from spark.numbers import number
from spark.sql import Sql, call, function, let, literal, member, transform, transform_values, when
from spark.values import below, dynamodb_json, elements, has, members, of, plain_json

#: The kinds whose cells are made of other cells.
CONTAINERS = (Kind.STRUCT, Kind.DICTIONARY, Kind.LIST)


def cell(type_: ColumnType, value: Sql, depth: int) -> Sql:
    """The cell of a value in a column of this type; null if the value does not fit, or is NULL or absent."""
    if type_.kind is Kind.STRUCT:
        return when(has(value, "M"), _struct(members(value, depth), type_.fields, depth))
    if type_.kind is Kind.LIST:
        return transform(elements(value, depth), lambda v: cell(element_of(type_), v, below(depth)))
    if type_.kind is Kind.DICTIONARY:
        return transform_values(members(value, depth), lambda v: cell(element_of(type_), v, below(depth)))
    return _scalar(type_, value, depth)


def element_of(type_: ColumnType) -> ColumnType:
    """The type of the elements of a list or set, or of the values of a dictionary."""
    assert type_.element is not None  # those kinds have one
    return type_.element


def _struct(level: Sql, fields: Sequence[Field], depth: int) -> Sql:
    def made(read: Sql) -> Sql:
        cells = ((literal(f.name), cell(f.type, member(read, f.attribute), below(depth))) for f in fields)
        return call("named_struct", *(part for pair in cells for part in pair))

    # Text is parsed once for all fields; what has been read already needs no such care.
    return made(level) if depth else let(level, made)


def _scalar(type_: ColumnType, value: Sql, depth: int) -> Sql:
    kind = type_.kind
    if kind in (Kind.LONG, Kind.DECIMAL, Kind.DIGITS):
        return number(type_, of(value, "N"))
    if kind is Kind.SET:
        return _set(element_of(type_), of(value, set_tag(type_)))
    if kind is Kind.SCALARS:
        digits = number(ColumnType(Kind.DIGITS), of(value, "N"))
        return call("coalesce", of(value, "S"), digits, f"string({of(value, 'BOOL')})", of(value, "B"))
    if kind is Kind.JSON:
        is_container = " OR ".join(has(value, tag) for tag in sorted(CONTAINER_TAGS))
        return when(is_container, plain_json(dynamodb_json(value, depth)))
    return {Kind.TEXT: of(value, "S"), Kind.BYTES: f"unbase64({of(value, 'B')})", Kind.FLAG: of(value, "BOOL")}[kind]


def _set(type_: ColumnType, elements_: Sql) -> Sql:
    """A set as a list; null where an element does not fit, since an unordered element has no place of its own."""
    if type_.kind is Kind.TEXT:
        return elements_
    if type_.kind is Kind.BYTES:
        return transform(elements_, lambda text: f"unbase64({text})")
    cells = transform(elements_, lambda text: number(type_, text))
    return let(cells, lambda found: when(f"NOT exists({found}, {function(1, lambda x: f'{x} IS NULL')})", found))
