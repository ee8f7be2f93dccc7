"""Typed rows from items: every value goes to its column, or to the row's misfits; none goes nowhere.

A misfit is kept as the JSON pointer of its path (RFC 6901) and its DynamoDB JSON. Attributes, and members of structs,
that have no column are misfits too. NULL and absent are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.column_names import MISFITS
from pipeline.column_types import ColumnType, Field, Kind
from spark.cells import CONTAINERS, cell
from spark.fitting import level_fits, own_fits
from spark.values import NATIVE, below, dynamodb_json, elements, has_one_type, let, members

#: Internal columns carry a character that no column of the table can have.
ITEM = "#item"
#: What a misfit is kept as that carries none or several of DynamoDB's types: no line that DynamoDB wrote has one.
NO_VALUE = "{}"
_ENTRIES = "array<struct<pointer:string,json:string>>"


def typed_rows(rows: DataFrame, fields: Sequence[Field]) -> DataFrame:
    """Replace the item in ``#item`` by a column for each field, and ``_misfits``; carry the others along."""
    carried = [F.col(f"`{name}`") for name in rows.columns if name != ITEM]
    item = F.col(ITEM)
    cells = [cell(f.type, F.element_at(item, f.attribute), NATIVE).alias(f.name) for f in fields]
    return rows.select(*carried, *cells, _misfits(item, fields).alias(MISFITS))


def _misfits(item: Column, fields: Sequence[Field]) -> Column:
    """The row's misfits, pointer to DynamoDB JSON; null where there are none, which is settled before any is looked for."""
    entries = _level_entries(item, fields, F.lit(""), NATIVE)
    gathered = let(entries, lambda found: F.when(F.size(found) > 0, F.map_from_entries(found)))
    return F.when(~level_fits(item, fields, NATIVE), gathered)


def _level_entries(level: Column, fields: Sequence[Field], pointer: Column, depth: int) -> Column:
    """The misfits in a level: members that have no field, that do not fit theirs, or hold something that does not."""
    names = [field.attribute for field in fields]
    unknown = F.map_filter(
        level, lambda name, value: (value["NULL"].isNull() | ~has_one_type(value)) & ~name.isin(names)
    )
    found = [_entries_of(F.map_entries(unknown), pointer, depth)]
    steps = [F.concat(pointer, F.lit(step(field.attribute))) for field in fields]
    values = [F.element_at(level, field.attribute) for field in fields]
    own = [
        F.when(_is_misfit(f.type, value, depth), F.struct(here.alias("key"), value.alias("value")))
        for f, value, here in zip(fields, values, steps)
    ]
    if own:
        found.append(_texts(F.array_compact(F.array(*own)), depth))
    for field, value, here in zip(fields, values, steps):
        if field.type.kind in CONTAINERS:
            found.append(_inside_entries(field.type, value, here, depth))
    return F.concat(*(F.coalesce(entries, F.array().cast(_ENTRIES)) for entries in found))


def _is_misfit(type_: ColumnType, value: Column, depth: int) -> Column:
    """Whether a value is there, is not NULL, and has no cell, or is none of DynamoDB's."""
    unheld = value["NULL"].isNull() & ~own_fits(type_, value, depth)
    return value.isNotNull() & (unheld | ~has_one_type(value))


def _inside_entries(type_: ColumnType, value: Column, pointer: Column, depth: int) -> Column:
    """The misfits inside a container; null where the value is none."""
    if type_.kind is Kind.STRUCT:
        level = members(value, depth)
        if depth:
            return F.when(level.isNotNull(), _level_entries(level, type_.fields, pointer, below(depth)))
        return let(level, lambda read: _level_entries(read, type_.fields, pointer, below(depth)))
    if type_.kind is Kind.LIST:
        places = F.transform(elements(value, depth), lambda v, i: _place(F.concat(pointer, F.lit("/"), i), v))
    else:
        places = F.transform(
            F.map_entries(members(value, depth)), lambda e: _place(_step(pointer, e["key"]), e["value"])
        )
    return _places_entries(type_.element, places, below(depth))


def _places_entries(type_: ColumnType | None, places: Column, depth: int) -> Column:
    """The misfits among the elements of a list or dictionary, given as structs of pointer (``key``) and value."""
    assert type_ is not None  # lists and dictionaries have an element type
    own = _texts(F.filter(places, lambda p: _is_misfit(type_, p["value"], depth)), depth)
    if type_.kind not in CONTAINERS:
        return own
    inside = F.transform(
        places,
        lambda p: F.coalesce(_inside_entries(type_, p["value"], p["key"], depth), F.array().cast(_ENTRIES)),
    )
    return F.concat(own, F.flatten(inside))


def _place(pointer: Column, value: Column) -> Column:
    return F.struct(pointer.alias("key"), value.alias("value"))


def _entries_of(entries: Column, pointer: Column, depth: int) -> Column:
    """Members of a level, as structs of name and value, as misfits."""
    return F.transform(entries, lambda e: _entry(_step(pointer, e["key"]), _text(e["value"], depth)))


def _texts(places: Column, depth: int) -> Column:
    return F.transform(places, lambda p: _entry(p["key"], _text(p["value"], depth)))


def _text(value: Column, depth: int) -> Column:
    return F.when(has_one_type(value), dynamodb_json(value, depth)).otherwise(NO_VALUE)


def _entry(pointer: Column, json: Column) -> Column:
    return F.struct(pointer.alias("pointer"), json.alias("json"))


def has_no_value(misfits: Column) -> Column:
    """Whether a row's misfits show a value that is none of DynamoDB's; never null."""
    return F.coalesce(F.exists(F.map_values(misfits), lambda text: text == NO_VALUE), F.lit(False))


def step(attribute: str) -> str:
    """One step of a JSON pointer."""
    return "/" + attribute.replace("~", "~0").replace("/", "~1")


def _step(pointer: Column, name: Column) -> Column:
    escaped = F.replace(F.replace(name, F.lit("~"), F.lit("~0")), F.lit("/"), F.lit("~1"))
    return F.concat(pointer, F.lit("/"), escaped)
