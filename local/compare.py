"""Compare source items with rows of the table, value by value, without any of the code that made the rows.

The rows come from an independent reader (PyIceberg), the items from an ordinary Scan. Every value of an item must be
found in its column, or in ``_misfits`` under its path, exactly; every value in a row must come from the item. NULL and
absent are the same, but the column of a map must have every name. Nothing else is tolerated: no rounding, no reordering
except of sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from types import MappingProxyType
from typing import Any

from pyiceberg.schema import Schema
from pyiceberg.types import IcebergType, ListType, MapType, NestedField, StringType, StructType

from local.same_values import Tagged, same, same_misfit

#: Python rounds to 28 digits otherwise; DynamoDB has 38.
EXACT = Context(prec=38)

OWN_COLUMNS = ("_write_time", "_misfits")
Item = Mapping[str, Tagged]


@dataclass(frozen=True)
class Difference:
    """One place where source and table differ: the key as text, the path inside the item, and both values."""

    key: str
    path: str
    source: str
    table: str

    def __str__(self) -> str:
        return f"{self.key} {self.path or '(row)'}: source {self.source}, table {self.table}"


class Table:
    """The table's columns by exact attribute name.

    `names`: field id to exact name, as the table's property has it. `kinds`: ``#`` and field id to what a string or a list
    is of, where another property tells.
    """

    def __init__(
        self, schema: Schema, names: Mapping[str, str], kinds: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._names, self.kinds = names, kinds
        self.columns = self.by_attribute([f for f in schema.fields if f.name not in OWN_COLUMNS])

    def by_attribute(self, fields: Iterable[NestedField]) -> dict[str, NestedField]:
        """Columns or nested fields by the exact names of the attributes that they were made from.

        One of somebody's own may be called like an attribute that another holds; the property tells which does.
        """
        told: dict[str, NestedField] = {}
        untold: dict[str, NestedField] = {}
        for field in sorted(fields, key=lambda field: -field.field_id):
            name = self._names.get(str(field.field_id))
            (told if name else untold)[name or field.doc or field.name] = field
        return {**untold, **told}


def differences(
    items: Iterable[Item], rows: Iterable[Mapping[str, Any]], table: Table, key: tuple[str, ...]
) -> Iterator[Difference]:
    """Yield every difference between the items and the rows; `key` are the key attributes' exact names."""
    by_key = {key_text(item, key): item for item in items}
    for row in rows:
        text = row_key(row, table, key)
        item = by_key.pop(text, None)
        if item is None:
            yield Difference(text, "", "no such item", "a row")
        else:
            yield from _row_differences(text, item, row, table)
    for text in by_key:
        yield Difference(text, "", "an item", "no such row")


def key_text(item: Item, key: tuple[str, ...]) -> str:
    """A key's value as text, another one for each key; numbers by value, so that 1 and 1.0 are one key."""
    return "/".join(_key_part(next(iter(item[name].values())), "N" in item[name]) for name in key)


def _key_part(value: Any, is_number: bool) -> str:
    if is_number:
        return format(Decimal(value).normalize(EXACT), "f")
    return value.hex() if isinstance(value, bytes) else _step(value)


def row_key(row: Mapping[str, Any], table: Table, key: tuple[str, ...]) -> str:
    """A row's key as the text that `key_text` makes of its item's."""
    values = [row[table.columns[name].name] for name in key]
    return "/".join(_key_part(value, isinstance(value, (int, Decimal))) for value in values)


def _row_differences(text: str, item: Item, row: Mapping[str, Any], table: Table) -> Iterator[Difference]:
    misfits = dict(row.get("_misfits") or ())
    for name, value in item.items():
        field = table.columns.get(name)
        cell = row[field.name] if field else None
        kind = field.field_type if field else StringType()
        for path, tagged, found in _unequal(pointer("", name), value, cell, kind, misfits, table):
            yield Difference(text, path, _short(tagged), _short(found))
    for name, field in table.columns.items():
        if name not in item and row[field.name] is not None:
            yield Difference(text, pointer("", name), "absent", _short(row[field.name]))
    for path in misfits:
        yield Difference(text, path, "fits or is absent", "kept in _misfits")


def pointer(parent: str, name: str) -> str:
    """The JSON pointer (RFC 6901) of a member below `parent`."""
    return f"{parent}/{_step(name)}"


def _step(name: str) -> str:
    """The name without a slash: so no two keys, and no two paths, are one text."""
    return name.replace("~", "~0").replace("/", "~1")


Found = Iterator[tuple[str, Any, Any]]


def _unequal(path: str, value: Tagged, cell: Any, kind: IcebergType, misfits: dict[str, str], table: Table) -> Found:
    """Yield (path, tagged value, cell) for every value that is not where it must be; consumes the misfits it explains."""
    if path in misfits:
        if not same_misfit(value, misfits.pop(path)) or cell is not None:
            yield path, value, cell
        return
    (tag, inner), *_ = value.items()
    if tag == "NULL":
        if cell is not None:
            yield path, value, cell
    elif tag == "M" and isinstance(kind, StructType) and cell is not None:
        yield from _unequal_struct(path, inner, cell, kind, misfits, table)
    elif tag == "M" and isinstance(kind, MapType) and cell is not None:
        yield from _unequal_map(path, inner, dict(cell), kind, misfits, table)
    elif tag == "L" and isinstance(kind, ListType) and cell is not None and len(cell) == len(inner):
        for index, (element, found) in enumerate(zip(inner, cell, strict=True)):
            yield from _unequal(f"{path}/{index}", element, found, kind.element_type, misfits, table)
    elif not same(tag, inner, cell):
        yield path, value, cell


def _unequal_struct(
    path: str, inner: Item, cell: Mapping[str, Any], kind: StructType, misfits: dict[str, str], table: Table
) -> Found:
    fields = table.by_attribute(kind.fields)
    for name, value in inner.items():
        field = fields.get(name)
        found = cell[field.name] if field else None
        below = pointer(path, name)
        yield from _unequal(below, value, found, field.field_type if field else StringType(), misfits, table)
    for name, field in fields.items():
        if name not in inner and cell[field.name] is not None:
            yield pointer(path, name), {"absent": True}, cell[field.name]


def _unequal_map(
    path: str, inner: Item, cell: dict[str, Any], kind: MapType, misfits: dict[str, str], table: Table
) -> Found:
    for name, value in inner.items():
        if name in cell:
            yield from _unequal(pointer(path, name), value, cell[name], kind.value_type, misfits, table)
        else:
            misfits.pop(pointer(path, name), None)
            yield pointer(path, name), value, "no such name"
    for name in cell.keys() - inner.keys():
        yield pointer(path, name), {"absent": True}, cell[name]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."
