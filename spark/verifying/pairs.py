"""Items and rows side by side: joined by their keys, compared at first sight, and by meaning where that says no.

A verification compares all items of a full export with all rows; a merge may compare old images with the rows that they
should be. Nothing is collected but counts and the first differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.columns.names import MISFITS
from pipeline.columns.table_columns import Columns
from pipeline.columns.types import Field
from spark.expressions.sql import Sql, literal, when
from spark.hiding.protection import Protection
from spark.rows.table_rows import cells
from spark.verifying.sameness import is_same_at_first_sight, of_source, of_table, shown_values, wrong_places

#: The first differing keys that a report shows with their values.
MOST_SHOWN = 20
FOUND, IN_SOURCE, IN_TABLE = "#found", "#in_source", "#in_table"
#: The DynamoDB JSON of a pair's item, as a line of a full export.
LINE = "#line"
#: What first sight calls a pair that is not equal to it; the second look says whether it is.
PERHAPS = "perhaps"
_OUTCOMES = ("equal", "only_in_source", "only_in_table", PERHAPS)
_WRONG = "#wrong"
#: For keys that only one side has, or several rows: there is nothing to show beside them.
_NO_VALUES = "cast(array() AS array<struct<path:string,source:string,table:string>>) AS `values`"


class Judged(NamedTuple):
    """What the second look says: how many of the pairs that first sight doubted differ, and those pairs, if there are any."""

    different: int
    pairs: DataFrame | None


def source_cells(columns: Columns) -> dict[str, Sql]:
    """The items' side of pairs: each column's name there, and what of typed rows (`spark.rows.projection`) stands in it."""
    at = {**cells(columns), MISFITS: f"`{MISFITS}`"}
    return {of_source(name): at[name] for name in (*(field.name for field in columns.all), MISFITS)}


def table_rows(rows: DataFrame, columns: Columns) -> DataFrame:
    """The table's side of pairs, without the time of a row's last change, of which items do not tell."""
    names = [field.name for field in columns.all] + [MISFITS]
    return rows.select(*(F.col(name).alias(of_table(name)) for name in names), F.lit(True).alias(IN_TABLE))


def compared(source: DataFrame, table: DataFrame, columns: Columns, flags: Sequence[str] = ()) -> DataFrame:
    """One row for each key of either side: ``#found``, and both sides where they are not equal at first sight.

    `source`: the cells of `source_cells`, ``#in_source`` and ``#line``, and columns of its own that all pairs keep (`flags`).
    """
    same_key = [F.col(of_source(f.name)) == F.col(of_table(f.name)) for f in columns.key]
    joined = source.join(table, same_key, "full_outer")
    found = (
        f"CASE WHEN `{IN_TABLE}` IS NULL THEN 'only_in_source' WHEN `{IN_SOURCE}` IS NULL THEN 'only_in_table' "
        f"WHEN {is_same_at_first_sight(columns.all)} THEN 'equal' ELSE '{PERHAPS}' END"
    )
    flags = (*flags, IN_SOURCE, IN_TABLE)
    told = joined.selectExpr("*", f"{found} AS `{FOUND}`")
    kept = [name for name in joined.columns if name not in flags]
    # Of most rows nothing more is wanted: what is kept of them takes next to no room.
    return told.selectExpr(
        f"`{FOUND}`",
        *(f"`{flag}`" for flag in flags),
        *(f"{when(f'''`{FOUND}` <> 'equal' ''', f'`{name}`')} AS `{name}`" for name in kept),
    )


def counted(pairs: DataFrame, also: Mapping[str, Column] = {}) -> dict[str, int]:
    """How many pairs first sight has found to be what, and whatever else is to be counted of them, in one pass."""
    outcomes = (F.count_if(F.col(FOUND) == name).alias(name) for name in _OUTCOMES)
    row: Any = pairs.agg(*outcomes, *(one.alias(name) for name, one in also.items())).first()
    found: dict[str, int] = row.asDict()
    return found


@contextmanager
def judged(pairs: DataFrame, found: Mapping[str, int], columns: Columns, protection: Protection) -> Iterator[Judged]:
    """Take the second look, which is only taken where the first has doubts. `found`: what `counted` has counted."""
    if not found[PERHAPS]:
        yield Judged(0, None)
        return
    differing = _differing(pairs, columns, protection).persist()
    try:
        yield Judged(differing.count(), differing)
    finally:
        differing.unpersist()


def _differing(pairs: DataFrame, columns: Columns, protection: Protection) -> DataFrame:
    """The pairs that differ by meaning, with ``#wrong``."""
    item = "concat('{\"M\":', `#inside`, '}')"
    kept = f"coalesce(map_keys(`{of_table(MISFITS)}`), cast(array() AS array<string>))"
    perhaps = protection.items_text(pairs.where(f"`{FOUND}` = '{PERHAPS}'"), f"`{LINE}`", "#inside")
    looked_at = perhaps.selectExpr("*", f"{item} AS `#text`", f"{kept} AS `#kept`")
    wrong = looked_at.selectExpr("*", f"{wrong_places(columns.all)} AS `{_WRONG}`")
    return wrong.where(f"size(`{_WRONG}`) > 0").withColumn(FOUND, F.lit("different"))


def first_differences(
    pairs: DataFrame, judged_: Judged, columns: Columns, surplus: DataFrame | None = None
) -> list[dict[str, Any]]:
    """The first differences by key: key, what was found, and the values of both sides where they differ.

    `surplus`: rows with the key of the table's of which there are several, if there are any.
    """
    key = [f"coalesce(`{of_source(f.name)}`, `{of_table(f.name)}`)" for f in columns.key]
    alone = pairs.where(f"`{FOUND}` IN ('only_in_source', 'only_in_table')")
    frames = [alone.selectExpr(*_heading(columns.key, key, f"`{FOUND}`"), _NO_VALUES)]
    if judged_.pairs:
        values = f"{shown_values(columns.all)} AS `values`"
        frames.append(judged_.pairs.selectExpr(*_heading(columns.key, key, f"`{FOUND}`"), values))
    if surplus:
        names = [f"`{field.name}`" for field in columns.key]
        frames.append(surplus.selectExpr(*_heading(columns.key, names, "'surplus'"), _NO_VALUES))
    first = [row for frame in frames for row in frame.orderBy("key").limit(MOST_SHOWN).collect()]
    return [row.asDict(recursive=True) for row in sorted(first, key=lambda row: row["key"])[:MOST_SHOWN]]


def _heading(fields: Sequence[Field], key: Sequence[Sql], found: Sql) -> tuple[Sql, Sql]:
    parts = ", ".join(f"{literal(field.attribute)}, {cell}" for field, cell in zip(fields, key))
    return f"to_json(named_struct({parts})) AS key", f"{found} AS found"
