"""Structs of very many fields: the cells of one type are made by one expression, and are those that each would have by itself."""

from __future__ import annotations

import json

import pytest

from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.types import LONG, ColumnType, Field, Kind
from spark.exports.records import items
from spark.expressions import cells
from spark.rows.projection import rows_with_misfits
from tests.spark.sample_items import N, S

TYPES = (
    LONG,
    ColumnType(Kind.DECIMAL, digits=9, scale=2),
    *map(ColumnType, (Kind.DIGITS, Kind.TEXT, Kind.BYTES, Kind.FLAG, Kind.SCALARS)),
    *(ColumnType(Kind.JSON, tag=tag) for tag in ("", "M", "L")),
    ColumnType(Kind.SET, element=LONG),
    ColumnType(Kind.LIST, element=LONG),
    ColumnType(Kind.STRUCT, fields=(Field("x", "x", LONG),)),
)
VALUES = (
    N,
    S,
    {"N": "-0.50"},
    {"B": "AAE="},
    {"BOOL": True},
    {"NULL": True},
    {"NS": ["1"]},
    {"L": [N]},
    {"M": {"x": N}},
)
#: Two fields of each type, those of one type apart from each other.
FIELDS = tuple(Field(f"f'{i}", f"F{i}", type_) for i, type_ in enumerate((*TYPES, *TYPES)))


def struct_of(fields):
    return ColumnType(Kind.STRUCT, fields=tuple(fields))


@pytest.mark.spark
@pytest.mark.parametrize(
    "column",
    [
        pytest.param((struct_of(FIELDS), lambda level: {"M": level}), id="a struct"),
        pytest.param((ColumnType(Kind.LIST, element=struct_of(FIELDS)), lambda m: {"L": [{"M": m}]}), id="in a list"),
    ],
)
def test_fields_of_a_struct_have_the_same_cells_and_misfits_however_many_they_are(spark, monkeypatch, column):
    type_, placed = column
    levels = [{field.attribute: VALUES[(i + by) % len(VALUES)] for i, field in enumerate(FIELDS)} for by in range(9)]
    lines = [(json.dumps({"Item": {"a": placed(level)}}),) for level in ({}, *levels)]

    def rows(many):
        monkeypatch.setattr(cells, "MANY_FIELDS", many)
        typed = rows_with_misfits(
            items(spark.createDataFrame(lines, "value string")), Columns((), (Field("a", "a", type_),))
        )
        return typed.select("a", "_misfits").collect(), typed.schema["a"].dataType

    assert rows(0) == rows(len(FIELDS))


def test_what_is_done_to_scalar_fields_of_one_type_is_said_once():
    def said(fields):
        return cells.cell(struct_of(Field(f"f{i}", f"f{i}", LONG) for i in range(fields)), "level").count(
            "regexp_extract"
        )

    assert said(3_000) == said(cells.MANY_FIELDS + 1) < said(10) * 10
