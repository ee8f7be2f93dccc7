"""What overrides make of columns: types and names declared before anything is decided, and columns that go. Pure."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

from pipeline.columns.declared.overrides import ANY, Override, Overrides
from pipeline.columns.declared.type_words import TAG_OF_PIN
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.profile import Profile
from pipeline.columns.types import ColumnType, Field, Kind


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
            place.name = rule.name or place.name
        _pin(seen, rule, rule.pin_after)
    for rule in rules:
        if rule.hash:
            _pin(seen, rule, rule.pin_beside)
    return seen


def _pin(seen: Profile, rule: Override, pin_of: Callable[[str], str]) -> None:
    """Say of the places of a rule, and for names to come, which pin they have now, by the one that they had."""
    for place in _places(seen, rule.path):
        place.pin = pin_of(place.pin)
    if rule.path[-1] == ANY:
        for around in _places(seen, rule.path[:-1]):
            around.pin_of_any = pin_of(around.pin_of_any)


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
    if not any(rule.drop for rule in overrides.rules):
        return fields
    kept = (_kept(field, (field.attribute,), overrides) for field in fields)
    return tuple(field for field in kept if field is not None)


def _kept(field: Field, path: tuple[str, ...], said: Overrides) -> Field | None:
    if any(rule.drop for rule in said.at(path)):
        return None
    type_ = _kept_type(field.type, path, said)
    return None if type_ is None else replace(field, type=type_)


def _kept_type(type_: ColumnType, path: tuple[str, ...], said: Overrides) -> ColumnType | None:
    if type_.kind is Kind.STRUCT:
        fields = tuple(f for f in (_kept(f, (*path, f.attribute), said) for f in type_.fields) if f is not None)
        return replace(type_, fields=fields) if fields else None
    if type_.element is not None:
        element = _kept_type(type_.element, (*path, ANY), said)
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
