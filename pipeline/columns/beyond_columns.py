"""Which declared types no column of their own holds: those inside plain JSON, and beside what a dictionary's values share. Pure.

A value that a declared type excludes is a misfit wherever the type has a column. Here it would pass unseen.
"""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.columns.declared.overrides import Override, Overrides
from pipeline.columns.declared.rules_inside import fields_at
from pipeline.columns.declared.type_words import TAG_OF_PIN, obeys
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.types import ColumnType, Field, Kind


def beyond_columns(columns: Columns, overrides: Overrides) -> list[Override]:
    """The rules by which a type is declared that some place does not have, or that lies where there are no columns at all.

    `columns`: as values are read for them (`pins.as_said`).
    """
    fields = columns.by_attribute
    return [rule for rule in overrides.typed if (at := fields.get(rule.path[0])) and _is_beyond(at, rule, overrides)]


def _is_beyond(field: Field, rule: Override, overrides: Overrides) -> bool:
    return any(
        type_ is None or (overrides.says_type(path) is rule and not _shows(type_, rule.type))
        for path, type_ in _types_at(field.type, (field.attribute,), rule.path[1:])
    )


def _shows(type_: ColumnType, pin: str) -> bool:
    """Whether a value that a declared type excludes has no cell in a column of this type."""
    return obeys(type_, pin) and (type_.kind is not Kind.JSON or type_.tag == TAG_OF_PIN.get(pin, ""))


def _types_at(
    type_: ColumnType, around: tuple[str, ...], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], ColumnType | None]]:
    """The places at a path inside a column, and their types; None where it leads to where there are none.

    `around`: the column's own place. `path`: what is left of the path.
    """
    if not path:
        yield around, type_
    elif type_.kind is Kind.STRUCT:
        for field in fields_at(type_, path[0]):
            yield from _types_at(field.type, (*around, field.attribute), path[1:])
    elif type_.kind in (Kind.LIST, Kind.DICTIONARY) and type_.element:
        # Of a list nothing can be said by an index, which is refused elsewhere.
        yield from _types_at(type_.element, (*around, path[0]), path[1:])
    else:
        yield around, None
