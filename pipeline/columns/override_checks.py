"""What is said of columns, held against the columns: names twice, types that are others, paths that reach nothing. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pipeline.columns.declared.overrides import ANY, Override, Overrides, mended_by
from pipeline.columns.declared.rules_inside import fields_at
from pipeline.columns.declared.type_words import obeys
from pipeline.columns.in_table.odd_names import check_carried
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.names import name_in_files
from pipeline.columns.pointers import pointer_to
from pipeline.columns.types import ColumnType, Field, Kind
from pipeline.errors import OverrideContradicted, RebuildNeeded


def checked(columns: Columns, overrides: Overrides, *, all_seen: bool = True) -> Columns:
    """The columns, if each name is there once, and every path can reach something. Raises OverrideContradicted.

    `all_seen`: whether all values had their say. Among others there may be what a path reaches.
    """
    _check_names(columns)
    if all_seen:
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
            f"{told} are one: at least one of them is declared, or holds no attribute, and Parquet files have _1 for 1",
            _renamed_own(found) or mended_by("set another name, or one for the other attribute as well"),
        )


def _renamed_own(fields: tuple[Field, Field]) -> str:
    """What helps where one of them holds no attribute, so that no setting speaks of it; else empty."""
    own = [field.name for field in fields if not field.attribute]
    return f"Give somebody's own column {own[0]!r} another name (ALTER TABLE ... RENAME COLUMN)." if own else ""


def twins(columns: Columns) -> tuple[Field, Field] | None:
    """Two siblings, however deep, whose names are one in files, so that no row of them can be written; None for none.

    Beside columns of attributes stand those of somebody's own that hold none, whatever their type.
    """
    own = (Field("", name, ColumnType(Kind.OTHER)) for name in columns.taken)
    for siblings in _siblings((*columns.all, *own)):
        by_name: dict[str, Field] = {}
        for field in siblings:
            other = by_name.setdefault(name_in_files(field.name), field)
            if other is not field:  # of somebody's own several hold no attribute
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
            _renamed_own(found)
            or f"{mended_by('set another name for one of them')} Then replace the table's content by a new full export.",
        )
    for rule in overrides.rules:
        for place in places_at(columns, rule.path):
            if rule.name and place.name != rule.name:
                raise RebuildNeeded(
                    f"columns[{rule.pointer!r}] sets the name {rule.name!r}; the column is {place.name!r}",
                    f"If somebody has renamed the column, name it {rule.name} again. Else take the setting back and deploy, "
                    "or replace the table's content by a new full export.",
                )
            if is_of_other_type(place, rule, overrides):
                said = "sets hash, which is text" if rule.hash else f"declares the type {rule.type}"
                raise RebuildNeeded(f"columns[{rule.pointer!r}] {said}; the column is {place.type.kind.value}")


def _check_reached(columns: Columns, overrides: Overrides) -> None:
    """Refuse a path that never reaches anything: whoever wrote it believes that something is dropped, or has a type."""
    for rule in overrides.rules:
        for depth, step in enumerate(rule.path[1:], 1):
            kinds = {place.type.kind for place in places_at(columns, rule.path[:depth])}
            if Kind.LIST in kinds and step != ANY:
                told, remedy = "a name in a list", f"write {ANY} in the place of {step}, for every element"
            elif Kind.SET in kinds and step == ANY and not _drops_elements(rule, depth):
                told, remedy = "elements of a set", f"say it of the set, {pointer_to(rule.path[:depth])}"
            else:
                continue
            raise OverrideContradicted(
                f"columns[{rule.pointer!r}] speaks of {told}, and reaches nothing",
                mended_by(remedy),
            )


def _drops_elements(rule: Override, depth: int) -> bool:
    """Whether a rule drops what is in the lists or sets to which so many steps of its path lead: sets are gone then."""
    return rule.drop and depth + 1 == len(rule.path)


class Place(NamedTuple):
    """A column or nested field, or the elements of one, which have no name and ``*`` in their path."""

    path: tuple[str, ...]
    name: str
    type: ColumnType


def is_of_other_type(place: Place, rule: Override, overrides: Overrides) -> bool:
    """Whether a rule says the type of a place, and that has another."""
    return bool(rule.pin) and not obeys(place.type, rule.pin) and overrides.says_type(place.path) is rule


def places_at(columns: Columns, path: tuple[str, ...]) -> list[Place]:
    """The columns or nested fields at a path. Of ``*`` there may be many."""
    column = columns.by_attribute.get(path[0])
    found = [Place(path[:1], column.name, column.type)] if column else []
    for step in path[1:]:
        found = [below for place in found for below in _inside(place, step)]
    return found


def _inside(at: Place, step: str) -> list[Place]:
    if at.type.kind in (Kind.LIST, Kind.DICTIONARY) and at.type.element is not None and step == ANY:
        return [Place((*at.path, ANY), "", at.type.element)]
    return [Place((*at.path, field.attribute), field.name, field.type) for field in fields_at(at.type, step)]
