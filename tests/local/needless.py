"""Misfits that need not be: values kept in ``_misfits`` for which there is a place in the table, or could be one.

`local.compare` takes a value for kept wherever it stands; a table that kept all of them in ``_misfits`` would pass there.
Here each is held against the column or field at its own path. That tells something of rows only that were written when the
table had the columns that it has now, so whoever asks says which rows those are.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
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

from local.compare import EXACT, Difference, Table, row_key

_SCALARS, _CONTAINERS, _NUMBERS = ("S", "N", "B", "BOOL"), ("SS", "NS", "BS", "L", "M"), range(-(2**63), 2**63)
#: What a string takes, by the kind that the table's property tells; where it tells none, it is of text.
_OF_STRING: Mapping[str, tuple[str, ...]] = {"digits": ("N",), "scalars": _SCALARS, "json": _CONTAINERS}
#: Half of the columns that a table gets, and of the fields that a column grows to: what comes with more inside than there is
#: room for is left out whole, so that nearer to the limits nobody can tell from here.
_SURELY_COLUMNS, _SURELY_FIELDS = 2_500, 500


def needless_misfits(
    rows: Iterable[Mapping[str, Any]], table: Table, key: tuple[str, ...], decided: Collection[str] = ()
) -> Iterator[Difference]:
    """Yield the misfits of rows that the place of their own could hold, or that could have had one.

    `rows`: written with the columns that the table has. `decided`: attributes whose columns have their types from these very
    values, as after a full export; each then holds all scalars, or all sets, lists and maps, of its place.
    """
    for row in rows:
        for path, text in dict(row.get("_misfits") or ()).items():
            if why := _why_needless(path, json.loads(text), table, decided):
                yield Difference(row_key(row, table, key), path, text, f"kept in _misfits, {why}")


def _why_needless(path: str, value: Mapping[str, Any], table: Table, decided: Collection[str]) -> str:
    """Why a misfit need not be; empty where it has to."""
    ((tag, inner),) = value.items()
    if tag == "NULL":
        return "though NULL is an empty cell"
    first, *steps = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]
    column = table.columns.get(first)
    if column is None:
        return "though there is room for a column" if len(table.columns) < _SURELY_COLUMNS else ""
    number, kind = column.field_id, column.field_type
    for step in steps:
        below = _below(number, kind, step, table)
        if below is None:
            has_room = isinstance(kind, StructType) and _field_count(column.field_type) < _SURELY_FIELDS
            return "though there is room for a field" if has_room else ""
        number, kind = below
    if _holds(tag, inner, number, kind, table):
        return f"though its own place, {kind}, holds it"
    is_string = isinstance(kind, StringType) and table.kinds.get(f"#{number}") != "json"
    is_of_scalars = is_string or isinstance(kind, (LongType, DecimalType, BinaryType, BooleanType))
    has_wider = first in decided and is_of_scalars is (tag in _SCALARS)
    return f"though there is a wider type than {kind}" if has_wider else ""


def _below(number: int, kind: IcebergType, step: str, table: Table) -> tuple[int, IcebergType] | None:
    """The field id and type of what is inside a type under a step of a path; None where nothing is."""
    if isinstance(kind, StructType):
        field = table.by_attribute(kind.fields).get(step)
        return (field.field_id, field.field_type) if field else None
    if isinstance(kind, MapType):
        return kind.value_id, kind.value_type
    return (kind.element_id, kind.element_type) if isinstance(kind, ListType) else None


def _field_count(kind: IcebergType) -> int:
    """How many fields are in a type, however deep."""
    if isinstance(kind, StructType):
        return sum(1 + _field_count(field.field_type) for field in kind.fields)
    if isinstance(kind, MapType):
        return _field_count(kind.value_type)
    return _field_count(kind.element_type) if isinstance(kind, ListType) else 0


def _holds(tag: str, inner: Any, number: int, kind: IcebergType, table: Table) -> bool:
    """Whether a value of DynamoDB's would be whole in a cell of this type, but for what is inside, which has paths of its own."""
    if isinstance(kind, StringType):
        return tag in _OF_STRING.get(table.kinds.get(f"#{number}", ""), ("S",))
    if isinstance(kind, (StructType, MapType)):
        return tag == "M"
    if isinstance(kind, ListType):
        if table.kinds.get(f"#{number}") != "set":
            return tag == "L"
        # An element of a set has no path: one that does not fit makes the whole set a misfit.
        element = kind.element_id, kind.element_type
        return tag in ("SS", "NS", "BS") and all(_holds(tag[0], one, *element, table) for one in inner)
    if isinstance(kind, (LongType, DecimalType)):
        return tag == "N" and _has_room(kind, Decimal(inner))
    return isinstance(kind, BinaryType) if tag == "B" else tag == "BOOL" and isinstance(kind, BooleanType)


def _has_room(kind: LongType | DecimalType, number: Decimal) -> bool:
    """Whether a number is exact in a type."""
    decimals = max(-int(number.normalize(EXACT).as_tuple().exponent), 0)
    if isinstance(kind, LongType):
        return decimals == 0 and int(number) in _NUMBERS
    return decimals <= kind.scale and number.copy_abs().compare(Decimal(10) ** (kind.precision - kind.scale)) < 0
