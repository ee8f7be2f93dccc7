"""How often Spark's analysis goes through the expressions of the row path: once for each level of nested functions."""

from __future__ import annotations

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.columns.names import MISFITS
from pipeline.columns.types import JSON, LONG, ColumnType, Field, Kind
from spark.expressions.fitting import with_cell
from spark.expressions.misfits import look
from spark.expressions.values import LEVEL_TYPE, opened
from spark.hiding.protection import Protection
from spark.rows.projection import ITEM
from spark.verifying.sameness import of_source, of_table, second_look

pytestmark = pytest.mark.spark

TEXT = ColumnType(Kind.TEXT)
STRUCT = ColumnType(
    Kind.STRUCT, fields=(Field("a", "a", ColumnType(Kind.DECIMAL, digits=10, scale=2)), Field("b", "b", LONG))
)
KEY = (Field("pk", "pk", TEXT),)
FIELDS = (Field("s", "s", STRUCT), Field("l", "l", ColumnType(Kind.LIST, element=STRUCT)), Field("j", "j", JSON))
ANALYSIS = "org.apache.spark.sql.catalyst.analysis.ResolveLambdaVariables"


def rounds(rows):
    """How often the analysis of the last step went through its rules."""
    return rows._jdf.queryExecution().tracker().rules().apply(ANALYSIS).numInvocations()


@pytest.fixture(scope="module")
def items(spark):
    return spark.createDataFrame([], f"`{ITEM}` {LEVEL_TYPE}")


def test_the_cell_of_a_list_of_structs(items):
    listed = ColumnType(Kind.LIST, element=STRUCT)
    assert rounds(items.selectExpr(with_cell(listed, opened(listed, f"`{ITEM}`['l']")))) <= 16


def test_each_step_of_the_look_for_misfits(items):
    rows = items
    for name, made in look(f"`{ITEM}`", (*KEY, *FIELDS)).items():
        rows = rows.selectExpr("*", f"{made} AS `{name}`")
        assert rounds(rows) <= 16, name


def test_hidden_values(items):
    said = Overrides.parse({"/a/*/b": {"hash": True}, "/c": {"drop": True}})
    assert rounds(Protection.of(said, "a secret of some length").protected(items.select(ITEM), ITEM)) <= 34


def test_each_step_of_the_second_look_of_a_verification(spark):
    cells = {"s": "struct<a:decimal(10,2),b:bigint>", "l": "array<struct<a:decimal(10,2),b:bigint>>", "j": "string"}
    columns = {"pk": "string", **cells, MISFITS: "map<string,string>"}
    sides = [f"`{side(name)}` {of_type}" for side in (of_source, of_table) for name, of_type in columns.items()]
    rows = spark.createDataFrame([], ", ".join([*sides, "`#text` string", "`#kept` array<string>"]))
    for name, made in second_look([*KEY, *FIELDS]).items():
        rows = rows.selectExpr("*", f"{made} AS `{name}`")
        assert rounds(rows) <= 25, name
