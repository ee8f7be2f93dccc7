"""Columns that somebody has made required, though no item has to have what they hold, or fields inside them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.columns.names import OWN_COLUMNS
from pipeline.columns.table_columns import attribute_of, current_schema, told_names
from pipeline.identity import KeyAttribute


def needlessly_required(metadata: Mapping[str, Any], key: tuple[KeyAttribute, ...]) -> list[str]:
    """Their paths; none of the key, which every item has. `metadata`: the content of an Iceberg metadata file."""
    names, keys = told_names(metadata.get("properties", {})), {part.name for part in key}
    columns = (raw for raw in current_schema(metadata)["fields"] if attribute_of(raw, raw["name"], names) not in keys)
    return [path for raw in columns for path in _required(raw["name"], raw["required"], _inside(raw))]


def _inside(column: Mapping[str, Any]) -> Any:
    """A column's type. What is inside one of the product's own is as it was made."""
    return "" if column["name"] in OWN_COLUMNS else column["type"]


def _required(path: str, is_required: bool, type_: Any) -> Iterator[str]:
    if is_required:
        yield path
    if isinstance(type_, str):
        return
    for field in type_.get("fields", ()):
        yield from _required(f"{path}.{field['name']}", field["required"], field["type"])
    for part in ("element", "value"):
        if part in type_:
            yield from _required(f"{path}.{part}", type_[f"{part}-required"], type_[part])
