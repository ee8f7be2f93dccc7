"""The comparison finds what it is there to find: each planted difference, and nothing where there is none."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DecimalType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
)

from local.compare import Table, differences
from local.needless import needless_misfits


def field(number, name, kind, doc=None):
    return NestedField(field_id=number, name=name, field_type=kind, required=False, doc=doc)


SCHEMA = Schema(
    field(1, "pk", StringType(), "pk"),
    field(2, "total", DecimalType(38, 2), "Total"),
    field(3, "amount", LongType(), "amount"),
    field(4, "mixed", StringType(), "mixed"),
    field(5, "raw", BinaryType(), "raw"),
    field(6, "open", BooleanType(), "open"),
    field(7, "tags", ListType(20, StringType(), element_required=False), "tags"),
    field(8, "ship_to", StructType(field(21, "zip_code", StringType(), "Zip-Code")), "ship.to"),
    field(9, "counts", MapType(22, StringType(), 23, LongType(), value_required=False), "counts"),
    field(10, "long_name", StringType(), "cut…"),
    field(11, "_write_time", TimestampType()),
    field(12, "_misfits", MapType(24, StringType(), 25, StringType(), value_required=False)),
)
TABLE = Table(SCHEMA, {"10": "a very long name"})
ITEM = {
    "pk": {"S": "a"},
    "Total": {"N": "12.50"},
    "amount": {"N": "7"},
    "mixed": {"L": [{"N": "1.10"}, {"S": "x"}, {"M": {"b": {"B": b"\x00"}}}]},
    "raw": {"B": b"\x01\x02"},
    "open": {"BOOL": False},
    "tags": {"SS": ["b", "a"]},
    "ship.to": {"M": {"Zip-Code": {"S": "04711"}}},
    "counts": {"M": {"one": {"N": "1"}}},
    "a very long name": {"S": "kept"},
    "gone": {"NULL": True},
}
ROW = {
    "pk": "a",
    "total": Decimal("12.50"),
    "amount": 7,
    "mixed": '[1.10,"x",{"b":"AA=="}]',
    "raw": b"\x01\x02",
    "open": False,
    "tags": ["a", "b"],
    "ship_to": {"zip_code": "04711"},
    "counts": [("one", 1)],
    "long_name": "kept",
    "_write_time": None,
    "_misfits": None,
}


def found(item, row):
    return [difference.path for difference in differences([item], [row], TABLE, ("pk",))]


def test_an_item_and_its_row_are_equal():
    assert found(ITEM, ROW) == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        pytest.param({"total": Decimal("12.51")}, "/Total", id="another number"),
        pytest.param({"total": None}, "/Total", id="a dropped value"),
        pytest.param({"mixed": '[1.1,"x",{"b":"AB=="}]'}, "/mixed", id="another byte deep inside JSON text"),
        pytest.param({"mixed": '["x",1.10,{"b":"AA=="}]'}, "/mixed", id="a list in another order"),
        pytest.param({"raw": b"\x01"}, "/raw", id="truncated bytes"),
        pytest.param({"open": None}, "/open", id="false turned into null"),
        pytest.param({"tags": ["a"]}, "/tags", id="a lost element of a set"),
        pytest.param({"ship_to": {"zip_code": "4711"}}, "/ship.to/Zip-Code", id="a nested value"),
        pytest.param({"ship_to": None}, "/ship.to", id="a lost map"),
        pytest.param({"counts": [("one", 1), ("two", 2)]}, "/counts/two", id="an invented map entry"),
        pytest.param({"long_name": "lost"}, "/a very long name", id="a value under a shortened name"),
        pytest.param({"_misfits": [("/x", '{"S":"y"}')]}, "/x", id="a misfit nobody wrote"),
    ],
)
def test_a_planted_difference_is_found_at_its_path(change, path):
    assert found(ITEM, {**ROW, **change}) == [path]


def test_a_value_that_the_item_does_not_have_is_found():
    item = {name: value for name, value in ITEM.items() if name != "amount"}
    assert found(item, ROW) == ["/amount"]


@pytest.mark.parametrize(
    ("texts", "cell", "same"),
    [
        pytest.param(["1.0"], ["1"], False, id="texts that would be one number are two texts"),
        pytest.param(["NaN", "7", "word"], ["word", "NaN", "7"], True, id="numbers among words"),
    ],
)
def test_sets_of_text_are_compared_as_text(texts, cell, same):
    assert (found({**ITEM, "tags": {"SS": texts}}, {**ROW, "tags": cell}) == []) is same


def test_a_missing_row_and_a_ghost_row_are_found():
    assert [str(d) for d in differences([ITEM], [{**ROW, "pk": "b"}], TABLE, ("pk",))] == [
        "b (row): source no such item, table a row",
        "a (row): source an item, table no such row",
    ]


@pytest.mark.parametrize(
    ("attribute", "value", "kept", "same"),
    [
        pytest.param("amount", {"S": "seven"}, '{"S":"seven"}', True, id="kept exactly"),
        pytest.param("amount", {"S": "seven"}, '{"S":"eight"}', False, id="kept wrongly"),
        pytest.param("raw", {"BS": [b"\x00"]}, '{"BS":["AA=="]}', True, id="bytes as base64"),
        pytest.param("unknown/attribute", {"N": "1"}, '{"N":"1"}', True, id="an attribute without a column"),
    ],
)
def test_a_misfit_explains_a_null_if_it_is_the_value(attribute, value, kept, same):
    path = "/" + attribute.replace("/", "~1")
    row = {**ROW, "_misfits": [(path, kept)], **({attribute: None} if attribute in ROW else {})}
    assert (found({**ITEM, attribute: value}, row) == []) is same


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


def test_of_a_place_deeper_than_types_are_decided_no_wider_type_is_asked():
    kind = LongType()
    for number in range(5, 1, -1):
        kind = ListType(number, kind, element_required=False)
    row = {"a": 1, "_misfits": [("/m/0/0/0", '{"SS":["a"]}'), ("/m/0/0/0/0", '{"N":"0.5"}')]}
    table = Table(Schema(field(1, "a", LongType()), field(6, "m", kind)), {})
    assert [found.path for found in needless_misfits([row], table, ("a",), {"m"})] == ["/m/0/0/0"]


def test_where_there_may_be_no_room_for_a_column_or_field_nothing_is_told():
    wide = Schema(*(field(number, f"a{number}", LongType()) for number in range(1, 3000)))
    struct = StructType(*(field(number, f"a{number}", LongType()) for number in range(2, 1000)))
    row = {"a1": 1, "_misfits": [("/b", '{"N":"1"}'), ("/m/b", '{"N":"1"}')]}
    assert list(needless_misfits([row], Table(wide, {}), ("a1",))) == []
    deep = Schema(field(1, "a1", LongType()), field(1001, "m", struct))
    assert [str(found) for found in needless_misfits([row], Table(deep, {}), ("a1",))] == [
        '1 /b: source {"N":"1"}, table kept in _misfits, though there is room for a column'
    ]
