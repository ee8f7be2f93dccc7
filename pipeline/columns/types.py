"""Types of columns: what a DynamoDB attribute can become in the table, and which of DynamoDB's types each takes. Pure."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

#: A decimal holds 38 digits; DynamoDB's numbers have as many, but exponents from -130 to 125.
MOST_DIGITS = 38
SCALAR_TAGS = frozenset({"S", "N", "B", "BOOL"})
CONTAINER_TAGS = frozenset({"SS", "NS", "BS", "L", "M"})


class Kind(enum.Enum):
    """How a column holds values; the value is the word that tells apart kinds of the same Iceberg type."""

    TEXT = "text"
    LONG = "long"
    DECIMAL = "decimal"
    DIGITS = "digits"
    BYTES = "bytes"
    FLAG = "flag"
    SCALARS = "scalars"
    JSON = "json"
    SET = "set"
    LIST = "list"
    STRUCT = "struct"
    DICTIONARY = "dictionary"
    #: What somebody has put into a column, of a type that holds no value of DynamoDB's.
    OTHER = "other"


@dataclass(frozen=True)
class ColumnType:
    """A column's type. `scale` for DECIMAL, `element` for SET, LIST and DICTIONARY, `fields` for STRUCT.

    `digits`, for DECIMAL: how many it holds; fewer than `MOST_DIGITS` only where somebody has added the column.

    `tag`, for JSON: the only one of DynamoDB's types that it takes, where the settings declare one. The table does not say
    it, so it is there only in columns that `pins.as_said` has made of the table's.
    """

    kind: Kind
    scale: int = 0
    element: ColumnType | None = None
    fields: tuple[Field, ...] = ()
    tag: str = ""
    digits: int = MOST_DIGITS

    @cached_property
    def by_attribute(self) -> Mapping[str, Field]:
        """The fields of a struct, by their attributes; of several that hold none, the first."""
        return {field.attribute: field for field in reversed(self.fields)}

    @property
    def untagged(self) -> ColumnType:
        """The same type as the table knows it."""
        fields = tuple(replace(field, type=field.type.untagged) for field in self.fields)
        return replace(self, element=self.element and self.element.untagged, fields=fields, tag="")


@dataclass(frozen=True)
class Field:
    """A column, or a field nested in one: the exact attribute name, the column name, the type."""

    attribute: str
    name: str
    type: ColumnType


TEXT, LONG, DIGITS = ColumnType(Kind.TEXT), ColumnType(Kind.LONG), ColumnType(Kind.DIGITS)
BYTES, FLAG, SCALARS, JSON = (ColumnType(k) for k in (Kind.BYTES, Kind.FLAG, Kind.SCALARS, Kind.JSON))


def by_type(fields: Iterable[Field]) -> dict[ColumnType, list[Field]]:
    """Fields of one type can share one expression: a thousand have few types, and long expressions cost Spark seconds."""
    found: dict[ColumnType, list[Field]] = {}
    for field in fields:
        found.setdefault(field.type, []).append(field)
    return found


def taken_tags(type_: ColumnType) -> frozenset[str]:
    """The DynamoDB types that a column takes."""
    by_kind = {
        Kind.TEXT: frozenset({"S"}),
        Kind.BYTES: frozenset({"B"}),
        Kind.FLAG: frozenset({"BOOL"}),
        Kind.SCALARS: SCALAR_TAGS,
        Kind.JSON: frozenset({type_.tag}) if type_.tag else CONTAINER_TAGS,
        Kind.LIST: frozenset({"L"}),
        Kind.STRUCT: frozenset({"M"}),
        Kind.DICTIONARY: frozenset({"M"}),
        Kind.OTHER: frozenset(),
    }
    if type_.kind is Kind.SET:
        return frozenset({set_tag(type_)})
    return by_kind.get(type_.kind, frozenset({"N"}))


def set_tag(type_: ColumnType) -> str:
    """Which of SS, NS, BS a column of a set's type holds."""
    assert type_.element is not None  # a set has elements
    return {Kind.TEXT: "SS", Kind.BYTES: "BS"}.get(type_.element.kind, "NS")


def part_inside(type_: ColumnType) -> str:
    """What Iceberg calls the step from a list or set to its elements, and from a dictionary to its values."""
    return "value" if type_.kind is Kind.DICTIONARY else "element"


def fields_inside(type_: ColumnType) -> Iterator[Field]:
    """All fields inside a type, however deep."""
    for field in type_.fields:
        yield field
        yield from fields_inside(field.type)
    if type_.element:
        yield from fields_inside(type_.element)
