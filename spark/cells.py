"""Cells from values: each value in the type of its column, exactly, or null where it does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipeline.column_types import CONTAINER_TAGS, ColumnType, Field, Kind, set_tag
from spark.numbers import number
from spark.values import below, dynamodb_json, elements, let, members, plain_json

#: The kinds whose cells are made of other cells.
CONTAINERS = (Kind.STRUCT, Kind.DICTIONARY, Kind.LIST)


def cell(type_: ColumnType, value: Column, depth: int) -> Column:
    """The cell of a value in a column of this type; null if the value does not fit, or is NULL or absent."""
    if type_.kind is Kind.STRUCT:
        return F.when(value["M"].isNotNull(), _inside(members(value, depth), type_.fields, below(depth), depth))
    if type_.kind is Kind.LIST:
        return F.transform(elements(value, depth), lambda v: cell(_element(type_), v, below(depth)))
    if type_.kind is Kind.DICTIONARY:
        return F.transform_values(members(value, depth), lambda _, v: cell(_element(type_), v, below(depth)))
    return _scalar(type_, value, depth)


def _inside(level: Column, fields: Sequence[Field], depth: int, depth_outside: int) -> Column:
    def struct(read: Column) -> Column:
        return F.struct(*(cell(f.type, F.element_at(read, f.attribute), depth).alias(f.name) for f in fields))

    # Text is parsed once for all fields; what has been read already needs no such care.
    return struct(level) if depth_outside else let(level, struct)


def _element(type_: ColumnType) -> ColumnType:
    assert type_.element is not None  # lists, dictionaries and sets have an element type
    return type_.element


def _scalar(type_: ColumnType, value: Column, depth: int) -> Column:
    kind = type_.kind
    if kind in (Kind.LONG, Kind.DECIMAL, Kind.DIGITS):
        return number(type_, value["N"])
    if kind is Kind.SET:
        return _set(type_, value[set_tag(type_)])
    if kind is Kind.SCALARS:
        digits = number(ColumnType(Kind.DIGITS), value["N"])
        return F.coalesce(value["S"], digits, value["BOOL"].cast("string"), value["B"])
    if kind is Kind.JSON:
        is_container = reduce(or_, (value[tag].isNotNull() for tag in sorted(CONTAINER_TAGS)))
        return F.when(is_container, plain_json(dynamodb_json(value, depth)))
    return {Kind.TEXT: value["S"], Kind.BYTES: F.unbase64(value["B"]), Kind.FLAG: value["BOOL"]}[kind]


def _set(type_: ColumnType, of: Column) -> Column:
    """A set as a list; null where an element does not fit, since an unordered element has no place of its own."""
    kind = _element(type_).kind
    if kind is Kind.TEXT:
        return of
    if kind is Kind.BYTES:
        return F.transform(of, F.unbase64)
    cells = F.transform(of, lambda text: number(_element(type_), text))
    return let(cells, lambda found: F.when(~F.exists(found, F.isnull), found))
