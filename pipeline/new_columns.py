"""Columns that a table did not have before, as reports tell of them: name, attribute, type, how many values, a key. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pipeline.column_profile import ELEMENT, MEMBER, Observed, Path
from pipeline.column_types import ColumnType, Field, Kind
from pipeline.overrides import ANY
from pipeline.pointers import step
from pipeline.table_columns import Columns, resolved

_WORDS = {Kind.LONG: "bigint", Kind.BYTES: "binary", Kind.FLAG: "boolean", Kind.STRUCT: "struct"}


class _New(NamedTuple):
    """`name`: of a nested field with those around it. `path`: to the attribute; `ELEMENT` for any name of a dictionary, too."""

    name: str
    path: Path
    type: ColumnType


def new_columns(before: Columns, after: Columns, seen: Iterable[Observed] = ()) -> list[dict[str, Any]]:
    """What a report says of the columns, and nested fields of columns, that were not there before.

    `seen`: what was counted of all values that had no column before, if it was.
    """
    counted: dict[Path, list[Observed]] = {}
    for row in seen:
        if row.tag != "NULL":
            counted.setdefault(resolved(row.path, after, any_name=True), []).append(row)
    return [
        {"column": one.name, "path": _pointer(one.path), "type": _word(one.type), **_counts(counted.get(one.path, []))}
        for one in _new(before.all, after.all, "", ())
    ]


def _new(before: Iterable[Field], after: Iterable[Field], outer: str, path: Path) -> Iterator[_New]:
    known = {field.name: field.type for field in before}
    for field in after:
        name, inside = outer + field.name, (*path, MEMBER + field.attribute)
        if field.name in known:
            yield from _new_inside(known[field.name], field.type, name, inside)
        else:
            yield _New(name, inside, field.type)


def _new_inside(before: ColumnType, after: ColumnType, name: str, path: Path) -> Iterator[_New]:
    if before.kind is not after.kind:
        return
    yield from _new(before.fields, after.fields, f"{name}.", path)
    if before.element is not None and after.element is not None:
        yield from _new_inside(before.element, after.element, name, (*path, ELEMENT))


def _pointer(path: Path) -> str:
    return "".join("/" + (ANY if one == ELEMENT else step(one.removeprefix(MEMBER))) for one in path)


def _word(type_: ColumnType) -> str:
    """The type as SQL has it, without what is inside a struct."""
    if type_.kind is Kind.DECIMAL:
        return f"decimal(38,{type_.scale})"
    if type_.element is not None:
        inside = _word(type_.element)
        return f"map<string,{inside}>" if type_.kind is Kind.DICTIONARY else f"array<{inside}>"
    return _WORDS.get(type_.kind, "string")


def _counts(rows: Sequence[Observed]) -> dict[str, Any]:
    if not rows:
        return {}
    return {"count": sum(row.count for row in rows), "example": min(row.example for row in rows)}
