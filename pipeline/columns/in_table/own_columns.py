"""The product's own columns in a table's metadata: where they are, and what somebody has made of them. Pure.

`metadata` is the content of an Iceberg metadata file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.columns.in_table.table_columns import (
    current_schema,
    held_attributes,
    is_attributes,
    partition_names,
    told_names,
)
from pipeline.columns.names import OF_ENGINES, OWN_COLUMNS, RESERVED, WRITE_TIME, other_names
from pipeline.errors import RebuildNeeded
from pipeline.identity import KeyAttribute

_MISFITS_TYPE = ["map", "string", "string"]


def own_ids(fields: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The ids of the product's own columns among the fields of a schema, by their names."""
    return {raw["name"]: raw["id"] for raw in fields if raw["name"] in OWN_COLUMNS}


def lost_own(metadata: Mapping[str, Any]) -> list[str]:
    """The product's own columns that the table has had, and has no more under their names.

    Looked for in all schemas: who compacts such a table leaves none of before among its snapshots.
    """
    own = own_ids(current_schema(metadata)["fields"])
    gone = [name for name in OWN_COLUMNS if name not in own]
    had = {name for schema in metadata["schemas"] for name in own_ids(schema["fields"])} if gone else ()
    return [name for name in gone if name in had]


def names_to_load(metadata: Mapping[str, Any], key: tuple[KeyAttribute, ...]) -> dict[str, str]:
    """The columns that have to have another name before a load can look at the table: which, by their names of now.

    The product's own get their names back, and what somebody has given one of those names to, of another type, gives it up.
    So does a column that is called as engines call theirs, and one of the key with a name that a replacement has.
    """
    fields, held = current_schema(metadata)["fields"], _attributes(metadata)
    back = _renamed_own(metadata)
    astray = [raw for raw in fields if raw["name"] in OWN_COLUMNS and not _serves(raw["name"], raw)]
    astray += [raw for raw in fields if raw["name"] in OF_ENGINES]
    astray = [raw for raw in [*astray, *_hidden_key(fields, held, key)] if raw["name"] not in back]
    taken = (*RESERVED, *partition_names(metadata), *(raw["name"] for raw in fields if raw["name"] not in back))
    return {**back, **other_names({raw["name"]: held.get(raw["id"], "") for raw in astray}, taken)}


def check_engines_names(metadata: Mapping[str, Any]) -> None:
    """Refuse a table with a column that is called as engines call theirs: Spark takes it for that. Raises RebuildNeeded."""
    for raw in current_schema(metadata)["fields"]:
        if raw["name"] in OF_ENGINES:
            called = f"somebody has called a column {raw['name']!r}, as engines call one of their own"
            raise RebuildNeeded(
                f"{called}, so that no row can be written",
                "Give the column another name (ALTER TABLE ... RENAME COLUMN), or replace the table's content by a new full "
                "export, which gives it one.",
            )


def _renamed_own(metadata: Mapping[str, Any]) -> dict[str, str]:
    """The product's own columns that somebody has given another name, and which have no successor: what they were, by name."""
    now = {raw["id"]: raw for raw in current_schema(metadata)["fields"]}
    there = {name for name, id_ in own_ids(now.values()).items() if _serves(name, now[id_])}
    # Of several that have had the name, the last. The same id may be another column's, where the table was replaced whole.
    last = {
        name: id_
        for schema in metadata["schemas"]
        for name, id_ in own_ids(schema["fields"]).items()
        if name not in there and id_ in now and _serves(name, now[id_])
    }
    return {now[id_]["name"]: name for name, id_ in last.items()}


def _serves(name: str, raw: Mapping[str, Any]) -> bool:
    """Whether a column is of the type that the product's own of this name has."""
    type_ = raw["type"]
    if name == WRITE_TIME:
        return bool(type_ == "timestamptz")
    return isinstance(type_, Mapping) and [type_.get(part) for part in ("type", "key", "value")] == _MISFITS_TYPE


def _hidden_key(
    fields: Iterable[Mapping[str, Any]], held: Mapping[int, str], key: tuple[KeyAttribute, ...]
) -> list[Mapping[str, Any]]:
    """The columns of the key that somebody has called as replacements are, for which they are taken.

    `held`: the attributes that the columns hold, by the columns' ids.
    """
    attributes = {part.name for part in key}
    others = (raw for raw in fields if not is_attributes(raw["name"]) and raw["name"] not in OWN_COLUMNS)
    return [raw for raw in others if held.get(raw["id"]) in attributes]


def _attributes(metadata: Mapping[str, Any]) -> dict[int, str]:
    """The attributes that the columns of now hold, the product's own as well, by the columns' ids."""
    fields = current_schema(metadata)["fields"]
    return held_attributes(((raw, raw["name"]) for raw in fields), told_names(metadata.get("properties", {})))
