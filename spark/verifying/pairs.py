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

from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.names import MISFITS
from pipeline.columns.types import Field
from spark.expressions.sql import Sql, first_of, joined, literal, when
from spark.hiding.protection import UNPROTECTED, Protection
from spark.rows.keys import of_several
from spark.rows.table_rows import cells
from spark.verifying.sameness import KEPT, TEXT, WRONG, is_same_at_first_sight, of_source, of_table, second_look
from spark.verifying.shown import held_places, shown_values

#: The first differing keys that a report shows with their values.
MOST_SHOWN = 20
FOUND, IN_SOURCE, IN_TABLE = "#found", "#in_source", "#in_table"
#: The DynamoDB JSON of a pair's item, as a line of a full export.
LINE = "#line"
#: What first sight calls a pair that is not equal to it; the second look says whether it is.
PERHAPS = "perhaps"
_OUTCOMES = ("equal", "only_in_source", "only_in_table", PERHAPS)


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
    both = source.join(table, same_key, "full_outer")
    outcomes = [
        (f"`{IN_TABLE}` IS NULL", "'only_in_source'"),
        (f"`{IN_SOURCE}` IS NULL", "'only_in_table'"),
        (is_same_at_first_sight(columns.all), "'equal'"),
    ]
    found = first_of(outcomes, f"'{PERHAPS}'")
    flags = (*flags, IN_SOURCE, IN_TABLE)
    told = both.selectExpr("*", f"{found} AS `{FOUND}`")
    kept = [name for name in both.columns if name not in flags]
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
    looked_at = _with_item(pairs.where(f"`{FOUND}` = '{PERHAPS}'"), protection)
    kept = [f"`{name}`" for name in looked_at.columns]
    for name, made in second_look(columns.all).items():
        looked_at = looked_at.selectExpr("*", f"{made} AS `{name}`")
    wrong = looked_at.where(f"size(`{WRONG}`) > 0").select(*kept, f"`{WRONG}`")
    return wrong.withColumn(FOUND, F.lit("different"))


def _with_item(pairs: DataFrame, protection: Protection) -> DataFrame:
    """Pairs with what `spark.verifying.sameness` needs besides: the item as DynamoDB JSON, and what the row keeps as misfits."""
    inside = protection.items_text(pairs, f"`{LINE}`", "#inside")
    item = joined("'{\"M\":'", "`#inside`", "'}'")
    kept = f"coalesce(map_keys(`{of_table(MISFITS)}`), cast(array() AS array<string>))"
    return inside.selectExpr("*", f"{item} AS {TEXT}", f"{kept} AS {KEPT}")


def _with_held(alone: DataFrame, columns: Columns, protection: Protection) -> DataFrame:
    """Pairs of which one side is not there, with all that the other one holds as ``#wrong``."""
    return _with_item(alone, protection).selectExpr("*", f"{held_places(columns.all)} AS `{WRONG}`")


def first_differences(
    pairs: DataFrame, judged_: Judged, columns: Columns, protection: Protection, table: DataFrame | None
) -> list[dict[str, Any]]:
    """The first differences by key: key, what was found, and what each side holds where they differ.

    `table`: the table's rows (`table_rows`), if some key has several of them.
    """
    key = [f"coalesce(`{of_source(f.name)}`, `{of_table(f.name)}`)" for f in columns.key]
    alone = _first(pairs.where(f"`{FOUND}` IN ('only_in_source', 'only_in_table')"), columns, key)
    frames = [_shown(_with_held(alone, columns, protection), columns)]
    if judged_.pairs:
        frames.append(_shown(_first(judged_.pairs, columns, key), columns))
    if table:
        frames.append(_surplus(table, columns))
    first = [row for frame in frames for row in frame.collect()]
    return [row.asDict(recursive=True) for row in sorted(first, key=lambda row: row["key"])[:MOST_SHOWN]]


def _first(rows: DataFrame, columns: Columns, key: Sequence[Sql]) -> DataFrame:
    """The first rows by their keys, with ``key``, as JSON. `key`: its cells."""
    parts = ", ".join(f"{literal(field.attribute)}, {cell}" for field, cell in zip(columns.key, key))
    return rows.selectExpr("*", f"to_json(named_struct({parts})) AS key").orderBy("key").limit(MOST_SHOWN)


def _shown(first: DataFrame, columns: Columns) -> DataFrame:
    """The first pairs as reports show them. Not before: of all that differ, it would be all values that are made texts of."""
    return first.selectExpr("key", f"`{FOUND}` AS found", f"{shown_values(columns.all)} AS `values`")


def _surplus(table: DataFrame, columns: Columns) -> DataFrame:
    """The first keys that have several rows, and what those hold, each value once."""
    fields = [Field(field.attribute, of_table(field.name), field.type) for field in columns.key]
    first = _first(of_several(table, fields), columns, [f"`{field.name}`" for field in fields])
    names = [field.name for field in fields]
    rows = table.join(F.broadcast(first.select("key", *names)), names)
    alone = rows.withColumns({FOUND: F.lit("surplus"), LINE: F.lit(None).cast("string")})
    each = _shown(_with_held(alone, columns, UNPROTECTED), columns).select(
        "key", "found", F.explode("values").alias("value")
    )
    return each.groupBy("key", "found").agg(F.sort_array(F.collect_set("value")).alias("values"))
