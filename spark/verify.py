"""Verify: a full export at the watermark against the table as it was at that watermark, key by key.

The items become rows by the expressions of the load and are joined once with the table's. Rows that are equal at first
sight are only counted; the others are looked at again by meaning (`spark.sameness`). Nothing is changed, and nothing is
collected but counts and the first differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.column_names import MISFITS
from pipeline.column_types import Field
from pipeline.errors import VerificationFailed
from pipeline.instants import format_instant
from pipeline.job_order import JobOrder
from pipeline.marker import row_count
from pipeline.protected import check_protected, protected_at
from pipeline.table_columns import Columns
from pipeline.verification import accounted, difference_count, named, told
from spark.contradictions import check_kept
from spark.guard import compared_snapshot
from spark.keys import lacks_key
from spark.projection import ITEM, READABLE, rows_with_misfits, unreadable
from spark.protection import CONTRADICTED, UNPROTECTED, Protection
from spark.reading import Export, lines, read_exports, verify_data_files
from spark.records import items
from spark.refusals import check_items
from spark.sameness import is_same_at_first_sight, of_source, of_table, shown_values, wrong_places
from spark.shuffles import for_changes, shuffle_for
from spark.sql import Sql, literal, when
from spark.table import Table
from spark.table_rows import cells

#: The first differing keys that a report shows with their values.
MOST_SHOWN = 20
FOUND, _WRONG = "#found", "#wrong"
_IN_SOURCE, _IN_TABLE, _LACKS_KEY = "#in_source", "#in_table", "#lacks_key"
#: What first sight calls a pair that is not equal to it; the second look says whether it is.
_PERHAPS = "perhaps"
#: For keys that only one side has, or several rows: there is nothing to show beside them.
_NO_VALUES = "cast(array() AS array<struct<path:string,source:string,table:string>>) AS `values`"


class Verification(NamedTuple):
    """What every step of one verification needs."""

    spark: SparkSession
    order: JobOrder
    export: Export
    rows: DataFrame
    columns: Columns
    protection: Protection = UNPROTECTED


def verify(spark: SparkSession, order: JobOrder, table: Table, protection: Protection) -> dict[str, Any]:
    """Compare; returns counts, snapshot and result where source and table are equal.

    Raises VerificationFailed with the differences, or what a load raises where the export is not whole.
    """
    metadata = table.metadata()
    snapshot_id = compared_snapshot(metadata, order)
    columns = table.columns_at(snapshot_id)
    if new := check_protected(protected_at(metadata, order.end), columns, order.columns, protection.fingerprint):
        check_kept(table.rows_at(snapshot_id), new)
    (export,) = read_exports(spark, order)
    verify_data_files(spark, [export])
    shuffle_for(spark, for_changes([export.manifest], row_count(metadata)))
    this = Verification(spark, order, export, table.rows_at(snapshot_id), columns, protection)
    pairs = compared(source_rows(this), table_rows(this), this.columns).persist()
    try:
        counts, shown = _result(this, pairs)
    finally:
        pairs.unpersist()
    findings = {"snapshot_id": snapshot_id, "counts": counts, "result": told(counts), "differences": shown}
    if difference_count(counts):
        first = "\n".join(named(shown))
        message = f"{told(counts)} at {format_instant(order.end)}. {accounted(counts)}\nThe first:\n{first}"
        raise VerificationFailed(message, findings=findings)
    return findings


def source_rows(this: Verification) -> DataFrame:
    """The export's items as rows, with their lines and what is wrong with them."""
    typed, at = _typed(this, lines(this.spark, this.export.files_with_records)), cells(this.columns)
    return typed.withColumn(READABLE, ~unreadable()).selectExpr(
        *(f"{at[f.name]} AS `{of_source(f.name)}`" for f in this.columns.all),
        f"`{MISFITS}` AS `{of_source(MISFITS)}`",
        "`#line`",
        f"`{READABLE}`",
        f"`{_LACKS_KEY}`",
        f"`{CONTRADICTED}`",
        f"true AS `{_IN_SOURCE}`",
    )


def _typed(this: Verification, of: DataFrame) -> DataFrame:
    found = this.protection.protected(items(of), ITEM)
    lacking = lacks_key(f"`{ITEM}`", this.order.source.key)
    also = [f"{lacking} AS `{_LACKS_KEY}`", this.protection.contradicted(ITEM)]
    return rows_with_misfits(found, this.columns, also=also)


def table_rows(this: Verification) -> DataFrame:
    """The table's rows, without the time of their last change, which a full export does not tell."""
    names = [field.name for field in this.columns.all] + [MISFITS]
    return this.rows.select(*(F.col(name).alias(of_table(name)) for name in names), F.lit(True).alias(_IN_TABLE))


def compared(source: DataFrame, table: DataFrame, columns: Columns) -> DataFrame:
    """One row for each key of either side: ``#found``, and both sides where they are not equal at first sight."""
    same_key = [F.col(of_source(f.name)) == F.col(of_table(f.name)) for f in columns.key]
    joined = source.join(table, same_key, "full_outer")
    found = (
        f"CASE WHEN `{_IN_TABLE}` IS NULL THEN 'only_in_source' WHEN `{_IN_SOURCE}` IS NULL THEN 'only_in_table' "
        f"WHEN {is_same_at_first_sight(columns.all)} THEN 'equal' ELSE '{_PERHAPS}' END"
    )
    flags = (READABLE, _LACKS_KEY, CONTRADICTED, _IN_SOURCE, _IN_TABLE)
    told = joined.selectExpr("*", f"{found} AS `{FOUND}`")
    kept = [name for name in joined.columns if name not in flags]
    # Of most rows nothing more is wanted: what is kept of them takes next to no room.
    return told.selectExpr(
        f"`{FOUND}`",
        *(f"`{flag}`" for flag in flags),
        *(f"{when(f'''`{FOUND}` <> 'equal' ''', f'`{name}`')} AS `{name}`" for name in kept),
    )


def _result(this: Verification, pairs: DataFrame) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """Counts, and the first differences; the second look is taken only where the first has found something."""
    found = _counted(this, pairs)
    differing = differing_pairs(pairs, this.columns, this.protection).persist() if found[_PERHAPS] else None
    try:
        different = differing.count() if differing else 0
        counts = {
            "items": this.export.manifest.item_count,
            "rows": found["rows"],
            "equal": found["equal"] + found[_PERHAPS] - different,
            "only_in_source": found["only_in_source"],
            "only_in_table": found["only_in_table"],
            "different": different,
            # An item that meets two rows of its key is joined twice.
            "surplus": found["items"] - this.export.manifest.item_count,
        }
        return counts, _shown(this, pairs, differing, counts) if difference_count(counts) else []
    finally:
        if differing:
            differing.unpersist()


def _counted(this: Verification, pairs: DataFrame) -> dict[str, int]:
    """What first sight has found; refuses an export that is not what its manifest says."""
    outcomes = ("equal", "only_in_source", "only_in_table", _PERHAPS)
    row: Any = pairs.agg(
        *(F.count_if(F.col(FOUND) == name).alias(name) for name in outcomes),
        F.count(_IN_SOURCE).alias("items"),
        F.count(_IN_TABLE).alias("rows"),
        F.count_if(~F.col(READABLE)).alias("unreadable"),
        F.count_if(F.col(READABLE) & F.col(_LACKS_KEY)).alias("lacking"),
        F.count(CONTRADICTED).alias("contradicting"),
    ).first()
    found: dict[str, int] = row.asDict()
    check_items(this.spark, this.order, this.export, found, lambda of: _typed(this, of), this.columns.key)
    return found


def differing_pairs(pairs: DataFrame, columns: Columns, protection: Protection = UNPROTECTED) -> DataFrame:
    """The pairs that differ by meaning, with ``#wrong``."""
    item = "concat('{\"M\":', `#inside`, '}')"
    kept = f"coalesce(map_keys(`{of_table(MISFITS)}`), cast(array() AS array<string>))"
    perhaps = protection.items_text(pairs.where(f"`{FOUND}` = '{_PERHAPS}'"), "`#line`", "#inside")
    looked_at = perhaps.selectExpr("*", f"{item} AS `#text`", f"{kept} AS `#kept`")
    wrong = looked_at.selectExpr("*", f"{wrong_places(columns.all)} AS `{_WRONG}`")
    return wrong.where(f"size(`{_WRONG}`) > 0").withColumn(FOUND, F.lit("different"))


def _shown(
    this: Verification, pairs: DataFrame, differing: DataFrame | None, counts: dict[str, int]
) -> list[dict[str, Any]]:
    """The first differences by key: key, what was found, and the values of both sides where they differ."""
    columns = this.columns
    key = [f"coalesce(`{of_source(f.name)}`, `{of_table(f.name)}`)" for f in columns.key]
    alone = pairs.where(f"`{FOUND}` IN ('only_in_source', 'only_in_table')")
    frames = [alone.selectExpr(*_heading(columns.key, key), _NO_VALUES)]
    if differing:
        frames.append(differing.selectExpr(*_heading(columns.key, key), f"{shown_values(columns.all)} AS `values`"))
    if counts["surplus"]:
        frames.append(_surplus(this))
    first = [row for frame in frames for row in frame.orderBy("key").limit(MOST_SHOWN).collect()]
    return [row.asDict(recursive=True) for row in sorted(first, key=lambda row: row["key"])[:MOST_SHOWN]]


def _heading(fields: Sequence[Field], cells: Sequence[Sql]) -> tuple[Sql, Sql]:
    parts = ", ".join(f"{literal(field.attribute)}, {cell}" for field, cell in zip(fields, cells))
    return f"to_json(named_struct({parts})) AS key", f"`{FOUND}` AS found"


def _surplus(this: Verification) -> DataFrame:
    """Keys that several rows of the table have."""
    names = [field.name for field in this.columns.key]
    several = this.rows.groupBy(*names).count().where("count > 1").withColumn(FOUND, F.lit("surplus"))
    heading = _heading(this.columns.key, [f"`{name}`" for name in names])
    return several.selectExpr(*heading, _NO_VALUES)
