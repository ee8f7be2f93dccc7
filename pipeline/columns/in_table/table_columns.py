"""The table's columns as the product sees them: which attribute each holds, of which type it is, and what lies where.

Read from the table's own metadata: names from the property ``tidemark.names`` (JSON of field id, or of ``/`` and column
path, to exact name), and else from ``doc``, which anybody may overwrite; kinds from the Iceberg type and, where several
kinds share one, from the property ``tidemark.kinds`` (JSON of ``#`` and field id, or of column path, to kind). Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipeline.columns.names import OWN_COLUMNS, REPLACEMENT
from pipeline.columns.types import ColumnType, Field, Kind
from pipeline.errors import KeyMismatch, TableContended
from pipeline.identity import KeyAttribute
from pipeline.table.marker import NAMES, PREFIX

KINDS, KEY = PREFIX + "kinds", PREFIX + "key"
#: Before the path of a column in the place of a field's id, where its exact name is told by that.
AT = "/"
#: Before a field's id in the place of its path, where its kind is told by that.
ID = "#"

_KIND_OF_TYPE = {
    "string": Kind.TEXT,
    "long": Kind.LONG,
    "binary": Kind.BYTES,
    "boolean": Kind.FLAG,
    "list": Kind.LIST,
    "struct": Kind.STRUCT,
    "map": Kind.DICTIONARY,
}
#: The kinds beside that one, which the property tells.
_KINDS_OF_TYPE = {
    "string": (Kind.DIGITS.value, Kind.SCALARS.value, Kind.JSON.value),
    "list": (Kind.SET.value,),
}
PLAIN_KINDS = {*_KIND_OF_TYPE.values(), Kind.DECIMAL, Kind.OTHER}


@dataclass(frozen=True)
class Columns:
    """The key's columns in the key's order, then a column for each other attribute.

    `taken`: names that none of them may get: those of the table's partition fields, and of columns of a type that no
    attribute's has, which are somebody's own.
    """

    key: tuple[Field, ...]
    attributes: tuple[Field, ...]
    taken: frozenset[str] = frozenset()

    @property
    def all(self) -> tuple[Field, ...]:
        """Every column made from an attribute, in the table's order."""
        return self.key + self.attributes

    @cached_property
    def by_attribute(self) -> Mapping[str, Field]:
        """The columns by their attributes."""
        return {field.attribute: field for field in self.all}

    @cached_property
    def types(self) -> Mapping[str, ColumnType]:
        """The types of the columns, by their attributes."""
        return {attribute: field.type for attribute, field in self.by_attribute.items()}


def columns_of(metadata: Mapping[str, Any], key: tuple[KeyAttribute, ...]) -> Columns:
    """Read the columns from the content of an Iceberg metadata file. Raises KeyMismatch where one of the key is not there."""
    schema, properties = current_schema(metadata), metadata.get("properties", {})
    names, kinds = told_names(properties), told_kinds(properties)
    fields = _fields([raw for raw in schema["fields"] if may_hold_attribute(raw)], names, kinds)
    by_attribute = {field.attribute: field for field in fields}
    absent = [part.name for part in key if part.name not in by_attribute]
    if absent:
        raise KeyMismatch(f"the table has no column of the key's attribute {absent[0]!r}")
    key_fields = tuple(by_attribute[part.name] for part in key)
    attributes = tuple(field for field in fields if field not in key_fields)
    # A partition by a column's very value has the column's name.
    taken = partition_names(metadata) - {raw["name"] for raw in schema["fields"]}
    others = {raw["name"] for raw in schema["fields"] if not _is_made(raw["type"])} - {*OWN_COLUMNS}
    return Columns(key_fields, attributes, taken | others)


def told_names(properties: Mapping[str, str]) -> Mapping[str, str]:
    """The exact names that a table's properties tell, by ids and paths of fields."""
    found: Mapping[str, str] = json.loads(properties.get(NAMES, "{}"))
    return found


def told_kinds(properties: Mapping[str, str]) -> Mapping[str, str]:
    """The kinds that they tell, by ids and paths of fields."""
    found: Mapping[str, str] = json.loads(properties.get(KINDS, "{}"))
    return found


def told_key(properties: Mapping[str, str]) -> list[str]:
    """The attributes, in their order, by which they tell that rows are found; none where they do not."""
    found: list[str] = json.loads(properties.get(KEY, "[]"))
    return found


def check_names_free(there: Iterable[Field], wanted: Iterable[Field]) -> None:
    """Refuse to add fields of which one has the name of another attribute's, which somebody has added meanwhile.

    Raises TableContended. Iceberg would take the one for the other, and give all that it holds the other's name.
    """
    held = {field.name: field for field in there}
    for field in wanted:
        if field.name in held:
            other = held[field.name]
            if other.attribute != field.attribute:
                raise TableContended(
                    f"{field.name!r} has come to hold {other.attribute!r}, and not {field.attribute!r}"
                )
            check_names_free(_inside(other.type), _inside(field.type))


def _inside(type_: ColumnType) -> tuple[Field, ...]:
    """The fields of a struct, also where lists or dictionaries are around it."""
    return _inside(type_.element) if type_.element else type_.fields


def has_key(metadata: Mapping[str, Any], key: tuple[KeyAttribute, ...]) -> bool:
    """Whether a table's rows are found by this key, by the table's own word."""
    return told_key(metadata.get("properties", {})) == [part.name for part in key]


def is_made_here(metadata: Mapping[str, Any]) -> bool:
    """Whether the product has made the table: every one of its tables tells the kinds of its columns."""
    return KINDS in metadata.get("properties", {})


def current_schema(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema in use, in Iceberg's JSON."""
    found: Mapping[str, Any] = next(s for s in metadata["schemas"] if s["schema-id"] == metadata["current-schema-id"])
    return found


def partition_names(metadata: Mapping[str, Any]) -> frozenset[str]:
    """The names of the partition fields of every spec that the table has had: Iceberg holds each against each new schema."""
    specs = metadata.get("partition-specs", ())
    return frozenset(partition["name"] for spec in specs for partition in spec["fields"])


def partition_name(key_column: str) -> str:
    """What Iceberg calls the partitions of a table by the bucket of a column; Spark can set no other name."""
    return f"{key_column}_bucket"


def may_hold_attribute(raw: Mapping[str, Any]) -> bool:
    """Whether a column in Iceberg's JSON can hold an attribute: as its name says, and its type.

    Of another type than those that are made for attributes, as a date, it is somebody's own. Merges leave it alone.
    """
    return is_attributes(raw["name"]) and _is_made(raw["type"])


def _is_made(raw: Any) -> bool:
    """Whether a type is one that is made for attributes. Of a struct it is not asked: somebody may have put more into one."""
    if isinstance(raw, str):
        return raw in _KIND_OF_TYPE or raw.startswith("decimal(")
    return bool(raw["type"] == "struct" or (raw.get("key", "string") == "string" and _is_made(raw[_part_of(raw)])))


def is_attributes(name: str) -> bool:
    """Whether a column of this name may be an attribute's: it is not the product's own, and no replacement."""
    return name not in OWN_COLUMNS and not name.endswith(REPLACEMENT)


def _fields(
    all_: Iterable[Mapping[str, Any]], names: Mapping[str, str], kinds: Mapping[str, str], outer: str = ""
) -> tuple[Field, ...]:
    """The fields of a schema or struct. A person's own that is called like another's attribute holds none (empty)."""
    found = [(raw, outer + raw["name"]) for raw in all_]
    attributes = held_attributes(found, names)
    return tuple(
        Field(attributes.get(raw["id"], ""), raw["name"], _type(raw["type"], path, raw["id"], names, kinds))
        for raw, path in found
    )


def held_attributes(siblings: Iterable[tuple[Mapping[str, Any], str]], names: Mapping[str, str]) -> dict[int, str]:
    """The attributes that siblings hold, each one of them, by their ids. Given in Iceberg's JSON, each with its path."""
    holders: dict[str, int] = {}
    for raw, path in sorted(siblings, key=lambda one: (not _told_name(one[0], one[1], names), one[0]["id"])):
        holders.setdefault(attribute_of(raw, path, names), raw["id"])
    return {id_: attribute for attribute, id_ in holders.items()}


def attribute_of(raw: Mapping[str, Any], path: str, names: Mapping[str, str]) -> str:
    """The attribute that a field in Iceberg's JSON, at that path, holds. `names`: what the property tells."""
    return _told_name(raw, path, names) or str(raw.get("doc") or raw["name"])


def _told_name(raw: Mapping[str, Any], path: str, names: Mapping[str, str]) -> str:
    """The exact name that the property tells of a field; empty where it tells none."""
    return names.get(str(raw["id"])) or names.get(AT + path) or ""


def _type(raw: Any, path: str, id_: int, names: Mapping[str, str], kinds: Mapping[str, str]) -> ColumnType:
    plain = raw if isinstance(raw, str) else raw["type"]
    if plain.startswith("decimal("):
        digits, _, scale = plain[len("decimal(") :].rstrip(")").partition(",")
        return ColumnType(Kind.DECIMAL, scale=int(scale), digits=int(digits))
    if plain not in _KIND_OF_TYPE or (plain == "map" and raw["key"] != "string"):
        return ColumnType(Kind.OTHER)
    # Of an earlier schema the property may say what has become of the column since.
    told = kinds.get(f"{ID}{id_}") or kinds.get(path)
    kind = Kind(told) if told in _KINDS_OF_TYPE.get(plain, ()) else _KIND_OF_TYPE[plain]
    if isinstance(raw, str):
        return ColumnType(kind)
    if kind is Kind.STRUCT:
        return ColumnType(kind, fields=_fields(raw["fields"], names, kinds, f"{path}."))
    part = _part_of(raw)
    return ColumnType(kind, element=_type(raw[part], f"{path}.{part}", raw[f"{part}-id"], names, kinds))


def _part_of(raw: Mapping[str, Any]) -> str:
    """Where Iceberg's JSON of a list or map has the type of what is inside."""
    return "value" if raw["type"] == "map" else "element"
