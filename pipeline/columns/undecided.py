"""Columns whose declared type leaves a choice to the data while no value has been seen that decides it. Pure.

Such types are `N`, which may become a bigint or a decimal, and `L`, whose elements may be anything.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from pipeline.columns.decided_types import as_declared, column_type
from pipeline.columns.declared.type_words import obeys
from pipeline.columns.growth import inside_of
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.profile import Profile
from pipeline.columns.types import JSON, ColumnType, Kind


def without_undecided(there: Columns, seen: Profile, fixed: Set[str], *, all_seen: bool) -> tuple[Columns, Profile]:
    """The columns without their undecided places, and what was seen of the columns that are left.

    A place is undecided that is of another type than the declared one, while no value decides what it becomes. Where not all
    values had their say, the whole column goes for now: its values are misfits then, and decide it. Else what holds such
    elements goes with them, if it is not plain JSON. `fixed`: names of columns that stay what they are.
    """
    left, undecided = [], set()
    for field in there.attributes:
        found = seen.members.get(field.attribute)
        type_ = field.type if field.name in fixed else _decided(field.type, found, all_seen)
        if found and type_ != field.type:
            undecided.add(field.attribute)
            type_ = (type_ or column_type(found)) if all_seen else None
        if type_:
            left.append(replace(field, type=type_))
    return replace(there, attributes=tuple(left)), seen if all_seen else seen.without(undecided)


def _decided(type_: ColumnType, seen: Profile | None, all_seen: bool) -> ColumnType | None:
    """A type without the places that are not decided, nor what holds elements of such a type; None for nothing."""
    if seen is None:
        return type_
    # Plain JSON may stay where a list or map is declared, and is not what was meant.
    is_as_declared = not seen.pin or (obeys(type_, seen.pin) and (type_.kind is not Kind.JSON or seen.pin == "json"))
    if not is_as_declared:
        wanted = as_declared(seen)
        # Empty lists and maps, of which plain JSON would be made, decide nothing as long as others may follow.
        is_decided = wanted is not None and (all_seen or wanted != JSON or seen.pin == "json")
        return type_ if is_decided else None
    below = inside_of(type_, seen)
    if type_.element and below:
        element = _decided(type_.element, below, all_seen)
        return None if element is None else replace(type_, element=element)
    decided = ((f, _decided(f.type, seen.members.get(f.attribute), all_seen)) for f in type_.fields)
    fields = tuple(replace(field, type=inside) for field, inside in decided if inside is not None)
    return replace(type_, fields=fields) if fields or not type_.fields else None
