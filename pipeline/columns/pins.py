"""What overrides make of columns: types and names declared before anything is decided, columns that go, and what contradicts.

Pure.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from pipeline.columns.declared.overrides import ANY, Override, Overrides, mended_by
from pipeline.columns.declared.type_words import TAG_OF_PIN, obeys
from pipeline.columns.in_table.odd_names import check_carried
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.names import name_in_files
from pipeline.columns.pointers import pointer_to
from pipeline.columns.profile import Profile
from pipeline.columns.types import ColumnType, Field, Kind
from pipeline.errors import OverrideContradicted, RebuildNeeded

_LISTS = (Kind.LIST, Kind.DICTIONARY)


def pinned(seen: Profile, overrides: Overrides, there: Columns | None = None) -> Profile:
    """The profile, with what the user says at the paths it is said of; hashed values are strings.

    A path that was not seen is added, so that a column whose type is declared is there from the first load on. `there`: the
    table's columns, of which something may be said as well that was not seen.
    """
    if not overrides.rules:
        return seen
    seen = copy.deepcopy(seen)
    for field in there.attributes if there else ():
        _place_inside(field.type, seen.members.setdefault(field.attribute, Profile()))
    rules = [rule for rule in overrides.rules if not rule.drop]
    for rule in rules:
        _places(seen, rule.path)  # What is said of any name is said of all that are named.
    for rule in rules:
        for place in _places(seen, rule.path):
            place.pin, place.name = rule.pin or place.pin, rule.name or place.name
        if rule.path[-1] == ANY:
            for around in _places(seen, rule.path[:-1]):
                around.pin_of_any = rule.pin or around.pin_of_any
    return seen


def _place_inside(type_: ColumnType, at: Profile) -> None:
    """Make a place for all that is inside a type; of a dictionary without names, for a name that none has."""
    for field in type_.fields:
        _place_inside(field.type, at.members.setdefault(field.attribute, Profile()))
    if type_.kind is Kind.LIST and type_.element:
        at.elements = at.elements or Profile()
        _place_inside(type_.element, at.elements)
    elif type_.kind is Kind.DICTIONARY and type_.element:
        for member in at.members.values() or [at.members.setdefault("", Profile())]:
            _place_inside(type_.element, member)


def _places(at: Profile, path: tuple[str, ...]) -> list[Profile]:
    if not path:
        return [at]
    step, rest = path[0], path[1:]
    if step != ANY:
        return _places(at.members.setdefault(step, Profile()), rest)
    if "L" in at.tags and at.elements is None:
        at.elements = Profile()  # of lists that were all empty
    below = [*at.members.values(), *([at.elements] if at.elements else [])]
    return [place for one in below for place in _places(one, rest)]


def without_dropped(fields: tuple[Field, ...], overrides: Overrides) -> tuple[Field, ...]:
    """The fields but for those that are dropped, however deep; one that loses all its own fields goes as well."""
    dropped = [rule for rule in overrides.rules if rule.drop]
    kept = (_kept(field, (field.attribute,), dropped) for field in fields) if dropped else fields
    return tuple(field for field in kept if field is not None)


def _kept(field: Field, path: tuple[str, ...], dropped: list[Override]) -> Field | None:
    if any(rule.matches(path) for rule in dropped):
        return None
    type_ = _kept_type(field.type, path, dropped)
    return None if type_ is None else replace(field, type=type_)


def _kept_type(type_: ColumnType, path: tuple[str, ...], dropped: list[Override]) -> ColumnType | None:
    if type_.kind is Kind.STRUCT:
        fields = tuple(f for f in (_kept(f, (*path, f.attribute), dropped) for f in type_.fields) if f is not None)
        return replace(type_, fields=fields) if fields else None
    if type_.kind in _LISTS and type_.element is not None:
        element = _kept_type(type_.element, (*path, ANY), dropped)
        return None if element is None else replace(type_, element=element)
    return type_


def as_said(columns: Columns, overrides: Overrides) -> Columns:
    """The columns as values are read for them: plain JSON of which the user has declared the type takes no other."""
    if not overrides.typed:
        return columns
    return replace(columns, attributes=tuple(_field_as_said(f, (f.attribute,), overrides) for f in columns.attributes))


def _field_as_said(field: Field, path: tuple[str, ...], overrides: Overrides) -> Field:
    return replace(field, type=_type_as_said(field.type, path, overrides))


def _type_as_said(type_: ColumnType, path: tuple[str, ...], overrides: Overrides) -> ColumnType:
    if type_.kind is Kind.JSON:
        said = overrides.says_type(path)
        return replace(type_, tag=TAG_OF_PIN.get(said.type, "")) if said else type_
    fields = tuple(_field_as_said(field, (*path, field.attribute), overrides) for field in type_.fields)
    element = _type_as_said(type_.element, (*path, ANY), overrides) if type_.element else None
    return replace(type_, fields=fields, element=element)


def checked(columns: Columns, overrides: Overrides) -> Columns:
    """The columns, if each name is there once, and every path can reach something. Raises OverrideContradicted."""
    _check_names(columns)
    _check_reached(columns, overrides)
    return columns


def _check_names(columns: Columns) -> None:
    """Only a declared name can be another's."""
    for field in columns.all:
        if field.name in columns.taken:
            raise OverrideContradicted(
                f"the name {field.name!r} of the attribute {field.attribute!r} is taken by the table's partitions, or by a "
                "column of somebody's own",
                mended_by("set another name for it, or one for the partition key"),
            )
    if found := twins(columns):
        one, other = found
        told = f"the names {one.name!r} and {other.name!r} of the attributes {one.attribute!r} and {other.attribute!r}"
        raise OverrideContradicted(
            f"{told} are one: at least one of them is declared, and Parquet files have _1 for 1",
            mended_by("set another name, or one for the other attribute as well"),
        )


def twins(columns: Columns) -> tuple[Field, Field] | None:
    """Two siblings, however deep, whose names are one in files, so that no row of them can be written; None for none."""
    for siblings in _siblings(columns.all):
        by_name: dict[str, Field] = {}
        for field in siblings:
            other = by_name.setdefault(name_in_files(field.name), field)
            if other.attribute != field.attribute:
                return other, field
    return None


def _siblings(fields: tuple[Field, ...]) -> Iterator[tuple[Field, ...]]:
    yield fields
    for field in fields:
        type_ = field.type
        while type_.element is not None:
            type_ = type_.element
        if type_.fields:
            yield from _siblings(type_.fields)


def check_followed(columns: Columns, overrides: Overrides) -> None:
    """Refuse types and names that the table's columns do not have, names that no job can carry, and paths that reach nothing.

    Raises RebuildNeeded, OverrideContradicted.
    """
    check_carried(columns)
    _check_reached(columns, overrides)
    if found := twins(columns):
        raise RebuildNeeded(
            f"the columns {found[0].name!r} and {found[1].name!r} are one in Parquet files, so that no row can be written",
            mended_by("set another name for one of them") + " Then replace the table's content by a new full export.",
        )
    for rule in overrides.rules:
        for path, name, type_ in places_at(columns, rule.path):
            if rule.name and name != rule.name:
                raise RebuildNeeded(
                    f"columns[{rule.pointer!r}] sets the name {rule.name!r}; the column is {name!r}",
                    f"If somebody has renamed the column, name it {rule.name} again. Else take the setting back and deploy, "
                    "or replace the table's content by a new full export.",
                )
            if rule.pin and not obeys(type_, rule.pin) and overrides.says_type(path) is rule:
                said = "sets hash, which is text" if rule.hash else f"declares the type {rule.type}"
                raise RebuildNeeded(f"columns[{rule.pointer!r}] {said}; the column is {type_.kind.value}")


def _check_reached(columns: Columns, overrides: Overrides) -> None:
    """Refuse a path that never reaches anything: whoever wrote it believes that something is dropped, or has a type."""
    for rule in overrides.rules:
        for depth, step in enumerate(rule.path[1:], 1):
            kinds = {place.type.kind for place in places_at(columns, rule.path[:depth])}
            if Kind.LIST in kinds and step != ANY:
                told, remedy = "a name in a list", f"write {ANY} in the place of {step}, for every element"
            elif Kind.SET in kinds and step == ANY:
                told, remedy = "elements of a set", f"say it of the set, {pointer_to(rule.path[:depth])}"
            else:
                continue
            raise OverrideContradicted(
                f"columns[{rule.pointer!r}] speaks of {told}, and reaches nothing",
                mended_by(remedy),
            )


class Place(NamedTuple):
    """A column or nested field, or the elements of one, which have no name and ``*`` in their path."""

    path: tuple[str, ...]
    name: str
    type: ColumnType


def places_at(columns: Columns, path: tuple[str, ...]) -> list[Place]:
    """The columns or nested fields at a path. Of ``*`` there may be many."""
    found = [Place((f.attribute,), f.name, f.type) for f in columns.all if f.attribute == path[0]]
    for step in path[1:]:
        found = [below for place in found for below in _inside(place, step)]
    return found


def _inside(at: Place, step: str) -> list[Place]:
    if at.type.kind in _LISTS and at.type.element is not None and step == ANY:
        return [Place((*at.path, ANY), "", at.type.element)]
    fields = (field for field in at.type.fields if step in (ANY, field.attribute))
    return [Place((*at.path, field.attribute), field.name, field.type) for field in fields]
