"""Whether a row is odd is told by counting, and only what is lost counts: neither NULL nor what is not there."""

from __future__ import annotations

import itertools

import pytest

from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.types import LONG, ColumnType, Field, Kind
from spark.exports.records import items
from spark.expressions import sql
from spark.rows.projection import IS_ODD, rows_told_odd
from tests.spark.sample_items import lines

pytestmark = pytest.mark.spark

S, N = {"S": "text"}, {"N": "1"}
MEMBERS = (Field("x", "x", ColumnType(Kind.TEXT)), Field("y", "y", LONG))
IN_CONTAINERS = {
    "M": (ColumnType(Kind.STRUCT, fields=MEMBERS), lambda inside: {"M": inside}),
    "L": (
        ColumnType(Kind.LIST, element=ColumnType(Kind.STRUCT, fields=MEMBERS)),
        lambda inside: {"L": [{"M": inside}, {"NULL": True}, {"M": {"x": S, "y": N}}]},
    ),
    "M of any names": (
        ColumnType(Kind.DICTIONARY, element=ColumnType(Kind.STRUCT, fields=MEMBERS)),
        lambda inside: {"M": {"one": {"M": {"x": S, "y": N}}, "none": {"NULL": True}, "other": {"M": inside}}},
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


def test_a_column_may_be_called_like_a_parameter_of_a_lambda(spark, monkeypatch):
    inner = ColumnType(Kind.STRUCT, fields=(Field("l", "l", ColumnType(Kind.LIST, element=LONG)),))
    outer = ColumnType(Kind.STRUCT, fields=(Field("m", "m", inner),))
    rows = items(lines(spark, [{"a": {"M": {"m": {"M": {"l": {"L": [N, N]}}}}}}]))
    for number in range(1, 9):
        monkeypatch.setattr(sql, "_numbers", itertools.count(1))
        (row,) = rows_told_odd(rows, Columns((), (Field("a", f"x{number}", outer),))).collect()
        assert (row[IS_ODD], row[f"x{number}"].m.l) == (False, [1, 1])
