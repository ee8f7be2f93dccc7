"""Whether a row is odd is told by counting, and only what is lost counts: neither NULL nor what is not there."""

from __future__ import annotations

import pytest

from pipeline.columns.table_columns import Columns
from pipeline.columns.types import LONG, ColumnType, Field, Kind
from spark.exports.records import items
from spark.rows.projection import IS_ODD, rows_told_odd
from tests.spark.sample_items import lines

pytestmark = pytest.mark.spark

S, N = {"S": "text"}, {"N": "1"}
MEMBERS = (Field("x", "x", ColumnType(Kind.TEXT)), Field("y", "y", LONG))
IN_CONTAINERS = {
    "M": (ColumnType(Kind.STRUCT, fields=MEMBERS), lambda inside: {"M": inside}),
    "L": (
        ColumnType(Kind.LIST, element=ColumnType(Kind.STRUCT, fields=MEMBERS)),
        lambda inside: {"L": [{"M": inside}, {"M": {"x": S, "y": N}}]},
    ),
    "M of any names": (
        ColumnType(Kind.DICTIONARY, element=ColumnType(Kind.STRUCT, fields=MEMBERS)),
        lambda inside: {"M": {"one": {"M": {"x": S, "y": N}}, "other": {"M": inside}}},
    ),
}


@pytest.mark.parametrize("container", IN_CONTAINERS)
@pytest.mark.parametrize(
    ("inside", "is_odd"),
    [
        ({"x": S, "y": N}, False),
        ({"x": S}, False),
        ({}, False),
        ({"x": S, "y": {"NULL": True}}, False),
        ({"x": S, "y": N, "more": {"NULL": True}}, False),
        ({"x": S, "y": N, "more": S}, True),
        ({"x": S, "more": N}, True),
        ({"x": S, "y": S}, True),
    ],
)
def test_a_row_is_odd_only_for_members_that_are_lost(spark, container, inside, is_odd):
    type_, value = IN_CONTAINERS[container]
    rows = items(lines(spark, [{"a": value(inside)}]))
    (row,) = rows_told_odd(rows, Columns((), (Field("a", "a", type_),))).select(IS_ODD).collect()
    assert row[0] is is_odd
