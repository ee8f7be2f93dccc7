"""What a job committed, told again from its commit: for a job that ended before it could write its report."""

from __future__ import annotations

from pyspark.sql import functions as F

from pipeline.column_names import WRITE_TIME
from pipeline.instants import format_instant
from pipeline.job_order import JobOrder
from pipeline.marker import Marker, commit_of
from pipeline.new_columns import new_columns
from spark import accounting
from spark.profiles import exploded
from spark.report import ALREADY_THERE, Committed, listed_misfits
from spark.table import Table


def committed_earlier(table: Table, order: JobOrder) -> Committed:
    """What the table tells of an order that was carried out: nothing but that, where another job did it.

    Of a backfill, the misfits are those of all rows that changed in its stretch.
    """
    found = commit_of(table.metadata(), order.job_id)
    marker = Marker.from_properties(found[0]["summary"]) if found else None
    if found is None or marker is None:
        return Committed(counts={}, outcome=ALREADY_THERE)
    snapshot, before = found
    columns = table.columns_at(snapshot["snapshot-id"])
    misfits = []
    if marker.counts.get("misfits"):
        rows, key = table.rows_at(snapshot["snapshot-id"]), [field.name for field in columns.key]
        if order.job != "load":
            rows = rows.where(F.col(WRITE_TIME) >= F.lit(format_instant(order.start)).cast("timestamp"))
        misfits = listed_misfits(exploded(rows, key))
    return Committed(
        counts=marker.counts,
        new_columns=new_columns(table.columns_at(before), columns) if before else [],
        misfits=misfits,
        continuity="" if order.job == "load" else accounting.continuity(marker.counts, snapshot["summary"]),
        outcome=ALREADY_THERE,
    )
