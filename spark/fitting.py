"""Whether values went to their cells whole: the cheap question, asked of every value, before misfits are gathered.

It looks at what has become of a value, not at the value again: a cell that is null lost it. Only the inside of maps and
lists is walked through, and there only members are counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.column_types import ColumnType, Field, Kind
from spark.cells import CONTAINERS, element_of
from spark.sql import Sql, call, forall, function, let, member, total, when
from spark.values import below, elements, has, members


def member_count(level: Sql) -> Sql:
    """How many members of a level are not NULL; 0 for no level."""
    return f"size({level}) - size(filter(map_values({level}), {function(1, lambda v: has(v, 'NULL'))}))"


def held_count(values: Sequence[Sql], cells: Sequence[Sql], fields: Sequence[Field], depth: int) -> Sql:
    """How many of a level's values went whole to their fields' cells: all of them did if these are its members."""
    held = zip(values, cells, fields)
    return total(f"if({_whole(field.type, value, made, depth)}, 1, 0)" for value, made, field in held)


def _whole(type_: ColumnType, value: Sql, made: Sql, depth: int) -> Sql:
    """Whether a cell was made of a value, with everything inside; never null. None is made of NULL."""
    if type_.kind not in CONTAINERS:
        return f"isnotnull({made})"
    # A condition for each value is asked only where there is a cell at all.
    return when(f"isnotnull({made})", _whole_inside(type_, value, made, depth), "false")


def _whole_inside(type_: ColumnType, value: Sql, made: Sql, depth: int) -> Sql:
    if type_.kind is Kind.STRUCT:
        level = members(value, depth)
        asked = lambda read: _struct_whole(read, made, type_.fields, below(depth))  # noqa: E731  named for the line below
        return asked(level) if depth else let(level, asked)
    element = element_of(type_)

    def kept(v: Sql, c: Sql) -> Sql:
        return f"{has(v, 'NULL')} OR {_whole(element, v, c, below(depth))}"

    if type_.kind is Kind.LIST:
        told = call("zip_with", elements(value, depth), made, function(2, kept))
    else:
        of_name = function(3, lambda _, v, c: kept(v, c))
        told = f"map_values({call('map_zip_with', members(value, depth), made, of_name)})"
    return forall(told, lambda is_kept: is_kept)


def _struct_whole(level: Sql, made: Sql, fields: Sequence[Field], depth: int) -> Sql:
    values = [member(level, field.attribute) for field in fields]
    cells = [f"{made}.`{field.name}`" for field in fields]
    return f"{member_count(level)} = {held_count(values, cells, fields, depth)}"
