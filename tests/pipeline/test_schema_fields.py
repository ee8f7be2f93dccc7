"""The one walk through a schema in Iceberg's JSON."""

from __future__ import annotations

from pipeline.columns.in_table.schema_fields import ids_by_path, named_fields, schema_fields


def field(id_: int, name: str, type_: object, required: bool = False) -> dict:
    return {"id": id_, "name": name, "type": type_, "required": required}


def struct(*fields: dict) -> dict:
    return {"type": "struct", "fields": [*fields]}


def list_of(id_: int, type_: object, required: bool = False) -> dict:
    return {"type": "list", "element-id": id_, "element": type_, "element-required": required}


def map_of(id_: int, type_: object, key: object = "string") -> dict:
    return {"type": "map", "key-id": id_, "key": key, "value-id": id_ + 1, "value": type_, "value-required": False}


COLUMNS = [
    field(1, "plain", "long", required=True),
    field(2, "inside", struct(field(10, "deep", struct(field(11, "deeper", "decimal(38, 2)"))))),
    field(3, "list", list_of(12, struct(field(13, "of", "string", required=True)), required=True)),
    field(4, "lists", list_of(14, list_of(15, struct(field(16, "of", "string"))))),
    field(5, "map", map_of(17, struct(field(19, "of", list_of(20, "binary"))))),
    field(6, "keyed", map_of(21, "string", key=struct(field(23, "key", "string", required=True)))),
]
#: Of each field: its path, the other path that Iceberg finds it by, what it is, whether it has to be there.
FIELDS = [
    ("plain", "plain", 1, "long", True),
    ("inside", "inside", 2, "struct", False),
    ("inside.deep", "inside.deep", 10, "struct", False),
    ("inside.deep.deeper", "inside.deep.deeper", 11, "decimal(38, 2)", False),
    ("list", "list", 3, "list", False),
    ("list.element", "list.element", 12, "struct", True),
    ("list.element.of", "list.of", 13, "string", True),
    ("lists", "lists", 4, "list", False),
    ("lists.element", "lists.element", 14, "list", False),
    ("lists.element.element", "lists.element.element", 15, "struct", False),
    ("lists.element.element.of", "lists.element.of", 16, "string", False),
    ("map", "map", 5, "map", False),
    ("map.key", "map.key", 17, "string", True),
    ("map.value", "map.value", 18, "struct", False),
    ("map.value.of", "map.of", 19, "list", False),
    ("map.value.of.element", "map.of.element", 20, "binary", False),
    ("keyed", "keyed", 6, "map", False),
    ("keyed.key", "keyed.key", 21, "struct", True),
    ("keyed.key.key", "keyed.key.key", 23, "string", True),
    ("keyed.value", "keyed.value", 22, "string", False),
]


def test_every_field_is_found_with_its_paths_and_its_type():
    found = [*schema_fields(COLUMNS)]
    assert [(one.path, one.short_path, one.id, one.kind, one.is_required) for one in found] == FIELDS


def test_the_named_fields_around_each_lead_to_it():
    ways = {one.path: [around.path for around in one.way] for one in schema_fields(COLUMNS)}
    assert ways["plain"] == ["plain"]
    assert ways["inside.deep.deeper"] == ["inside", "inside.deep", "inside.deep.deeper"]
    assert ways["lists.element.element"] == ["lists"]
    assert ways["map.value.of.element"] == ["map", "map.value.of"]


def test_what_has_a_name_is_told_from_what_lists_and_maps_are_of():
    unnamed = ("element", "key", "value")
    expected = [path for path, *_ in FIELDS if path.rpartition(".")[2] not in unnamed or path == "keyed.key.key"]
    assert [one.path for one in named_fields(COLUMNS)] == expected


def test_keys_of_maps_and_what_is_inside_them_are_told():
    assert [one.path for one in schema_fields(COLUMNS) if one.is_in_key] == ["map.key", "keyed.key", "keyed.key.key"]


def test_ids_are_found_by_path():
    assert ids_by_path(COLUMNS) == {path: id_ for path, _, id_, _, _ in FIELDS}
