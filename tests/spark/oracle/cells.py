"""The places of a row where values stand, whole cells and what is inside, and what somebody may write there instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DecimalType,
    IcebergType,
    ListType,
    LongType,
    MapType,
    StringType,
    StructType,
)

from local.compare import Table
from tests.spark.oracle.spellings import Number, plain, read, written
from tests.spark.oracle.values import Value, scalar

_SETS = ("SS", "NS", "BS")
_JSON = (*_SETS, "L", "M")
#: What may stand in JSON in the place of anything.
_ANYTHING = (None, True, Number("17"), Number("-0.5"), "x", "17", [], {})


@dataclass(frozen=True)
class Place:
    """Where a value stands: within what, under which name or index, of which type, and what the item holds there, if anything."""

    attribute: str
    around: Any
    step: Any
    type: IcebergType
    value: Value | None

    def __str__(self) -> str:
        return f"{self.step!r} of {self.attribute!r}, {self.type}, {self.value}"

    @property
    def cell(self) -> Any:
        """What stands there."""
        return self.around[self.step]

    @property
    def holds(self) -> str:
        """The type of what the item holds there, DynamoDB's; empty where it is nothing."""
        return next(iter(self.value)) if self.value else ""

    def put(self, other: Any) -> None:
        """Write something else there."""
        self.around[self.step] = other


def mutable(cell: Any, type_: IcebergType) -> Any:
    """A cell, or a row, as Spark takes it and as one can write into it: maps are dictionaries, where PyIceberg has pairs."""
    if cell is None:
        return None
    if isinstance(type_, StructType):
        return {one.name: mutable(cell[one.name], one.field_type) for one in type_.fields}
    if isinstance(type_, ListType):
        return [mutable(one, type_.element_type) for one in cell]
    if isinstance(type_, MapType):
        return {name: mutable(one, type_.value_type) for name, one in dict(cell).items()}
    return cell


def places(row: dict[str, Any], item: Mapping[str, Value], table: Table, key: tuple[str, ...]) -> Iterator[Place]:
    """All places of a row but those of its key."""
    for name, column in table.columns.items():
        if name not in key:
            yield from _inside(Place(name, row, column.name, column.field_type, item.get(name)), table)


def _inside(place: Place, table: Table) -> Iterator[Place]:
    """A place and those inside."""
    yield place
    cell, type_, held = place.cell, place.type, place.value or {}
    if cell is None:
        return
    below: list[tuple[Any, IcebergType, Value | None]] = []
    if isinstance(type_, StructType):
        fields = table.by_attribute(type_.fields)
        below = [(one.name, one.field_type, held.get("M", {}).get(name)) for name, one in fields.items()]
    elif isinstance(type_, MapType):
        below = [(name, type_.value_type, held.get("M", {}).get(name)) for name in cell]
    elif isinstance(type_, ListType):
        elements = dict(enumerate(held.get("L", ())))
        below = [(index, type_.element_type, elements.get(index)) for index in range(len(cell))]
    for step, inner, value in below:
        yield from _inside(Place(place.attribute, cell, step, inner, value), table)


def changed(dice: Random, place: Place) -> Any:
    """Something else for a place, of its type, mostly of another meaning."""
    cell = place.cell
    if cell is not None and dice.random() < 0.25:
        return None
    if isinstance(cell, list) and dice.random() < 0.7:
        return _changed_list(dice, cell, place.type)
    if isinstance(cell, dict) and isinstance(place.type, MapType) and dice.random() < 0.7:
        return _changed_map(dice, cell, place.type)
    if isinstance(cell, str) and place.holds in _JSON:
        return _changed_json(dice, cell)
    # What differs in its spelling alone is no other number.
    return str(dice.randrange(10**6)) if isinstance(cell, str) and place.holds == "N" else _made(dice, place.type)


def _changed_list(dice: Random, cell: list[Any], type_: Any) -> list[Any]:
    """An element more, or less, or the others' order."""
    at = dice.randrange(len(cell) + 1)
    less = [*cell[:at], *cell[at + 1 :]]
    return dice.choice((less, [*cell[:at], _made(dice, type_.element_type), *cell[at:]], cell[::-1]))


def _changed_map(dice: Random, cell: dict[str, Any], type_: Any) -> dict[str, Any]:
    """A member more, or one less."""
    less = dice.choice([*cell]) if cell and dice.random() < 0.5 else None
    more = {} if less is not None else {dice.choice(("", "more", "a/b")): _made(dice, type_.value_type)}
    return {**{name: one for name, one in cell.items() if name != less}, **more}


def _changed_json(dice: Random, text: str) -> str:
    """JSON with one value in it changed."""
    whole = [read(text)]
    around, step = dice.choice([*_places_in_json(whole)])
    around[step] = dice.choice(_ANYTHING)
    return written(dice, whole[0])


def _places_in_json(found: Any) -> Iterator[tuple[Any, Any]]:
    for step in found if isinstance(found, dict) else range(len(found)):
        yield found, step
        if isinstance(found[step], (dict, list)):
            yield from _places_in_json(found[step])


def _made(dice: Random, type_: IcebergType) -> Any:
    """Some value of a type; null of one that no attribute's column has."""
    if isinstance(type_, StructType):
        return {one.name: _made(dice, one.field_type) if dice.random() < 0.5 else None for one in type_.fields}
    if isinstance(type_, ListType):
        return [_made(dice, type_.element_type) for _ in range(dice.randrange(3))]
    if isinstance(type_, MapType):
        return {name: _made(dice, type_.value_type) for name in dice.sample(("a", "b", ""), dice.randrange(3))}
    if isinstance(type_, DecimalType):
        return Decimal(dice.randrange(-(10**6), 10**6)).scaleb(-type_.scale)
    if isinstance(type_, LongType):
        return dice.randrange(-(10**6), 10**6)
    kind = {BooleanType: "BOOL", BinaryType: "B", StringType: "S"}.get(type(type_))
    return scalar(dice, kind) if kind else None


def respelled(dice: Random, place: Place) -> Any:
    """The same value written otherwise; null where it can be written in one way only."""
    cell = place.cell
    if place.holds in _SETS and isinstance(cell, list):
        return dice.sample(cell, len(cell))
    if isinstance(cell, dict) and isinstance(place.type, MapType):
        return dict(dice.sample(list(cell.items()), len(cell)))
    if place.value and place.holds in _JSON and isinstance(cell, str):
        return plain(dice, place.value)
    return None
