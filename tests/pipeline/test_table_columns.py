"""How the table's metadata tells of its columns."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pipeline.columns.in_table.description import column_kinds, exact_names, is_described_by_path
from pipeline.columns.in_table.table_columns import Columns, check_names_free, columns_of, has_key
from pipeline.columns.types import DIGITS, JSON, SCALARS, TEXT, ColumnType, Field, Kind
from pipeline.errors import TableContended
from tests.pipeline.seen import KEY

LONG_NAME = "n" * 300
SCHEMA = {
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "pk", "type": "string", "doc": "pk"},
        {"id": 2, "name": "sk", "type": "decimal(38, 2)", "doc": "sk"},
        {"id": 3, "name": "n", "type": "string", "doc": "nnn…"},
        {"id": 4, "name": "l", "type": {"type": "list", "element-id": 7, "element": "string"}, "doc": "L"},
        {
            "id": 5,
            "name": "m",
            "doc": "M",
            "type": {"type": "struct", "fields": [{"id": 8, "name": "j", "type": "string", "doc": "J"}]},
        },
        {"id": 6, "name": "_write_time", "type": "timestamptz"},
        {"id": 9, "name": "n#new", "type": "string"},
    ],
}


def test_columns_come_back_from_the_metadata_as_they_were():
    was = Columns(
        (Field("pk", "pk", TEXT), Field("sk", "sk", ColumnType(Kind.DECIMAL, scale=2))),
        (
            Field(LONG_NAME, "n", DIGITS),
            Field("L", "l", ColumnType(Kind.SET, element=SCALARS)),
            Field("M", "m", ColumnType(Kind.STRUCT, fields=(Field("J", "j", JSON),))),
        ),
    )
    properties = {**exact_names(was.all, SCHEMA), **column_kinds(was.all, SCHEMA)}
    assert json.loads(properties["tidemark.names"]) == {
        "1": "pk",
        "2": "sk",
        "3": LONG_NAME,
        "4": "L",
        "5": "M",
        "8": "J",
    }
    assert json.loads(properties["tidemark.kinds"]) == {"#3": "digits", "#4": "set", "#7": "scalars", "#8": "json"}
    metadata = {"schemas": [SCHEMA], "current-schema-id": 0, "properties": properties}
    assert columns_of(metadata, KEY) == was
    names, kinds = exact_names(was.all), column_kinds(was.all)
    assert json.loads(names["tidemark.names"]) == {
        "/pk": "pk",
        "/sk": "sk",
        "/n": LONG_NAME,
        "/l": "L",
        "/m": "M",
        "/m.j": "J",
    }
    assert json.loads(kinds["tidemark.kinds"]) == {"n": "digits", "l": "set", "l.element": "scalars", "m.j": "json"}
    assert not is_described_by_path(properties)
    for by_path in (names, kinds):
        assert columns_of({**metadata, "properties": {**properties, **by_path}}, KEY) == was
        assert is_described_by_path({**properties, **by_path})
    specs = [{"fields": [{"name": "pk_bucket"}]}, {"fields": [{"name": "sk"}]}]
    for told in (specs, specs[::-1]):  # whichever is the newest
        assert columns_of({**metadata, "partition-specs": told}, KEY) == replace(was, taken=frozenset({"pk_bucket"}))


OWN_TYPES = [
    pytest.param("date", id="a scalar"),
    pytest.param({"type": "list", "element-id": 12, "element": "int"}, id="a list"),
    pytest.param({"type": "map", "key-id": 13, "key": "string", "value-id": 14, "value": "double"}, id="a map"),
    pytest.param({"type": "map", "key-id": 13, "key": "int", "value-id": 14, "value": "string"}, id="a map by numbers"),
]


@pytest.mark.parametrize("type_", OWN_TYPES)
def test_a_column_of_a_type_that_no_attribute_has_is_somebody_s_own_and_its_name_is_taken(type_):
    metadata = {"schemas": [SCHEMA], "current-schema-id": 0, "properties": {}}
    was, own = columns_of(metadata, KEY), {"id": 11, "name": "own", "type": type_, "required": False}
    schema = {**SCHEMA, "fields": [*SCHEMA["fields"], own]}
    assert columns_of({**metadata, "schemas": [schema]}, KEY) == replace(was, taken=frozenset({"own"}))


def test_the_columns_of_an_earlier_schema_are_read_whatever_has_become_of_them_since():
    properties = column_kinds((Field("L", "l", JSON), Field("M", "m", JSON)))
    was = columns_of({"schemas": [SCHEMA], "current-schema-id": 0, "properties": properties}, KEY)
    assert [field.type.kind for field in was.attributes] == [Kind.TEXT, Kind.LIST, Kind.STRUCT]


def test_a_column_that_somebody_has_added_under_the_name_of_an_attribute_holds_none():
    own = [{"id": 10, "name": "mine", "type": "string", "doc": "pk"}, {"id": 11, "name": LONG_NAME, "type": "string"}]
    inside = {
        "type": "struct",
        "fields": [{"id": 12, "name": "J", "type": "string"}, SCHEMA["fields"][4]["type"]["fields"][0]],
    }
    fields = [own[0], *SCHEMA["fields"][:4], {**SCHEMA["fields"][4], "type": inside}, own[1]]
    held = {"schemas": [{**SCHEMA, "fields": fields}], "current-schema-id": 0}
    for names in (
        {"1": "pk", "2": "sk", "3": LONG_NAME, "4": "L", "5": "M", "8": "J"},
        {"3": LONG_NAME},
    ):
        found = columns_of({**held, "properties": {"tidemark.names": json.dumps(names)}}, KEY)
        assert [field.name for field in found.key] == ["pk", "sk"]
        assert {field.name: field.attribute for field in found.attributes} == {
            "mine": "",
            "n": LONG_NAME,
            "l": "L",
            "m": "M",
            LONG_NAME: "",
        }
        (m,) = (field for field in found.attributes if field.name == "m")
        assert [field.attribute for field in m.type.fields] == ["", "J"]


def test_what_is_told_of_a_field_by_its_id_counts_before_its_path_and_before_what_others_are_called():
    told = {"1": "other", "3": "pk", "/pk": "pk", "2": "sk"}
    properties = {
        "tidemark.names": json.dumps(told),
        "tidemark.kinds": json.dumps({"#4": "set", "l.element": "json", "#7": "digits"}),
    }
    found = columns_of({"schemas": [SCHEMA], "current-schema-id": 0, "properties": properties}, KEY)
    assert {field.name: field.attribute for field in found.all} == {
        "n": "pk",
        "sk": "sk",
        "pk": "other",
        "l": "L",
        "m": "M",
    }
    assert found.types["L"] == ColumnType(Kind.SET, element=DIGITS)


def test_a_column_of_somebodys_own_that_came_before_takes_no_attribute_that_is_told_of_another():
    fields = [{"id": 0, "name": "mine", "type": "string", "doc": "L"}, *SCHEMA["fields"]]
    properties = {"tidemark.names": json.dumps({"4": "L"})}
    found = columns_of(
        {"schemas": [{**SCHEMA, "fields": fields}], "current-schema-id": 0, "properties": properties}, KEY
    )
    assert {field.name: field.attribute for field in found.attributes} == {"mine": "", "n": "nnn…", "l": "L", "m": "M"}


def test_a_map_by_numbers_inside_a_struct_is_of_a_type_that_no_attribute_has():
    by_numbers = {"type": "map", "key-id": 13, "key": "int", "value-id": 14, "value": "string"}
    inside = {"type": "struct", "fields": [{"id": 8, "name": "j", "type": by_numbers}]}
    fields = [*SCHEMA["fields"][:2], {"id": 5, "name": "m", "type": inside}]
    found = columns_of({"schemas": [{**SCHEMA, "fields": fields}], "current-schema-id": 0}, KEY)
    assert [field.type.kind for field in found.types["m"].fields] == [Kind.OTHER]


@pytest.mark.parametrize("around", [None, Kind.LIST, Kind.DICTIONARY])
def test_a_member_is_not_added_under_a_name_that_has_come_to_another_however_deep(around):
    def held(attribute):
        struct = ColumnType(Kind.STRUCT, fields=(Field(attribute, "x", TEXT),))
        return [Field("M", "m", ColumnType(around, element=struct) if around else struct)]

    check_names_free(held("x"), held("x"))
    with pytest.raises(TableContended, match="'x' has come to hold 'X', and not 'x'"):
        check_names_free(held("X"), held("x"))


def test_rows_are_found_by_a_key_in_its_own_order():
    metadata = {"properties": {"tidemark.key": '["sk", "pk"]'}}
    assert (has_key(metadata, KEY[::-1]), has_key(metadata, KEY)) == (True, False)
