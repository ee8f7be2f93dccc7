"""Whether values went to their cells whole: the cheap question, asked of every value, before misfits are gathered.

It looks at what has become of a value, not at the value again: a cell that is null lost it. Only the inside of maps and
lists is walked through, and there only members are counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.columns.types import ColumnType, Field, Kind
from spark.expressions.cells import cell
from spark.expressions.sql import Sql, call, function, let, member, struct, true_counts, when
from spark.expressions.values import CONTAINERS, element_of, null_count, opened, opened_inside, says_null


def level_fits(level: Sql, held: Sequence[Sql], nulls: Sequence[Sql] = ()) -> Sql:
    """Whether each member of a map is NULL or reached its cell whole. For a missing map: whether no cell was made.

    `held`: counts of the members that reached their cells whole, to be added up. `nulls`: of some members, whether each is
    NULL (`is_null`).
    """
    less = "".join(f" - {count}" for count in true_counts(nulls))
    other = " - ".join([f"greatest(size({level}), 0)", *held])
    # Only where what is left is not 0, all members are asked for NULL, which takes longer.
    return f"{other}{less} IN (0, {null_count(level)}{less})"


def is_null(value: Sql, made: Sql | None) -> Sql:
    """Whether a value is NULL and has no cell; never null. One with another type beside NULL may have one, and counts there."""
    return when(f"{made} IS NULL", says_null(value), "false") if made else says_null(value)


def whole(type_: ColumnType, inside: Sql, made: Sql) -> Sql:
    """Whether a cell was made of a value, with everything inside; never null. None is made of NULL.

    `inside`: what `opened` gives of the value.
    """
    if type_.kind not in CONTAINERS:
        return f"{made} IS NOT NULL"
    # What is inside is asked for only where there is a cell at all.
    return when(f"{made} IS NOT NULL", _whole_inside(type_, inside, made), "false")


def _whole_inside(type_: ColumnType, inside: Sql, made: Sql) -> Sql:
    if type_.kind is Kind.STRUCT:
        return let(inside, lambda level: _struct_whole(level, made, type_.fields))
    element = element_of(type_)

    def kept(v: Sql, c: Sql) -> Sql:
        return f"{says_null(v)} OR {whole(element, opened_inside(element, v), c)}"

    if type_.kind is Kind.LIST:
        return f"NOT array_contains({call('zip_with', inside, made, function(2, kept))}, false)"
    of_name = function(3, lambda _, v, c: kept(v, c))
    # What a map says of a name twice is there once.
    once = f"map_values({call('map_zip_with', inside, made, of_name)})"
    return let(once, lambda told: f"NOT array_contains({told}, false) AND size({told}) = size({made})")


def _struct_whole(level: Sql, made: Sql, fields: Sequence[Field]) -> Sql:
    cells = [f"{made}.`{field.name}`" for field in fields]
    insides = [opened(field.type, member(level, field.attribute)) for field in fields]
    wholes = [whole(field.type, inside, made) for field, inside, made in zip(fields, insides, cells)]
    fits = level_fits(level, true_counts(wholes))
    if any(field.type.kind in CONTAINERS for field in fields):
        return fits  # the shorter way would double what is asked of those, at each level again
    # Mostly every field has a cell and there is no other member, which takes no counting to see.
    return when(" AND ".join([*wholes, f"size({level}) = {len(fields)}"]), "true", fits)


def with_cell(type_: ColumnType, inside: Sql) -> Sql:
    """The cell of what `opened` gives, and whether it is whole: a struct of ``cell`` and ``whole``."""
    return let(cell(type_, inside), lambda made: struct(cell=made, whole=whole(type_, inside, made)))
