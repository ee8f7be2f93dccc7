"""Whether values fit their columns: the cheap question, asked of every value, before the misfits of a row are gathered."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.column_types import ColumnType, Field, Kind
from spark.cells import CONTAINERS, cell, element_of
from spark.sql import Sql, forall, let, member, total
from spark.values import below, elements, has, members


def level_fits(level: Sql, fields: Sequence[Field], depth: int) -> Sql:
    """Whether every member of a level has a field that holds it wholly: as many members as fields that hold one.

    A member that is NULL and has no field makes this false as well, though it is no misfit.
    """
    held = total(f"if({_holds(f.type, member(level, f.attribute), depth)}, 1, 0)" for f in fields)
    return f"size({level}) = {held}"


def own_fits(type_: ColumnType, value: Sql, depth: int) -> Sql:
    """Whether a value has a cell of this type, whatever becomes of what is inside it; never null."""
    if type_.kind in CONTAINERS:
        return has(value, "L" if type_.kind is Kind.LIST else "M")
    return f"isnotnull({cell(type_, value, depth)})"


def _holds(type_: ColumnType, value: Sql, depth: int) -> Sql:
    """Whether a value is there, and is NULL or fits with everything inside; never null."""
    return f"{has(value, 'NULL')} OR {own_fits(type_, value, depth)}{_and_inside(type_, value, depth)}"


def _and_inside(type_: ColumnType, value: Sql, depth: int) -> Sql:
    """And whether what is inside a container fits; asked only of values that fit themselves."""
    if type_.kind not in CONTAINERS:
        return ""
    if type_.kind is Kind.STRUCT:
        level = members(value, depth)
        asked = lambda read: level_fits(read, type_.fields, below(depth))  # noqa: E731  named for the line below
        return f" AND {asked(level) if depth else let(level, asked)}"
    inside = elements(value, depth) if type_.kind is Kind.LIST else f"map_values({members(value, depth)})"
    return f" AND {forall(inside, lambda v: _holds(element_of(type_), v, below(depth)))}"
