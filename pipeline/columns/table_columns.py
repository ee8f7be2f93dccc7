"""The table's columns as the product sees them: which attribute each holds, of which type it is, and what lies where.

Read from the table's own metadata: names from the property ``tidemark.names`` (JSON of field id, or of ``/`` and column
path, to exact name), and else from ``doc``, which anybody may overwrite; kinds from the Iceberg type and, where several
kinds share one, from the property ``tidemark.kinds`` (JSON of ``#`` and field id, or of column path, to kind). Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
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
_AT = "/"
#: Before a field's id in the place of its path, where its kind is told by that.
_ID = "#"

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
_PLAIN_KINDS = {*_KIND_OF_TYPE.values(), Kind.DECIMAL}


@dataclass(frozen=True)
class Columns:
    """The key's columns in the key's order, then a column for each other attribute.

    `partitions`: the names of the table's partition fields, which no column may have.
    """

    key: tuple[Field, ...]
    attributes: tuple[Field, ...]
    partitions: frozenset[str] = frozenset()

    @property
    def all(self) -> tuple[Field, ...]:
        """Every column made from an attribute, in the table's order."""
        return self.key + self.attributes

    @cached_property
    def types(self) -> Mapping[str, ColumnType]:
        """The types of the columns, by their attributes."""
        return {field.attribute: field.type for field in self.all}


def columns_of(metadata: Mapping[str, Any], key: tuple[KeyAttribute, ...]) -> Columns:
    """Read the columns from the content of an Iceberg metadata file. Raises KeyMismatch where one of the key is not there."""
    schema, properties = current_schema(metadata), metadata.get("properties", {})
    names, kinds = json.loads(properties.get(NAMES, "{}")), json.loads(properties.get(KINDS, "{}"))
    fields = [_field(raw, names, kinds) for raw in schema["fields"] if is_ours(raw["name"])]
    by_attribute = {field.attribute: field for field in fields}
    absent = [part.name for part in key if part.name not in by_attribute]
    if absent:
        raise KeyMismatch(f"the table has no column of the key's attribute {absent[0]!r}")
    key_fields = tuple(by_attribute[part.name] for part in key)
    attributes = tuple(field for field in fields if field not in key_fields)
    # Of every spec the table has had: Iceberg holds each of them against each new schema. A partition by a column's very
    # value has the column's name.
    specs = metadata.get("partition-specs", ())
    partitions = frozenset(partition["name"] for spec in specs for partition in spec["fields"])
    return Columns(key_fields, attributes, partitions - {raw["name"] for raw in schema["fields"]})


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


def description(columns: Columns, schema: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The table properties that say of columns what no schema does. `schema`: in Iceberg's JSON, once the table has it."""
    return {
        **key_property(columns.key),
        **column_kinds(columns.all, schema),
        **exact_names(columns.all, schema),
    }


def key_property(key: Iterable[Field]) -> dict[str, str]:
    """The table property that says by which attributes, in their order, rows are found; none of a job that asks for no rows."""
    attributes = [field.attribute for field in key]
    return {KEY: json.dumps(attributes, ensure_ascii=False)} if attributes else {}


def has_key(metadata: Mapping[str, Any], key: tuple[KeyAttribute, ...]) -> bool:
    """Whether a table's rows are found by this key, by the table's own word."""
    said = metadata.get("properties", {}).get(KEY, "[]")
    return bool(json.loads(said) == [part.name for part in key])


def is_made_here(metadata: Mapping[str, Any]) -> bool:
    """Whether the product has made the table: every one of its tables tells the kinds of its columns."""
    return KINDS in metadata.get("properties", {})


def current_schema(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema in use, in Iceberg's JSON."""
    found: Mapping[str, Any] = next(s for s in metadata["schemas"] if s["schema-id"] == metadata["current-schema-id"])
    return found


def partition_name(key_column: str) -> str:
    """What Iceberg calls the partitions of a table by the bucket of a column; Spark can set no other name."""
    return f"{key_column}_bucket"


def is_ours(name: str) -> bool:
    """Whether a column of the table holds an attribute for good."""
    return name not in OWN_COLUMNS and not name.endswith(REPLACEMENT)


def _field(raw: Mapping[str, Any], names: Mapping[str, str], kinds: Mapping[str, str], outer: str = "") -> Field:
    path = outer + raw["name"]
    return Field(attribute_of(raw, path, names), raw["name"], _type(raw["type"], path, raw["id"], names, kinds))


def attribute_of(raw: Mapping[str, Any], path: str, names: Mapping[str, str]) -> str:
    """The attribute that a field in Iceberg's JSON, at that path, holds. `names`: what the property tells."""
    return names.get(str(raw["id"])) or names.get(_AT + path) or str(raw.get("doc") or raw["name"])


def _type(raw: Any, path: str, id_: int, names: Mapping[str, str], kinds: Mapping[str, str]) -> ColumnType:
    plain = raw if isinstance(raw, str) else raw["type"]
    if plain.startswith("decimal("):
        return ColumnType(Kind.DECIMAL, scale=int(plain.rstrip(")").rpartition(",")[2]))
    # Of an earlier schema the property may say what has become of the column since.
    told = kinds.get(f"{_ID}{id_}") or kinds.get(path)
    kind = Kind(told) if told in _KINDS_OF_TYPE.get(plain, ()) else _KIND_OF_TYPE.get(plain, Kind.TEXT)
    if isinstance(raw, str):
        return ColumnType(kind)
    if kind is Kind.STRUCT:
        return ColumnType(kind, fields=tuple(_field(below, names, kinds, f"{path}.") for below in raw["fields"]))
    part = _part(raw)
    return ColumnType(kind, element=_type(raw[part], f"{path}.{part}", raw[f"{part}-id"], names, kinds))


def _part(raw: Mapping[str, Any]) -> str:
    """Where Iceberg's JSON of a list or map has the type of what is inside."""
    return "value" if raw["type"] == "map" else "element"


def column_kinds(fields: Iterable[Field], schema: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The table property that says which kind a column is of, where its Iceberg type is that of several.

    By the ids of the schema in Iceberg's JSON, under which a column keeps its kind whatever somebody calls it, or, for a
    table whose schema gets its ids only when it is written, by the paths of the columns.
    """
    kinds = {path: type_.kind.value for path, type_, _ in _paths(fields) if type_.kind not in _PLAIN_KINDS}
    return {KINDS: json.dumps(_by_place(kinds, schema, before_id=_ID), sort_keys=True)}


def _paths(fields: Iterable[Field], outer: str = "") -> Iterator[tuple[str, ColumnType, str]]:
    """Every field, and what is inside lists and maps, by its path in Iceberg: its type, and a field's exact name."""
    for field in fields:
        yield from _type_paths(outer + field.name, field.type, field.attribute)


def _type_paths(path: str, type_: ColumnType, attribute: str = "") -> Iterator[tuple[str, ColumnType, str]]:
    yield path, type_, attribute
    if type_.kind is Kind.STRUCT:
        yield from _paths(type_.fields, f"{path}.")
    elif type_.element is not None:
        part = "value" if type_.kind is Kind.DICTIONARY else "element"
        yield from _type_paths(f"{path}.{part}", type_.element)


def exact_names(fields: Iterable[Field], schema: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The table property with the exact names, by ids or paths as `column_kinds` has it.

    Comments are for readers: not every name fits into one, and a comment that somebody else sets makes no other attribute.
    """
    names = {path: attribute for path, _, attribute in _paths(fields) if attribute}  # what is in a list has no name
    return {NAMES: json.dumps(_by_place(names, schema, before_path=_AT), ensure_ascii=False, sort_keys=True)}


def _by_place(
    by_path: Mapping[str, str], schema: Mapping[str, Any] | None, *, before_id: str = "", before_path: str = ""
) -> dict[str, str]:
    """The same by the ids of the schema, or, without one, by the paths, with what stands before either."""
    if not schema:
        return {before_path + path: value for path, value in by_path.items()}
    ids = dict(ids_by_path(schema["fields"]))
    return {f"{before_id}{ids[path]}": value for path, value in by_path.items()}


def is_described_by_path(properties: Mapping[str, str]) -> bool:
    """Whether names or kinds are told by path, as who replaced a table has left it if it ended before it knew the ids."""
    names, kinds = json.loads(properties.get(NAMES, "{}")), json.loads(properties.get(KINDS, "{}"))
    return any(place.startswith(_AT) for place in names) or any(not place.startswith(_ID) for place in kinds)


def ids_by_path(fields: Iterable[Mapping[str, Any]], outer: str = "") -> Iterator[tuple[str, int]]:
    """The id of every field of a schema in Iceberg's JSON, and of what is inside lists and maps, by its path."""
    for raw in fields:
        yield from _type_ids(outer + raw["name"], raw["type"], raw["id"])


def _type_ids(path: str, raw: Any, id_: int) -> Iterator[tuple[str, int]]:
    yield path, id_
    if isinstance(raw, Mapping) and raw["type"] == "struct":
        yield from ids_by_path(raw["fields"], f"{path}.")
    elif isinstance(raw, Mapping):
        part = _part(raw)
        yield from _type_ids(f"{path}.{part}", raw[part], raw[f"{part}-id"])
