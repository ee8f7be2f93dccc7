"""Typed rows as the table takes them: a column for every cell, in the table's order, of its types."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.names import WRITE_TIME
from pipeline.instants import format_instant
from spark.expressions.sql import Sql
from spark.expressions.wide_items import PACKED, Packed


def changed_since(rows: DataFrame, instant: datetime) -> DataFrame:
    """Those of a table's rows that were changed at an instant or later."""
    return rows.where(F.col(WRITE_TIME) >= F.lit(format_instant(instant)).cast("timestamp"))


def cells(columns: Columns) -> dict[str, Sql]:
    """Where the cells stand in typed rows, by the names of their columns: of wide items, most stand in lists still."""
    return Packed.of(columns).cells


def held_in(columns: Columns) -> list[str]:
    """The names of the columns of typed rows in which all cells stand that are not the key's."""
    packed = Packed.of(columns)
    apart = [field.name for field in packed.apart if field not in columns.key]
    return [*([PACKED] if packed.is_wide else []), *apart]


def unpacked(rows: DataFrame, columns: Columns) -> DataFrame:
    """Typed rows with a column for every cell; all other columns stay."""
    made = cells(columns)
    others = [f"`{name}`" for name in rows.columns if name != PACKED and name not in made]
    return rows.selectExpr(*others, *(f"{cell} AS `{name}`" for name, cell in made.items()))


def aligned(rows: DataFrame, columns: Columns, schema: StructType) -> DataFrame:
    """Typed rows with all columns of the table, in its order, of its types; null in those that are about to be replaced.

    Of rows that may hold a null where the table takes none, Spark would write every list and struct anew.
    """
    # Who has named a column of the table as the jobs do theirs has not meant those.
    made = {name: f"`{name}`" for name in rows.columns if not name.startswith("#")} | cells(columns)
    absent = [field for field in schema.fields if field.name not in made]
    # Of any type, so not as text: members of structs may be named by digits alone.
    nulls = {f"#absent{i}": F.lit(None).cast(field.dataType) for i, field in enumerate(absent)}
    whole = rows.withColumns(nulls) if nulls else rows
    made |= {field.name: f"`{name}`" for field, name in zip(absent, nulls)}
    return whole.selectExpr(*(f"{made[f.name] if f.nullable else _required(f)} AS {_quoted(f)}" for f in schema.fields))


def _quoted(field: StructField) -> Sql:
    return "`" + field.name.replace("`", "``") + "`"


def _required(key: StructField) -> Sql:
    """A column of the key as one that holds no null. Rows without a whole key are left out before: nothing is put in."""
    return f"coalesce(`{key.name}`, CAST(0 AS {key.dataType.simpleString()}))"
