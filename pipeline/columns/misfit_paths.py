"""Where misfits lie: paths as the columns know them, and which of them lead to no column. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.pointers import step
from pipeline.columns.profile import ELEMENT, Observed, Path, member_step, name_of
from pipeline.columns.types import ColumnType, Kind


def resolved(path: Path, columns: Columns, *, found_at: int = 0, any_name: bool = False) -> Path:
    """A misfit's path with its indices told from member names, which the columns know and a pointer does not.

    `found_at`: how many steps lead to the misfit; what is inside it has told its steps itself, 0 for all of them.
    `any_name`: the names of a dictionary are told as indices are.
    """
    numbered = (Kind.LIST, Kind.DICTIONARY) if any_name else (Kind.LIST,)
    steps, type_ = list(path), _type_of(path[0], columns)
    for place in range(1, found_at or len(steps)):
        if type_ is None:
            break
        if type_.kind in numbered:
            steps[place] = ELEMENT
        type_ = _type_below(type_, steps[place])
    return tuple(steps)


def placed(seen: Iterable[Observed], columns: Columns) -> list[Observed]:
    """What was counted of misfits, with its paths as the columns know them."""
    return [replace(row, path=resolved(row.path, columns, found_at=row.found_at)) for row in seen]


def without_column(seen: Iterable[Observed], columns: Columns) -> list[Observed]:
    """Of what was counted of misfits, what lies where there is no column.

    A value that its column rejected tells nothing about the columns inside it.
    """
    return [row for row in seen if len(row.path) == row.found_at or not _has_column(row.path[: row.found_at], columns)]


def element_places(columns: Columns) -> list[str]:
    """Patterns of the pointers to lists and dictionaries, a level each: what follows is an index, or a name that is data."""
    found: dict[int, list[str]] = {}
    for field in columns.all:
        for pattern in _element_places(f"/{re.escape(step(field.attribute))}", field.type):
            found.setdefault(pattern.count("/"), []).append(pattern)
    return ["|".join(patterns) for _, patterns in sorted(found.items())]


def _element_places(pattern: str, type_: ColumnType) -> Iterator[str]:
    if type_.kind in (Kind.LIST, Kind.DICTIONARY):
        yield pattern
    for field in type_.fields:
        yield from _element_places(f"{pattern}/{re.escape(step(field.attribute))}", field.type)
    if type_.element is not None:
        yield from _element_places(f"{pattern}/[^/]+", type_.element)


def _has_column(path: Path, columns: Columns) -> bool:
    type_ = _type_of(path[0], columns)
    for below in path[1:]:
        type_ = type_ and _type_below(type_, below)
    return type_ is not None


def _type_of(first: str, columns: Columns) -> ColumnType | None:
    return columns.types.get(name_of(first))


def _type_below(type_: ColumnType, below: str) -> ColumnType | None:
    """The type of a column's field, or of what is inside a list, set or dictionary, whatever the step."""
    if type_.kind is Kind.STRUCT:
        field = type_.by_attribute.get(name_of(below))
        return field.type if field and member_step(field.attribute) == below else None
    return type_.element
