"""DynamoDB values in Spark: text of any depth, sets, numbers of any spelling."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from pyspark.sql import functions as F

from pipeline.columns.types import LONG, ColumnType, Kind
from spark.expressions.numbers import number, plain_number
from spark.expressions.sql import literal
from spark.expressions.values import LEVEL_TYPE, dynamodb_json, plain_json, strings
from tests.spark.sample_items import plain

pytestmark = pytest.mark.spark

#: As nasty as values come: quotes, braces and what looks like DynamoDB JSON, in strings and in names.
NESTED = {
    "M": {
        "text": {"S": 'a "quote", a \\, a\nline, {"S":"x"}}}], {"NS":["1"'},
        "S": {"S": "a name that is a type"},
        "NULL": {"NULL": True},
        "BOOL": {"BOOL": False},
        'a "name" \\': {"N": "-1.50"},
        "sets": {"M": {"SS": {"SS": ["a]", "b}"]}, "NS": {"NS": ["1", "-2.5"]}, "BS": {"BS": ["AA==", "AQ=="]}}},
        "list": {"L": [{"NULL": True}, {"L": []}, {"M": {}}, {"M": {"M": {"M": {"L": {"L": [{"B": "AA=="}]}}}}}]},
        "é😀": {"S": "é😀 \\u0041 \u2028"},
    }
}


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_value_becomes_text_and_plain_text(spark, ascii_only):
    line = json.dumps({"v": NESTED}, ensure_ascii=ascii_only)
    read = spark.createDataFrame([(line,)], "line string").select(F.from_json("line", LEVEL_TYPE)["v"].alias("v"))
    text = dynamodb_json("v")
    (row,) = read.selectExpr(f"{text} AS tagged", f"{plain_json(text)} AS plain").collect()
    assert json.loads(row["tagged"]) == NESTED
    assert json.loads(row["plain"], parse_float=Decimal, parse_int=Decimal) == plain(NESTED, Decimal)


def test_long_text_with_many_escapes_becomes_plain_text(spark):
    value = {"M": {"t": {"S": '"\\\n' * 60_000}}}
    read = spark.createDataFrame([(json.dumps({"v": value}),)], "line string")
    level = read.select(F.from_json("line", LEVEL_TYPE)["v"].alias("v"))
    (row,) = level.selectExpr(f"{plain_json(dynamodb_json('v'))} AS plain").collect()
    assert json.loads(row["plain"]) == plain(value, Decimal)


@pytest.mark.parametrize(
    "elements",
    [
        ["a"],
        ["a", "b"],
        [""],
        ["", ""],
        [","],
        ["[", "]"],
        ['","', 'a"'],
        ["\\\\", "b"],
        ["é", "😀\\u2028"],
        ["_%"],
        [],
    ],
)
def test_a_set_is_read_element_by_element(spark, elements):
    text = json.dumps(elements, ensure_ascii=False, separators=(",", ":"))
    (row,) = spark.createDataFrame([(text,)], "t string").selectExpr(f"{strings('t')} AS found").collect()
    assert row["found"] == elements


SPELLINGS = {
    "1": ("1", 1, "1.00"),
    "1.0": ("1", 1, "1.00"),
    "1e0": ("1", 1, "1.00"),
    "+1": ("1", 1, "1.00"),
    "007": ("7", 7, "7.00"),
    "-0": ("0", 0, "0.00"),
    "0.00": ("0", 0, "0.00"),
    ".5": ("0.5", None, "0.50"),
    "-12.5E+2": ("-1250", -1250, "-1250.00"),
    "1e-5": ("0.00001", None, None),
    "12.345": ("12.345", None, None),
    "100": ("100", 100, "100.00"),
    "5.": ("5", 5, "5.00"),
    "00.0100e2": ("1", 1, "1.00"),
    "-.50e1": ("-5", -5, "-5.00"),
    "-0.0E5": ("0", 0, "0.00"),
    # Decimals are counted from the text, here one too many: the attribute is a misfit, and a key, made plain, is 1.
    "10e-1": ("1", None, "1.00"),
    "12.50e1": ("125", 125, "125.00"),
    "100e-5": ("0.001", None, None),
    "1e": (None, None, None),
    "1.2.3": (None, None, None),
    "9223372036854775807": ("9223372036854775807", 2**63 - 1, "9223372036854775807.00"),
    "9223372036854775808": ("9223372036854775808", None, "9223372036854775808.00"),
    "9" * 36: ("9" * 36, None, "9" * 36 + ".00"),
    "9" * 37: ("9" * 37, None, None),
    "1E125": ("1" + "0" * 125, None, None),
    "-1E-130": ("-0." + "0" * 129 + "1", None, None),
    "abc": (None, None, None),
    "": (None, None, None),
}


def test_numbers_are_exact_or_null(spark):
    text = spark.createDataFrame([(spelling,) for spelling in SPELLINGS], "n string")
    decimal = ColumnType(Kind.DECIMAL, scale=2)
    found = text.selectExpr("n", plain_number("n"), number(LONG, "n"), f"string({number(decimal, 'n')})").collect()
    assert {row[0]: tuple(row[1:]) for row in found} == SPELLINGS


@pytest.mark.parametrize("text", ["', ' || current_user() || '", "\\'; DROP TABLE t; --", "`a`", "😀\x00\n", "${x}"])
def test_a_text_in_an_expression_is_that_text(spark, text):
    (row,) = spark.range(1).selectExpr(f"{literal(text)} AS t").collect()
    assert row["t"] == text
