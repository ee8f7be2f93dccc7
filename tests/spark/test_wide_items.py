"""Items of very many containers: one expression for all that are alike, and one list, whatever plain JSON takes in them."""

from __future__ import annotations

import json

import pytest

from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.types import LONG, ColumnType, Field, Kind
from spark.exports.records import items
from spark.expressions import wide_items
from spark.expressions.lost_names import lost
from spark.expressions.wide_items import PACKED, Packed
from spark.rows.projection import rows_with_misfits
from spark.rows.table_rows import cells, unpacked
from tests.spark.sample_items import N, S


def struct_of(type_, name="x"):
    return ColumnType(Kind.STRUCT, fields=(Field(name, name, type_),))


def columns_of(*types):
    return Columns((), tuple(Field(f"c{i:04}", f"c{i:04}", type_) for i, type_ in enumerate(types)))


@pytest.fixture
def all_packed(monkeypatch):
    monkeypatch.setattr(wide_items, "WIDE", 0)
    monkeypatch.setattr(wide_items, "MANY_PARSED", 0)


@pytest.mark.spark
def test_containers_that_differ_by_what_plain_json_takes_in_them_lie_where_a_reader_finds_them(spark, all_packed):
    tags = ("", "L", "M", "")
    told, untold = (
        columns_of(*(struct_of(ColumnType(Kind.JSON, tag=tag)) for tag in said)) for said in (tags, [""] * 4)
    )
    line = json.dumps({"Item": {field.attribute: {"M": {"x": {"L": [S, N]}}} for field in told.all}})
    typed = rows_with_misfits(items(spark.createDataFrame([(line,)], "value string")), told)
    (row,) = unpacked(typed, untold).collect()
    assert [bool(row[field.name].x) for field in told.all] == [True, True, False, True]
    assert list(row["_misfits"]) == ["/c0002/x"]


@pytest.mark.spark
def test_plain_json_that_takes_one_type_only_takes_nothing_from_plain_json_beside_it(spark, all_packed):
    told, untold = (
        columns_of(*(ColumnType(Kind.JSON, tag=tag) for tag in said)) for said in (("L", "", "M"), [""] * 3)
    )
    lines = [json.dumps({"Item": {field.attribute: value for field in told.all}}) for value in ({"M": {}}, {"L": [S]})]
    typed = rows_with_misfits(items(spark.createDataFrame([(line,) for line in lines], "value string")), told)
    rows = [([row[field.name] for field in told.all], row["_misfits"]) for row in unpacked(typed, untold).collect()]
    assert rows == [
        ([None, "{}", "{}"], {"/c0000": '{"M":{}}'}),
        (['["x"]', '["x"]', None], {"/c0002": '{"L":[{"S":"x"}]}'}),
    ]


@pytest.mark.spark
def test_a_sum_over_very_many_types_is_not_too_deep_for_spark(spark):
    (whole_cells,) = Packed.of(columns_of(*(struct_of(LONG, f"n{i}") for i in range(1_500)))).counts
    lists = ", ".join(f"array(named_struct('whole', {i % 3 == 0})) AS list{i}" for i in range(1_500))
    packed = spark.range(1).selectExpr(f"struct({lists}) AS `{PACKED}`")
    assert packed.selectExpr(f"9 - {whole_cells} AS found").first().found == 9 - 500


def test_what_is_done_to_containers_is_said_once_for_all_that_are_alike():
    def functions(containers):
        columns = columns_of(*(ColumnType(Kind.LIST, element=struct_of(LONG)) for _ in range(containers)))
        packed = Packed.of(columns)
        assert len(set(cells(columns).values())) == containers
        return sum(
            text.count("->") for text in (packed.made_of("item"), *packed.counts, lost("a", "b", columns.all, []))
        )

    assert functions(3_000) == functions(300)
