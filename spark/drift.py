"""Drift, as the table shows it after a commit: columns that are new or changed, how many values they hold, misfits.

The values of new and changed columns are counted in the table, where a column is read without those beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.columns.column_changes import changed_columns, new_columns, paths_to_count
from pipeline.columns.in_table.field_ids import shown_columns
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.profile import Observed, Path, member_step
from pipeline.columns.types import ColumnType, Kind
from pipeline.job_order import JobOrder
from pipeline.table.snapshots import shown_schema_id
from spark.expressions.sql import Sql, call, function, transform, when
from spark.iceberg.table import Table
from spark.report import Committed, listed_misfits
from spark.rows.keys import shown
from spark.rows.profiles import exploded
from spark.rows.table_rows import changed_since

#: Paths that are counted in one look at the table: each is two aggregates, and a thousand take Spark a while to plan.
_AT_ONCE = 100


def drifted(rows: DataFrame, before: Columns, columns: Columns, counts: Mapping[str, int]) -> Committed:
    """What a commit with these counts has committed, as its rows tell it. `before`: the columns that were there before."""
    seen: list[Observed] = []
    paths = paths_to_count(before, columns)
    for at in range(0, len(paths), _AT_ONCE):
        seen += _counted(rows, columns, paths[at : at + _AT_ONCE])
    misfits = exploded(rows, columns.key)
    return Committed(
        counts,
        new_columns(before, columns, seen),
        changed_columns(before, columns, seen),
        listed_misfits(misfits, columns) if counts.get("misfits") else [],
    )


def with_columns_made_ready(
    done: Committed, spark: SparkSession, table: Table, order: JobOrder, metadata: Mapping[str, Any]
) -> Committed:
    """What a merge has committed, new columns included that an earlier job made ready, and ended before it told of them.

    `metadata`: the table's from before the merge.
    """
    if shown_schema_id(metadata) in (None, metadata["current-schema-id"]):
        return done
    before = shown_columns(metadata, order.source.key)
    rows = changed_since(spark.table(table.sql_name), order.start)
    return replace(done, new_columns=drifted(rows, before, table.columns(), {}).new_columns)


def _counted(rows: DataFrame, columns: Columns, paths: Sequence[Path]) -> Iterator[Observed]:
    """The values at paths of columns; nothing of a path where there are none."""
    whole = ColumnType(Kind.STRUCT, fields=columns.all)
    counts = [f"{_count('', whole, path)} AS `{at}`" for at, path in enumerate(paths)]
    key = shown(columns.key)
    told = [F.struct(F.sum(f"`{at}`"), F.min(F.when(F.col(f"`{at}`") > 0, F.col("#key")))) for at in range(len(paths))]
    # Of a table's rows a column may be named with the table's name before it, which a struct may have as well.
    found: Any = rows.alias("#rows").select(key.alias("#key"), *map(F.expr, counts)).agg(*told).first()
    for path, (count, example) in zip(paths, found):
        if count:
            yield Observed(path, "", count, example=example)


def _count(value: Sql, type_: ColumnType, path: Path) -> Sql:
    """How many values there are at a path inside a value of this type; never null. An empty value is the row itself."""
    if not path:
        return when(f"{value} IS NOT NULL", "1", "0")
    if type_.kind is Kind.STRUCT:
        field = next(field for field in type_.fields if member_step(field.attribute) == path[0])
        return _count(f"{value}.`{field.name}`" if value else f"`{field.name}`", field.type, path[1:])
    inside = type_.element
    assert inside is not None  # a path leads on through structs, lists and dictionaries only
    elements = call("map_values", value) if type_.kind is Kind.DICTIONARY else value
    counts = transform(elements, lambda element: _count(element, inside, path[1:]))
    total = call("aggregate", counts, "0", function(2, lambda held, more: f"{held} + {more}"))
    return call("coalesce", total, "0")
