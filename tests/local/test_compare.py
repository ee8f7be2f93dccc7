"""The comparison finds what it is there to find: each planted difference, and nothing where there is none."""

from __future__ import annotations

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


@pytest.mark.parametrize(("cell", "same"), [("[true,1]", True), ("[1,1]", False), ("[true,true]", False)])
def test_in_json_text_true_is_no_number(cell, same):
    item = {**ITEM, "mixed": {"L": [{"BOOL": True}, {"N": "1"}]}}
    assert (found(item, {**ROW, "mixed": cell}) == []) is same


def test_keys_with_slashes_in_them_are_told_apart():
    kinds = [field(number, name, StringType(), name) for number, name in enumerate(("pk", "sk"), 1)]
    items = [{"pk": {"S": "a/b"}, "sk": {"S": "c"}}, {"pk": {"S": "a"}, "sk": {"S": "b/c"}}]
    rows = [{"pk": "a", "sk": "b/c"}]
    lost = [str(d) for d in differences(items, rows, Table(Schema(*kinds), {}), ("pk", "sk"))]
    assert lost == ["a~1b/c (row): source an item, table no such row"]


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


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ({"N": "5"}, "abc"),
        ({"N": "5"}, ""),
        ({"M": {"x": {"N": "1"}}}, "no JSON"),
        ({"NS": ["1"]}, '["1"]'),
        ({"SS": ["1"]}, "[1]"),
    ],
)
def test_what_is_another_thing_altogether_is_a_difference(value, cell):
    assert found({**ITEM, "mixed": value}, {**ROW, "mixed": cell}) == ["/mixed"]


@pytest.mark.parametrize(
    "kept",
    [
        "no JSON",
        '{"BOOL":true} and more',
        "[]",
        "null",
        "1",
        "{}",
        '{"BOOL":true,"S":"x"}',
        '{"N":"x"}',
        '{"NS":1}',
        '{"NS":["x"]}',
        '{"M":[]}',
        '{"BOOL":1}',
        '{"BOOL":"True"}',
    ],
)
def test_a_misfit_that_is_not_the_value_is_a_difference_whatever_it_is(kept):
    item, row = {**ITEM, "amount": {"BOOL": True}}, {**ROW, "amount": None, "_misfits": [("/amount", kept)]}
    assert found(item, row) == ["/amount"]


@pytest.mark.parametrize(
    ("value", "misfits"),
    [({"NULL": True}, None), ({"S": "two"}, [("/counts/two", '{"S":"two"}')])],
    ids=["NULL", "a misfit"],
)
def test_a_map_has_every_name_of_the_item_s_also_where_there_is_no_value(value, misfits):
    item = {**ITEM, "counts": {"M": {"one": {"N": "1"}, "two": value}}}
    row = {**ROW, "_misfits": misfits, "counts": [("one", 1), ("two", None)]}
    assert found(item, row) == []
    assert found(item, {**row, "counts": [("one", 1)]}) == ["/counts/two"]
