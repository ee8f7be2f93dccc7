"""Verify: a full export at the watermark against the table as it was at that watermark, key by key.

The items become rows by the expressions of the load and are joined once with the table's. Rows that are equal at first
sight are only counted; the others are looked at again by meaning (`spark.verifying.sameness`). Nothing is changed, and nothing is
collected but counts and the first differences.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.columns.in_table.field_ids import check_readable, columns_at
from pipeline.columns.in_table.odd_names import check_carried
from pipeline.columns.in_table.table_columns import Columns, columns_of
from pipeline.errors import VerificationFailed
from pipeline.instants import format_instant
from pipeline.job_order import JobOrder
from pipeline.table.guard import check_key, compared_snapshot
from pipeline.table.snapshots import row_count
from pipeline.table.verification import accounted, difference_count, named, told
from spark.exports.reading import Export, read_exports, verify_data_files
from spark.exports.records import WEIGHT, items, weighed_lines
from spark.hiding.hidden_alike import check_hidden_alike
from spark.hiding.missed_rules import CONTRADICTED
from spark.hiding.protection import UNPROTECTED, Protection
from spark.iceberg.table import Table
from spark.iceberg.writable import without_requirements
from spark.refusals import Suspected, check_items
from spark.rows.keys import LACKS_KEY, lacks_key
from spark.rows.projection import ITEM, READABLE, rows_with_misfits, unreadable
from spark.shuffles import for_changes, shuffle_for
from spark.verifying import pairs
from spark.verifying.pairs import IN_SOURCE, IN_TABLE, LINE, PERHAPS


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

    Raises VerificationFailed with the differences, or what a load raises where the export is not whole; what a merge raises
    where the table is not at the order's instant, or is not there any more.
    """
    metadata = table.metadata()
    snapshot_id = compared_snapshot(metadata, order)
    check_key(metadata, order)
    metadata = without_requirements(table, metadata)
    check_readable(metadata, snapshot_id)
    # Those that readers have now: what they do not see of the snapshot, as after a rollback, is lost to them.
    columns = columns_of(metadata, order.source.key)
    check_carried(columns)
    # And those that its rows can have values in: a job may have made more of them ready since.
    then = columns_at(metadata, snapshot_id, order.source.key)
    check_hidden_alike(table.rows_at(snapshot_id), metadata, order.end, order, then, protection.fingerprint)
    (export,) = read_exports(spark, order)
    verify_data_files(spark, [export])
    shuffle_for(spark, for_changes([export.manifest], row_count(metadata)))
    this = Verification(spark, order, export, table.rows_at(snapshot_id), columns, protection)
    compared = compared_pairs(this).persist()
    try:
        counts, shown = _result(this, compared)
    finally:
        compared.unpersist()
    findings = {"snapshot_id": snapshot_id, "counts": counts, "result": told(counts), "differences": shown}
    if difference_count(counts):
        first = "\n".join(named(shown))
        message = f"{told(counts)} at {format_instant(order.end)}. {accounted(counts)}\nThe first:\n{first}"
        raise VerificationFailed(message, findings=findings)
    return findings


def compared_pairs(this: Verification) -> DataFrame:
    """The export's items beside the table's rows, with what is wrong with the items."""
    typed = _typed(this, weighed_lines(this.spark, this.export.files_with_records)).withColumn(READABLE, ~unreadable())
    flags = (READABLE, WEIGHT, LACKS_KEY, CONTRADICTED)
    cells = (f"{cell} AS `{name}`" for name, cell in pairs.source_cells(this.columns).items())
    source = typed.selectExpr(*cells, f"`{LINE}`", *(f"`{flag}`" for flag in flags), f"true AS `{IN_SOURCE}`")
    return pairs.compared(source, pairs.table_rows(this.rows, this.columns), this.columns, flags)


def _typed(this: Verification, of: DataFrame) -> DataFrame:
    found = this.protection.protected(items(of), ITEM)
    lacking = lacks_key(f"`{ITEM}`", this.order.source.key)
    also = [f"{lacking} AS `{LACKS_KEY}`", this.protection.contradicted(ITEM)]
    return rows_with_misfits(found, this.columns, also=also)


def _result(this: Verification, compared: DataFrame) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """Counts, and the first differences."""
    found = _counted(this, compared)
    with pairs.judged(compared, found, this.columns, this.protection) as judged:
        counts = {
            "items": this.export.manifest.item_count,
            "rows": found["rows"],
            "equal": found["equal"] + found[PERHAPS] - judged.different,
            "only_in_source": found["only_in_source"],
            "only_in_table": found["only_in_table"],
            "different": judged.different,
            # An item that meets two rows of its key is joined twice.
            "surplus": found["items"] - this.export.manifest.item_count,
        }
        if not difference_count(counts):
            return counts, []
        of_several = pairs.table_rows(this.rows, this.columns) if counts["surplus"] else None
        return counts, pairs.first_differences(compared, judged, this.columns, this.protection, of_several)


def _counted(this: Verification, compared: DataFrame) -> dict[str, int]:
    """What first sight has found; refuses an export that is not what its manifest says."""
    also = {
        "items": F.count(IN_SOURCE),
        WEIGHT: F.coalesce(F.sum(WEIGHT), F.lit(0)),
        "rows": F.count(IN_TABLE),
        "unreadable": F.count_if(~F.col(READABLE)),
        "lacking": F.count_if(LACKS_KEY),
        "contradicting": F.count(CONTRADICTED),
    }
    found = pairs.counted(compared, also)
    suspected = Suspected(this.spark, this.order, [this.export], lambda of: _typed(this, of), this.columns.key)
    check_items(suspected, found)
    return found
