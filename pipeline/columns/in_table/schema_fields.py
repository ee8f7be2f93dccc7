"""The fields of a schema in Iceberg's JSON, in one walk: columns, nested fields, and what lists and maps are of. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_KEY, _OF_VALUES = "key", ("element", "value")


@dataclass(frozen=True)
class SchemaField:
    """One field. `path`: the names that lead to it, and element, key or value where there is none, with dots between.

    `short_path`: by which Iceberg finds it as well, without the steps into lists and dictionaries of structs.

    `said`: the JSON that tells of it, its own, or that of the list or map that it is in, where it has a `step` for a name.

    `around`: the named fields around it, outermost first. `is_in_key`: whether it is the key of a map or inside one.
    """

    path: str
    short_path: str
    id: int
    type: Any
    said: Mapping[str, Any]
    step: str
    around: tuple[SchemaField, ...]
    is_in_key: bool

    @property
    def kind(self) -> str:
        """A scalar's type, else the kind of container."""
        return self.type if isinstance(self.type, str) else str(self.type["type"])

    @property
    def is_required(self) -> bool:
        """Whether it is never null. Of a map's key nothing says so: none is."""
        return bool(self.said.get(f"{self.step}-required", True) if self.step else self.said["required"])

    @property
    def way(self) -> tuple[SchemaField, ...]:
        """The named fields that lead to it, outermost first; where it has a name, it is the last."""
        return self.around if self.step else (*self.around, self)


def schema_fields(columns: Iterable[Mapping[str, Any]]) -> Iterator[SchemaField]:
    """Every field of these columns, each before what is inside it."""
    for raw in columns:
        yield from _with_inside(SchemaField(raw["name"], raw["name"], raw["id"], raw["type"], raw, "", (), False))


def named_fields(columns: Iterable[Mapping[str, Any]]) -> Iterator[SchemaField]:
    """The columns and nested fields, without what lists and maps are of."""
    return (field for field in schema_fields(columns) if not field.step)


def ids_by_path(columns: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The ids of these columns and of what is inside them, by their paths."""
    return {field.path: field.id for field in schema_fields(columns)}


def _with_inside(field: SchemaField) -> Iterator[SchemaField]:
    yield field
    if isinstance(field.type, str):
        return
    for raw in field.type.get("fields", ()):
        yield from _with_inside(_nested(field, raw))
    for step in (_KEY, *_OF_VALUES):
        if step in field.type:
            yield from _with_inside(_inside(field, step))


def _nested(struct: SchemaField, raw: Mapping[str, Any]) -> SchemaField:
    # What a list or dictionary is of adds nothing to the short path of its fields.
    outer = struct.short_path.rpartition(".")[0] if struct.step in _OF_VALUES else struct.short_path
    path, short = f"{struct.path}.{raw['name']}", f"{outer}.{raw['name']}"
    return SchemaField(path, short, raw["id"], raw["type"], raw, "", struct.way, struct.is_in_key)


def _inside(of: SchemaField, step: str) -> SchemaField:
    is_in_key = of.is_in_key or step == _KEY
    path, short, id_ = f"{of.path}.{step}", f"{of.short_path}.{step}", of.type[f"{step}-id"]
    return SchemaField(path, short, id_, of.type[step], of.type, step, of.way, is_in_key)
