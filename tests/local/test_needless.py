"""Misfits that need not be are told, and no others."""

from __future__ import annotations

import json

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import (
    ListType,
    LongType,
    MapType,
    StringType,
    StructType,
)

from local.compare import Table
from tests.local.needless import needless_misfits
from tests.local.test_compare import ROW, SCHEMA, field

#: What the table tells of strings and lists by their field's id: of `tags` that it is a set, of `mixed` plain JSON.
KINDS = {"#7": "set", "#4": "json", "#10": "digits", "#21": "scalars", "#13": "set", "#130": "digits"}
WITH_KINDS = Table(
    Schema(
        *SCHEMA.fields,
        field(13, "sizes", ListType(130, StringType(), element_required=False), "sizes"),
        field(14, "marks", ListType(140, LongType(), element_required=False), "marks"),
        field(15, "ranks", MapType(150, StringType(), 151, StructType(field(152, "at", LongType(), "at"))), "ranks"),
    ),
    {"10": "a very long name"},
    KINDS,
)


def needless(path, value, decided=()):
    row = {**ROW, "_misfits": [(path, json.dumps(value))]}
    return [difference.path for difference in needless_misfits([row], WITH_KINDS, ("pk",), decided)] == [path]


@pytest.mark.parametrize(
    ("path", "fits", "others"),
    [
        pytest.param("/pk", [{"S": "a"}], [{"N": "1"}, {"L": []}], id="text"),
        pytest.param(
            "/amount",
            [{"N": "1"}, {"N": "1.0"}, {"N": "1E2"}, {"N": "-9223372036854775808"}],
            [{"N": "9223372036854775808"}, {"N": "0.5"}, {"N": "1E125"}, {"N": "1E-130"}, {"S": "1"}],
            id="bigint",
        ),
        pytest.param(
            "/Total",
            [{"N": "0"}, {"N": "12.5"}, {"N": "12.500"}, {"N": "9" * 36 + ".99"}],
            [{"N": "12.505"}, {"N": "1" + "0" * 36}, {"N": "9" * 37 + "E1"}, {"S": "12.5"}],
            id="decimal",
        ),
        pytest.param("/raw", [{"B": "AA=="}], [{"S": "AA=="}, {"BS": ["AA=="]}], id="bytes"),
        pytest.param("/open", [{"BOOL": False}], [{"S": "false"}, {"N": "0"}], id="true or false"),
        pytest.param("/a very long name", [{"N": "1E125"}], [{"S": "1"}, {"BOOL": True}], id="digits"),
        pytest.param(
            "/ship.to/Zip-Code",
            [{"S": ""}, {"N": "1"}, {"B": ""}, {"BOOL": True}],
            [{"L": []}, {"M": {}}, {"SS": ["a"]}],
            id="any scalar, in a struct",
        ),
        pytest.param("/mixed", [{"L": []}, {"M": {}}, {"SS": [""]}, {"NS": ["1"]}], [{"S": "[]"}], id="plain JSON"),
        pytest.param("/tags", [{"SS": ["a"]}], [{"NS": ["1"]}, {"L": [{"S": "a"}]}, {"S": "a"}], id="a set of text"),
        pytest.param("/sizes", [{"NS": ["1", "1E125"]}], [{"SS": ["1"]}, {"BS": [""]}], id="a set of digits"),
        pytest.param("/marks", [{"L": [{"S": "a"}]}], [{"NS": ["1"]}, {"M": {}}], id="a list"),
        pytest.param("/marks/0", [{"N": "1"}], [{"S": "a"}], id="an element"),
        pytest.param("/ranks", [{"M": {}}], [{"L": []}, {"S": "{}"}], id="a map"),
        pytest.param("/ranks/a~1b/at", [{"N": "1"}], [{"N": "1.5"}], id="a field in a map"),
        pytest.param("/ship.to/street", [{"S": "x"}, {"L": []}], [], id="a member that could have a field"),
        pytest.param("/street", [{"S": "x"}], [], id="an attribute that could have a column"),
        pytest.param("/amount", [{"NULL": True}], [], id="NULL, which any empty cell is"),
        pytest.param("/mixed/0", [], [{"S": "x"}], id="what has no place of its own"),
    ],
)
def test_a_misfit_that_its_place_could_hold_is_told(path, fits, others):
    assert [value for value in fits if not needless(path, value)] == []
    assert [value for value in others if needless(path, value)] == []


@pytest.mark.parametrize(
    ("path", "wider", "never"),
    [
        pytest.param("/amount", {"N": "0.5"}, {"L": []}, id="a number, which a decimal would hold"),
        pytest.param("/open", {"S": "no"}, {"SS": ["no"]}, id="a text, which a string would hold"),
        pytest.param("/a very long name", {"S": "x"}, {"M": {}}, id="a text beside digits"),
        pytest.param("/tags", {"NS": ["1"]}, {"S": "a"}, id="a set, which plain JSON would hold"),
        pytest.param("/ranks", {"L": []}, {"N": "1"}, id="a list, which plain JSON would hold"),
        pytest.param("/ranks/b/at", {"N": "0.5"}, {"L": []}, id="a field in a map"),
        pytest.param("/marks/0", {"S": "a"}, {"L": []}, id="an element"),
    ],
)
def test_where_types_have_just_been_decided_only_maps_and_lists_among_scalars_are_misfits(path, wider, never):
    assert needless(path, wider, decided=WITH_KINDS.columns)
    assert not needless(path, wider, decided={"Total"})
    assert not needless(path, never, decided=WITH_KINDS.columns)


def test_a_wider_type_is_asked_for_however_deep_a_place_lies():
    kind = LongType()
    for number in range(5, 1, -1):
        kind = ListType(number, kind, element_required=False)
    row = {"a": 1, "_misfits": [("/m/0/0/0", '{"SS":["a"]}'), ("/m/0/0/0/0", '{"N":"0.5"}')]}
    table = Table(Schema(field(1, "a", LongType()), field(6, "m", kind)), {})
    assert [found.path for found in needless_misfits([row], table, ("a",), {"m"})] == ["/m/0/0/0", "/m/0/0/0/0"]


def test_where_there_may_be_no_room_for_a_column_or_field_nothing_is_told():
    wide = Schema(*(field(number, f"a{number}", LongType()) for number in range(1, 3000)))
    struct = StructType(*(field(number, f"a{number}", LongType()) for number in range(2, 1000)))
    row = {"a1": 1, "_misfits": [("/b", '{"N":"1"}'), ("/m/b", '{"N":"1"}')]}
    assert list(needless_misfits([row], Table(wide, {}), ("a1",))) == []
    deep = Schema(field(1, "a1", LongType()), field(1001, "m", struct))
    assert [str(found) for found in needless_misfits([row], Table(deep, {}), ("a1",))] == [
        '1 /b: source {"N":"1"}, table kept in _misfits, though there is room for a column'
    ]
