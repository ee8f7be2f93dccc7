"""For how many tasks the shuffles of a job are made: as many as its rows need, whatever the session was told.

Spark's 200 suit few jobs. Where rows are kept (`spark.caching`), Spark 3.5 never joins small parts to larger ones
(SPARK-46995), and a task that makes typed rows takes a tenth of a second before its first: of 5,000 changes, 200 tasks
take three times as long as the whole merge. Of very many rows, 200 parts may each be more than an executor holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.sql import SparkSession

from pipeline.exports.manifests import ExportManifest
from pipeline.exports.windows import SMALLEST_INCREMENTAL

_TASKS = "spark.sql.shuffle.partitions"
_JOINS_SMALL = "spark.sql.adaptive.coalescePartitions.enabled"
_PLANS_AGAIN = "spark.sql.adaptive.enabled"
_KEYS_IN_MEMORY = "spark.sql.objectHashAggregate.sortBased.fallbackThreshold"
_FEWEST_KEYS = 128
#: How many times as long DynamoDB JSON is unpacked, at the most that was seen of records that are much alike.
_UNPACKED = 20
#: Few enough for a small merge: each task that makes typed rows prepares its expressions first, whatever it then does.
FEWEST = 2
#: What is written is a file or two a bucket, and S3 takes its time for each: so many tasks share them at least.
FEWEST_WRITERS = 4
#: Records, or bytes of DynamoDB JSON, that keep a task busy for some seconds.
RECORDS, BYTES = 25_000, 64_000_000
#: The same of rows of the table, of which only the key and the write time are looked at.
ROWS_OF_TABLE = 4_000_000
#: Rows go by the hash of their bucket. With more parts than buckets, few buckets share one, and rows that lie sorted by
#: bucket are written in two thirds of the time; Spark makes fewer tasks of the parts, by their size.
PARTS_OF_A_BUCKET = 4


def for_load(buckets: int) -> int:
    """Into how many parts the rows of a load go before they are written."""
    return max(FEWEST_WRITERS, PARTS_OF_A_BUCKET * buckets)


def for_changes(manifests: Iterable[ExportManifest], rows: int) -> int:
    """How many tasks are busy with the records of exports and so many rows of the table, of which they meet the keys."""
    # One number for both: what is kept lies in the tasks it was made in, and Spark brings the table's keys there.
    records = billed = 0
    for manifest in manifests:
        records += manifest.item_count
        # What is billed for a window at least says nothing of what is in it.
        billed += max(manifest.billed_bytes - (0 if manifest.is_full else SMALLEST_INCREMENTAL), 0)
    return max(FEWEST, -(-records // RECORDS), -(-billed // BYTES), -(-rows // ROWS_OF_TABLE))


def for_files(summary: Mapping[str, str]) -> int:
    """How many tasks are busy with the lists of a table's files. `summary`: of its newest snapshot."""
    files = int(summary.get("total-data-files", 0)) + int(summary.get("total-delete-files", 0))
    return max(FEWEST, -(-files // RECORDS))


def shuffle_for(spark: SparkSession, tasks: int, *, joins_small: bool = True, plans_again: bool = True) -> None:
    """Make the shuffles that are planned from now on for so many tasks.

    `joins_small`: fewer where there is little in them. `plans_again`: what follows a shuffle is planned anew, once it is
    known how much is in it.
    """
    spark.conf.set(_TASKS, tasks)
    spark.conf.set(_JOINS_SMALL, str(joins_small).lower())
    spark.conf.set(_PLANS_AGAIN, str(plans_again).lower())


def gather_for(spark: SparkSession, records: int, packed: int) -> None:
    """Let as many keys be gathered in memory as a task has room for; with more of them Spark sorts all of its records.

    `packed`: the bytes of the records' files. Spark's own measure, 128 keys, is for whoever knows nothing of their size.
    """
    each = max(1, _UNPACKED * packed // max(1, records))
    spark.conf.set(_KEYS_IN_MEMORY, max(_FEWEST_KEYS, min(RECORDS, BYTES // each)))


def share_writing(spark: SparkSession) -> None:
    """Make what is written from now on for FEWEST_WRITERS tasks at least; rows that are kept stay in the tasks they are in."""
    spark.conf.set(_TASKS, max(FEWEST_WRITERS, int(spark.conf.get(_TASKS))))
