"""Files of a table that somebody has removed, as by purging another table of the same files: found once a job has met it."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipeline.errors import RebuildNeeded, TableFilesMissing
from spark.iceberg.table import Table

#: What Iceberg raises of a file that is not there, and where it was to be.
_GONE = re.compile(r"iceberg\.exceptions\.NotFoundException: [^:\n]+: (.+)")


def missing_file(spark: SparkSession, table: Table, failure: Exception) -> RebuildNeeded | TableFilesMissing | None:
    """The refusal of a table that still needs a file which a failure has missed; None for other failures.

    What the table needs no more, as after maintenance of somebody's meanwhile, the next try does not miss.
    """
    gone = _gone(failure)
    if not gone:
        return None
    try:
        table.state()  # so that Spark sees the table as it is now
        is_needed = spark.table(f"{table.sql_name}.files").where(F.col("file_path") == gone).limit(1).collect()
    except Py4JJavaError as again:
        # Nothing can be written beside what is not known either.
        gone = _gone(again)
        return TableFilesMissing(f"{_said(table, gone)}, which says what the table holds") if gone else None
    remedy = "Bring the file back, or replace the table's content by a new full export: no setting is at fault."
    return RebuildNeeded(_said(table, gone), remedy) if is_needed else _missing_of_earlier(spark, table, gone)


def is_of_expired(spark: SparkSession, table: Table, failure: Exception) -> bool:
    """Whether a failure has missed a file that no snapshot of the table needs, which are fewer by now."""
    return bool(_gone(failure)) and missing_file(spark, table, failure) is None


def _missing_of_earlier(spark: SparkSession, table: Table, gone: str) -> TableFilesMissing | None:
    """The refusal of a table of which only earlier snapshots need a file, one that lists others; None where none does."""
    needing = (
        spark.table(f"{table.sql_name}.all_manifests").where(F.col("path") == gone).select("reference_snapshot_id")
    )
    try:
        ids = {row[0] for row in needing.collect()}
    except Py4JJavaError as again:
        # These are in lists of their own, one for each snapshot.
        gone = _gone(again)
        ids = {one["snapshot-id"] for one in table.metadata()["snapshots"] if one.get("manifest-list") == gone}
    if not ids:
        return None
    (catalog, _, name), those = table.sql_name.partition("."), ", ".join(map(str, sorted(ids)))
    remedy = (
        "What the table shows now is whole. Bring the file back, or let the snapshots go that need it, in a Spark shell: "
        f"CALL {catalog}.system.expire_snapshots(table => '{name}', snapshot_ids => array({those}), older_than => TIMESTAMP "
        "'1970-01-01 00:00:00'). It may miss the file as well, and has let them go all the same. Or wait until they expire."
    )
    return TableFilesMissing(f"somebody has removed a file that earlier snapshots of {table.name} need: {gone}", remedy)


def _gone(failure: Exception) -> str:
    found = _GONE.search(str(failure)) if isinstance(failure, Py4JJavaError) else None
    return found[1] if found else ""


def _said(table: Table, gone: str) -> str:
    return f"somebody has removed a file that {table.name} needs: {gone}"
