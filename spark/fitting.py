"""Whether values went to their cells whole: the cheap question, asked of every value, before misfits are gathered.

It looks at what has become of a value, not at the value again: a cell that is null lost it. Only the inside of maps and
lists is walked through, and there only members are counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.column_types import ColumnType, Field, Kind
from spark.sql import Sql, call, function, let, member, true_count, when
from spark.values import CONTAINERS, element_of, has, null_count, opened, opened_inside


def level_fits(
    level: Sql, insides: Sequence[Sql], cells: Sequence[Sql], fields: Sequence[Field], often_null: Sequence[str] = ()
) -> Sql:
    """Whether every member of a level is NULL or went whole to the cell of its field; of no level, whether there are none.

    Cells are counted, and members. `insides`: what `opened` gives of each field's value. `often_null`: names that are
    asked for NULL before all members are.
    """
    pairs = zip(insides, cells, fields)
    held = true_count([_whole(field.type, inside, made) for inside, made, field in pairs])
    made_of = {field.attribute: made for field, made in zip(fields, cells)}
    nulls = [_is_null(member(level, name), made_of.get(name)) for name in often_null]
    less = f" - {true_count(nulls)}" if nulls else ""
    # The second of the list is looked for only where it is not the first: to ask all members for NULL takes longer.
    return f"(greatest(size({level}), 0) - {held}{less}) IN (0, {null_count(level)}{less})"


def _is_null(value: Sql, made: Sql | None) -> Sql:
    """Whether a value is NULL and has no cell; never null. One with another type beside NULL may have one, and counts there."""
    return f"({made} IS NULL AND {has(value, 'NULL')})" if made else has(value, "NULL")


def _whole(type_: ColumnType, inside: Sql, made: Sql) -> Sql:
    """Whether a cell was made of a value, with everything inside; never null. None is made of NULL."""
    if type_.kind not in CONTAINERS:
        return f"{made} IS NOT NULL"
    # What is inside is asked for only where there is a cell at all.
    return when(f"{made} IS NOT NULL", _whole_inside(type_, inside, made), "false")


def _whole_inside(type_: ColumnType, inside: Sql, made: Sql) -> Sql:
    if type_.kind is Kind.STRUCT:
        return let(inside, lambda level: _struct_whole(level, made, type_.fields))
    element = element_of(type_)

    def kept(v: Sql, c: Sql) -> Sql:
        return f"{has(v, 'NULL')} OR {_whole(element, opened_inside(element, v), c)}"

    if type_.kind is Kind.LIST:
        told = call("zip_with", inside, made, function(2, kept))
    else:
        of_name = function(3, lambda _, v, c: kept(v, c))
        told = f"map_values({call('map_zip_with', inside, made, of_name)})"
    return f"NOT array_contains({told}, false)"


def _struct_whole(level: Sql, made: Sql, fields: Sequence[Field]) -> Sql:
    insides = [opened(field.type, member(level, field.attribute)) for field in fields]
    cells = [f"{made}.`{field.name}`" for field in fields]
    return level_fits(level, insides, cells, fields)
