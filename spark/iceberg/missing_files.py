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
    return RebuildNeeded(_said(table, gone), remedy) if is_needed else None


def _gone(failure: Exception) -> str:
    found = _GONE.search(str(failure)) if isinstance(failure, Py4JJavaError) else None
    return found[1] if found else ""


def _said(table: Table, gone: str) -> str:
    return f"somebody has removed a file that {table.name} needs: {gone}"
