"""Whether values fit their columns: the cheap question, asked of every value, before the misfits of a row are gathered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipeline.column_types import ColumnType, Field, Kind
from spark.cells import CONTAINERS, cell
from spark.values import below, elements, has_one_type, let, members


def level_fits(level: Column, fields: Sequence[Field], depth: int) -> Column:
    """Whether every member of a level has a field that holds it wholly: as many members as fields that hold one.

    A member that is NULL and has no field makes this false as well, though it is no misfit.
    """
    held = [_holds(f.type, F.element_at(level, f.attribute), depth).cast("int") for f in fields]
    return F.size(level) == reduce(add, held, F.lit(0))


def own_fits(type_: ColumnType, value: Column, depth: int) -> Column:
    """Whether a value has a cell of this type, whatever becomes of what is inside it; never null."""
    if type_.kind in CONTAINERS:
        return value["L" if type_.kind is Kind.LIST else "M"].isNotNull()
    return cell(type_, value, depth).isNotNull()


def _holds(type_: ColumnType, value: Column, depth: int) -> Column:
    """Whether a value is there, is one, and is NULL or fits with everything inside; never null."""
    fits = value["NULL"].isNotNull() | (own_fits(type_, value, depth) & _inside_fits(type_, value, depth))
    return value.isNotNull() & has_one_type(value) & fits


def _inside_fits(type_: ColumnType, value: Column, depth: int) -> Column:
    """Whether what is inside a value fits; asked only of values that fit themselves."""
    if type_.kind is Kind.STRUCT:
        level = members(value, depth)
        if depth:
            return level_fits(level, type_.fields, below(depth))
        return let(level, lambda read: level_fits(read, type_.fields, below(depth)))
    element = type_.element
    if element is None or type_.kind is Kind.SET:
        return F.lit(True)
    inside = elements(value, depth) if type_.kind is Kind.LIST else F.map_values(members(value, depth))
    return F.forall(inside, lambda v: _holds(element, v, below(depth)))
