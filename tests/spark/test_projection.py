"""Every value of an item is in its column or among the row's misfits, never in both, never in neither."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest

from local.aws.pitr.images import plain_number
from pipeline.columns.growth import first_columns
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.item_sample import observed_items
from pipeline.columns.profile import Profile
from pipeline.columns.types import LONG, ColumnType, Field, Kind
from pipeline.identity import KeyAttribute
from spark.exports.records import items
from spark.expressions import wide_items
from spark.expressions.wide_items import MANY_PARSED, WIDE
from spark.rows.profiles import observed_misfits
from spark.rows.projection import READABLE, rows_with_misfits
from spark.rows.table_rows import unpacked
from tests.spark.sample_items import lines, plain

pytestmark = pytest.mark.spark

S, N = {"S": "text"}, {"N": "1"}
VALUES = {
    "S": S,
    "number as S": {"S": "1"},
    "N": N,
    "decimal": {"N": "1.25"},
    "too fine": {"N": "0." + "1" * 30},
    "too large": {"N": "9" * 38},
    "out of reach": {"N": "1" + "0" * 100},
    "odd spelling": {"N": "1200e-2"},
    "B": {"B": "AAE="},
    "BOOL": {"BOOL": False},
    "SS": {"SS": ["a", "b"]},
    "NS": {"NS": ["1", "2"]},
    "NS decimal": {"NS": ["1", "2.5"]},
    "NS largest": {"NS": ["9223372036854775807", "0"]},
    "NS too large": {"NS": ["1", "9" * 38]},
    "BS": {"BS": ["AAE="]},
    "L of N": {"L": [N, {"NULL": True}]},
    "L mixed": {"L": [S, N]},
    "L empty": {"L": []},
    "L of M": {"L": [{"M": {"x": S}}, {"M": {"y": S}}]},
    "M": {"M": {"x": S}},
    "M deep": {"M": {"x": {"M": {"y": {"M": {"z": {"M": {"w": N}}}}}}}},
    "M empty": {"M": {}},
    "M other": {"M": {"x": N, "a/b~c": {"L": [S]}}},
    "NULL": {"NULL": True},
}


def column_of(*values) -> ColumnType:
    (_, field) = first_columns((KeyAttribute("pk", "S"),), Profile.of(observed_items([{"a": v} for v in values]))).all
    return field.type


DICTIONARY = ColumnType(Kind.DICTIONARY, element=ColumnType(Kind.STRUCT, fields=(Field("y", "y", LONG),)))
TYPES = {name: column_of(value) for name, value in VALUES.items() if name not in ("NULL", "odd spelling")}
TYPES |= {"several scalars": column_of(S, N), "dictionary": DICTIONARY}


def typed(spark, fields, rows, often_null=()):
    columns = Columns((), tuple(fields))
    found = unpacked(rows_with_misfits(items(lines(spark, rows)), columns, often_null), columns)
    return [row.asDict(recursive=True) for row in found.drop("#item", "#line").collect()]


@pytest.mark.parametrize(
    ("widest_narrow_item", "most_apart", "often_null"),
    [
        (WIDE, 0, []),
        (0, MANY_PARSED, []),
        (0, 0, []),
        (WIDE, 0, ["gone"]),
        (WIDE, 0, [*TYPES, "gone", "never seen"]),
        (0, 0, [*TYPES, "gone", "never seen"]),
    ],
)
def test_any_value_against_any_column_can_be_told_from_the_row(
    spark, monkeypatch, widest_narrow_item, most_apart, often_null
):
    monkeypatch.setattr(wide_items, "WIDE", widest_narrow_item)
    monkeypatch.setattr(wide_items, "MANY_PARSED", most_apart)
    # A row for each pair, with nothing else in it that could make it odd: NULL is nothing.
    pairs = [(column, value) for column in TYPES for value in VALUES]
    of_pairs = [{c: VALUES[v], "gone": VALUES["NULL"]} for c, v in pairs]
    rows = typed(spark, [Field(c, c, TYPES[c]) for c in TYPES], of_pairs, often_null)
    for (column, name), row in zip(pairs, rows, strict=True):
        type_, value, case = TYPES[column], VALUES[name], f"{name} in a column of {column}"
        misfits = {path: json.loads(text) for path, text in (row["_misfits"] or {}).items()}
        if type_.kind in TEXTS and row[column] is not None:
            assert row[column] == TEXTS[type_.kind](value), case
        else:
            assert untyped(type_, row[column], f"/{column}", misfits) == normal(value), case
        assert misfits == {}, f"{case}: kept although its column holds it"
        assert [c for c in TYPES if c != column and row[c] is not None] == [], case


def test_a_path_may_be_longer_than_any_name(spark):
    outer, inner = "a" * 40_000, "b" * 40_000
    column = Field(outer, "a", ColumnType(Kind.STRUCT, fields=(Field(inner, "b", LONG),)))
    rows = typed(spark, [column], [{outer: {"M": {inner: N}}}, {outer: {"M": {inner: N, "other": S}}}])
    assert [row["a"] for row in rows] == [{"b": 1}, {"b": 1}]
    assert [row["_misfits"] for row in rows] == [None, {f"/{outer}/other": json.dumps(S, separators=(",", ":"))}]


def normal(value):
    """A value as a row can tell it: NULL is absence, numbers are numbers, sets have no order."""
    ((tag, inner),) = value.items()
    if tag == "NULL":
        return None
    if tag == "M":
        return {"M": {name: told for name, below in inner.items() if (told := normal(below)) is not None}}
    if tag == "L":
        return {"L": [normal(below) for below in inner]}
    if tag == "N":
        return {"N": float(inner)}
    return {tag: sorted(map(str, inner)) if tag in ("SS", "BS") else inner} if tag != "NS" else ns(inner)


def ns(inner):
    return {"NS": sorted(float(one) for one in inner)}


def untyped(type_, cell, path, misfits):
    """The value that a cell and the misfits tell of together; takes the misfits it needs."""
    if path in misfits:
        assert cell is None, path
        return normal(misfits.pop(path))
    if type_.kind is Kind.STRUCT and cell is not None:
        told = {f.attribute: untyped(f.type, cell[f.name], f"{path}/{f.attribute}", misfits) for f in type_.fields}
        return {"M": {name: v for name, v in told.items() if v is not None} | unknown_members(path, misfits)}
    if type_.kind is Kind.DICTIONARY and cell is not None:
        names = {name: escaped(name) for name in cell}
        told = {name: untyped(type_.element, cell[name], f"{path}/{names[name]}", misfits) for name in cell}
        return {"M": {name: v for name, v in told.items() if v is not None}}
    if type_.kind is Kind.LIST and cell is not None:
        return {"L": [untyped(type_.element, one, f"{path}/{i}", misfits) for i, one in enumerate(cell)]}
    return None if cell is None else leaf(type_, cell)


def unknown_members(path, misfits):
    """Members of a struct that have no field, from the misfits."""
    inside = [p for p in misfits if p.startswith(path + "/") and "/" not in p[len(path) + 1 :]]
    return {p[len(path) + 1 :].replace("~1", "/").replace("~0", "~"): normal(misfits.pop(p)) for p in inside}


def escaped(name):
    return name.replace("~", "~0").replace("/", "~1")


def leaf(type_, cell):
    if type_.kind is Kind.TEXT:
        return {"S": cell}
    if type_.kind in (Kind.LONG, Kind.DECIMAL, Kind.DIGITS):
        return {"N": float(cell)}
    if type_.kind is Kind.FLAG:
        return {"BOOL": cell}
    if type_.kind is Kind.BYTES:
        return {"B": base64.b64encode(cell).decode()}
    if type_.kind is Kind.SET:
        return set_of(type_.element.kind, cell)
    return of_plain(json.loads(cell))


def set_of(kind, cell):
    if kind is Kind.TEXT:
        return {"SS": sorted(cell)}
    if kind is Kind.BYTES:
        return {"BS": sorted(base64.b64encode(one).decode() for one in cell)}
    return {"NS": sorted(float(one) for one in cell)}


def scalar_text(value):
    ((tag, inner),) = value.items()
    if tag == "N":
        return plain_number(inner)
    return str(inner).lower() if tag == "BOOL" else inner


def json_text(value):
    return json.dumps(plain(value, json.loads), separators=(",", ":"))


TEXTS = {Kind.SCALARS: scalar_text, Kind.JSON: json_text}


def of_plain(found):
    """Maps and numbers from plain JSON: what stands in a nested JSON column here."""
    return (
        {"M": {name: of_plain(one) for name, one in found.items()}} if isinstance(found, dict) else {"N": float(found)}
    )


def test_attributes_without_a_column_are_misfits_and_null_ones_are_not(spark):
    (row,) = typed(spark, [Field("a", "a", LONG)], [{"a": N, "b": S, "c~/d": {"M": {"x": N}}, "e": {"NULL": True}}])
    assert {path: json.loads(text) for path, text in row["_misfits"].items()} == {
        "/b": S,
        "/c~0~1d": {"M": {"x": N}},
    }


@pytest.mark.parametrize(
    "line",
    ["", "{", '{"Item":{"a":{"S":"x"}}', '{"Item":{"a":"true"}}', '{"Item":null}', "[]", '{"Other":{}}'],
)
def test_a_line_that_is_no_item_says_so(spark, line):
    (row,) = items(spark.createDataFrame([(line,)], "value string")).select(READABLE).collect()
    assert row[0] is False


@pytest.mark.parametrize("value", [{"ZZ": "x"}, {}, {"S": "x", "N": "1e0"}, {"M": {"x": {"ZZ": 1}}}])
@pytest.mark.parametrize("widest_narrow_item", [WIDE, 0])
def test_what_is_no_value_shows_among_the_misfits(spark, monkeypatch, value, widest_narrow_item):
    monkeypatch.setattr(wide_items, "WIDE", widest_narrow_item)
    (row,) = typed(spark, [Field("a", "a", column_of({"M": {"x": S}}))], [{"a": value}])
    assert "{}" in row["_misfits"].values()


def test_the_executors_count_misfits_as_a_sample_counts_items(spark):
    numbers = ("0", "-0.0", "007", "+1.5E3", ".5", "1.", "1E125", "1e-130", str(-(2**63)), str(2**63), "1e", "NaN", "")
    values = [*VALUES.values(), *({"M": {"n": {"N": number}}} for number in numbers), {"NS": list(numbers)}]
    values += [{}, {"ZZ": "x"}, {"S": "x", "N": "1"}, {"S": None}, {"M": "text"}, {"L": "text"}]
    rows = [("", "/a", json.dumps(value)) for value in values]
    columns = "example string, pointer string, json string"
    found = observed_misfits(spark.createDataFrame(rows, columns))
    assert {row.found_at for row in found} == {1}
    assert [replace(row, found_at=0) for row in found] == observed_items({"a": value} for value in values)
    # One by one: among many, the widest hides what the others need.
    for number in numbers:
        row = spark.createDataFrame([("", "/a", json.dumps({"N": number}))], columns)
        assert [replace(one, found_at=0) for one in observed_misfits(row)] == observed_items([{"a": {"N": number}}])
