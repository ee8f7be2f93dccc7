"""What a job committed, told again from its commit: for a job that ended before it could write its report."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from pipeline.job_kinds import LOAD
from pipeline.job_order import JobOrder
from pipeline.run_reports import ALREADY_THERE
from pipeline.table.continuity import continuity
from pipeline.table.marker import Marker, commit_of
from spark.drift import drifted
from spark.iceberg.table import Table
from spark.report import Committed
from spark.rows.table_rows import changed_since

log = logging.getLogger(__name__)


def committed_earlier(table: Table, order: JobOrder) -> Committed:
    """What the table tells of an order that was carried out: nothing but that, where another job did it.

    Of a backfill, the misfits and the values of new columns are those of all rows that changed in its stretch. Values of
    new columns that are misfits are not counted among theirs, and a table that was replaced for another type of its key
    shows nothing of the columns before. Attributes that items no longer have, only images tell of. Texts that are of another
    kind now are not told from those before. Where its rows cannot be looked at, it is the counts alone.
    """
    found = commit_of(table.metadata(), order.job_id)
    marker = Marker.from_properties(found[0]["summary"]) if found else None
    if found is None or marker is None:
        return Committed(counts={}, outcome=ALREADY_THERE)
    snapshot, earlier = found
    try:
        told = _drift(table, order, snapshot["snapshot-id"], earlier, marker.counts)
    except (Py4JJavaError, PySparkException):
        # What was counted matters most, and a report that says nothing of columns more than none.
        log.exception("%s: its rows cannot be looked at", order.job_id)
        told = Committed(marker.counts)
    doubt = "" if order.job == LOAD else continuity(marker.counts, snapshot["summary"])
    return replace(told, continuity=doubt, outcome=ALREADY_THERE)


def _drift(table: Table, order: JobOrder, snapshot: int, earlier: int | None, counts: Mapping[str, int]) -> Committed:
    rows, columns = table.rows_at(snapshot), table.columns_at(snapshot)
    if order.job != LOAD:
        rows = changed_since(rows, order.start)
    return drifted(rows, table.columns_at(earlier) if earlier else columns, columns, counts)
