"""What became of a table's columns, as reports tell it: columns that are new, of another type, or gone. Pure.

Each with its name, its attribute's path and its type; and with the number of its values and an item's key, where those were
counted. A nested field is told as a column is, by its name and those around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.misfit_paths import resolved
from pipeline.columns.pointers import pointer_to
from pipeline.columns.profile import ELEMENT, Observed, Path, member_step, rule_path
from pipeline.columns.types import ColumnType, Field, Kind, taken_tags

_WORDS = {Kind.LONG: "bigint", Kind.BYTES: "binary", Kind.FLAG: "boolean", Kind.STRUCT: "struct"}


class _Change(NamedTuple):
    """A column, or what is inside one, that is not what it was; None where there was, or is, nothing.

    `path`: to the attribute; `ELEMENT` for any name of a dictionary, too.
    """

    name: str
    path: Path
    before: ColumnType | None
    after: ColumnType | None


def new_columns(before: Columns, after: Columns, seen: Iterable[Observed] = ()) -> list[dict[str, Any]]:
    """What a report says of the columns, and nested fields of columns, that were not there before.

    `seen`: what was counted of all values that had no column before, if it was.
    """
    by_path = _by_path(after, seen)
    return [
        {"column": one.name, "path": _pointer(one.path), "type": _word(one.after), **_held(one, by_path)}
        for one in _changes(before.all, after.all)
        if one.before is None and one.after is not None
    ]


def changed_columns(before: Columns, after: Columns, seen: Iterable[Observed] = ()) -> list[dict[str, Any]]:
    """What a report says of the columns, and nested fields of columns, that have another type now, or are there no more.

    `seen`: what was counted of the values that those of another type hold now, if it was.
    """
    by_path = _by_path(after, seen)
    return [
        {"column": one.name, "path": _pointer(one.path), **_types(one.before, one.after), **_held(one, by_path)}
        for one in _changes(before.all, after.all)
        if one.before is not None
    ]


def paths_to_count(before: Columns, after: Columns) -> list[Path]:
    """The paths to the attributes of the columns, and nested fields of columns, that are new, or of another type now.

    Not to what holds no attribute, or is inside that: no item has a value there, and several such columns have one path.
    """
    changes = _changes(before.all, after.all)
    return [one.path for one in changes if one.after is not None and member_step("") not in one.path]


def _types(before: ColumnType, after: ColumnType | None) -> dict[str, str]:
    """The type before, and the one now, if there is any. Where SQL has one word for both, what they hold tells them apart."""
    if after is None:
        return {"before": _word(before)}
    words = {"before": _word(before), "after": _word(after)}
    if len(set(words.values())) > 1:
        return words
    return {when: f"{words[when]} ({type_.kind.value})" for when, type_ in (("before", before), ("after", after))}


def _changes(before: Iterable[Field], after: Iterable[Field], outer: str = "", path: Path = ()) -> Iterator[_Change]:
    """The columns that are there now, in their order; then those that are there no more."""
    # A column that is given to another attribute is another column.
    left = {(field.name, field.attribute): field for field in before}
    for field in after:
        name, inside = outer + field.name, (*path, member_step(field.attribute))
        known = left.pop((field.name, field.attribute), None)
        if known is None:
            yield _Change(name, inside, None, field.type)
        else:
            yield from _changes_inside(known.type, field.type, name, inside)
    for field in left.values():
        yield _Change(outer + field.name, (*path, member_step(field.attribute)), field.type, None)


def _changes_inside(before: ColumnType, after: ColumnType, name: str, path: Path) -> Iterator[_Change]:
    if (before.kind, before.scale, before.digits) != (after.kind, after.scale, after.digits):
        yield _Change(name, path, before, after)
        return
    yield from _changes(before.fields, after.fields, f"{name}.", path)
    if before.element is not None and after.element is not None:
        yield from _changes_inside(before.element, after.element, name, (*path, ELEMENT))


def _pointer(path: Path) -> str:
    return pointer_to(rule_path(path))


def _word(type_: ColumnType) -> str:
    """The type as SQL has it, without what is inside a struct."""
    if type_.kind is Kind.DECIMAL:
        return f"decimal({type_.digits},{type_.scale})"
    if type_.element is not None:
        inside = _word(type_.element)
        return f"map<string,{inside}>" if type_.kind is Kind.DICTIONARY else f"array<{inside}>"
    return _WORDS.get(type_.kind, "string")


def _by_path(columns: Columns, seen: Iterable[Observed]) -> dict[Path, list[Observed]]:
    found: dict[Path, list[Observed]] = {}
    for row in seen:
        found.setdefault(resolved(row.path, columns, any_name=True), []).append(row)
    return found


def _held(one: _Change, seen: Mapping[Path, Sequence[Observed]]) -> dict[str, Any]:
    """How many of the values that were seen there the column holds, with the least key of those that have one.

    What was counted of its own cells has no tag. Values of other types are misfits, and told as such.
    """
    taken = taken_tags(one.after) | {""} if one.after else frozenset()
    rows = [row for row in seen.get(one.path, ()) if row.tag in taken]
    return {"count": sum(row.count for row in rows), "example": min(row.example for row in rows)} if rows else {}
