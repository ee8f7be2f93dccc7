"""The names that two images of an item differ by, where the maps that hold them stand in a list: however they are spelled."""

from __future__ import annotations

import json
import random

import pytest

from pipeline.columns.pointers import step
from pipeline.columns.types import LONG, ColumnType, Field, Kind
from spark.expressions.lost_names import lost

pytestmark = pytest.mark.spark

OF_MAPS = ColumnType(Kind.LIST, element=ColumnType(Kind.STRUCT, fields=(Field("a", "a", LONG),)))
#: Names, and texts, that look like what stands between two maps of a list.
ODD = ["a", "b", '}},{"', '},"', "{},", ",{}", "[{},", "}},{},{", '"', "\\", '\\"', "", " ", "M", "😀", "],[", "}]"]


def value(r: random.Random, depth: int = 0):
    texts, deeper = [{"S": r.choice(ODD)}, {"N": "1"}, {"NULL": True}, {"SS": ODD[:3]}], depth < 2
    lists = [{"L": [value(r, depth + 1) for _ in range(r.randrange(4))]}, a_map(r, depth + 1)] if deeper else []
    return r.choice([*texts, *lists, {"M": {}}, {"L": []}])


def a_map(r: random.Random, depth: int = 0):
    return {"M": {name: value(r, depth) for name in r.sample(ODD, r.choice([0, 0, 1, 3]))}}


def image(r: random.Random):
    return [a_map(r) if r.random() < 0.8 else value(r) for _ in range(r.randrange(6))]


def names(elements):
    """The names of all maps in a list; None where there is no map."""
    maps = [element["M"] for element in elements if "M" in element]
    return {name for one in maps for name in one} if maps else None


def text(elements):
    return json.dumps({"l": {"L": elements}}, separators=(",", ":"), ensure_ascii=False)


def test_what_no_map_of_a_list_has_any_more_is_found_whatever_stands_around_it(spark):
    r = random.Random(54)  # noqa: S311 - test data, not a secret
    pairs = [(image(r), image(r)) for _ in range(3_000)]
    told = spark.createDataFrame([(text(old), text(new)) for old, new in pairs], "old string, new string")
    found = told.selectExpr(f"{lost('old', 'new', [Field('l', 'l', OF_MAPS)], [])} AS lost").collect()
    expected = [
        sorted(f"/l/*/{step(name)}" for name in names(old) - names(new))
        if names(old) and names(new) is not None
        else []
        for old, new in pairs
    ]
    assert sum(map(bool, expected)) > 1_000
    assert [sorted(row.lost) for row in found] == expected
