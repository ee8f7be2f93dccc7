"""Maintain: put the files of a table in order, every row as it is.

Snapshots older than the order keeps go with the files that only they refer to, and so do files that no snapshot knows,
which jobs that died have left; neither where somebody has set the table to keep them. Small files are written together,
with the rows left out that delete files hide; large files only where much of them is hidden, so that the cost follows what
has changed. Each step may be repeated: who is killed between them has done a part, and whoever comes next does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import Row, SparkSession

from pipeline.columns.in_table.field_ids import check_shown
from pipeline.instants import format_instant
from pipeline.job_order import JobOrder
from pipeline.table.guard import check_follows
from pipeline.table.maintenance import may_remove, oldest_kept
from pipeline.table.marker import JOB, JOB_ID, MAINTAINED, read_table_state
from spark.hiding.protection import Protection
from spark.iceberg.commits import undisturbed
from spark.iceberg.former_partitions import without_former_partitions
from spark.iceberg.missing_files import is_of_expired
from spark.iceberg.table import Table
from spark.iceberg.writable import writable
from spark.shuffles import for_files, shuffle_for

_AT_ONCE = "max-concurrent-file-group-rewrites"
#: The id that Iceberg's specification gives to the column of delete files with the path of the file that rows are hidden in.
_PATH_OF_DELETED = 2_147_483_546
_BUCKET = "bucket["
#: How Iceberg's paths of partitions write a value that is null, as buckets of other columns than the key may be.
_NULL = "__HIVE_DEFAULT_PARTITION__"


def maintain(spark: SparkSession, order: JobOrder, table: Table, _protection: Protection) -> dict[str, Any]:
    """Carry it out; returns the counts that `pipeline.table.maintenance` names, and the snapshot it has led to.

    Rows are written as they are: there is nothing to protect.

    Raises what a merge raises where the table is not at the order's instant, shows columns that it no longer has, or is
    changed by somebody else meanwhile.
    """
    metadata = table.metadata()
    check_follows(read_table_state(metadata), order)
    # Files are written anew with the columns that the table has now.
    check_shown(metadata)
    metadata = without_former_partitions(table, writable(table, metadata))
    counts = undisturbed(table, order, lambda: _put_in_order(spark, order, table, metadata))
    return {"snapshot_id": table.snapshot_id(), "counts": counts}


def _put_in_order(spark: SparkSession, order: JobOrder, table: Table, metadata: Mapping[str, Any]) -> dict[str, int]:
    # Before anything else: if this fails, it is not tried again at once.
    table.remember({MAINTAINED: format_instant(order.end)})
    shuffle_for(spark, for_files(table.summary()))
    # A whole table, of a load that nobody has finished.
    table.drop_leftovers()
    # What is written together makes nothing older: so whatever comes of that, what is too old goes.
    gone = _let_go(spark, order, table, metadata) if may_remove(metadata) else {}
    written = _written_together(spark, order, table)
    # Several snapshots lie on top of the marker now, and somebody else may let all go but the newest.
    table.settle()
    return {**written, **gone}


def _let_go(spark: SparkSession, order: JobOrder, table: Table, metadata: Mapping[str, Any]) -> dict[str, int]:
    """Let go of the snapshots that are too old, and of files that no snapshot knows."""
    expired = _expired(spark, order, table, metadata)
    orphans = _actions(spark).deleteOrphanFiles(table.java()).usePrefixListing(True).execute()
    return {**expired, "orphans_removed": _size(spark, orphans.orphanFileLocations())}


def _written_together(spark: SparkSession, order: JobOrder, table: Table) -> dict[str, int]:
    """Write small files together, let go of the delete files that they needed, and write the lists of files together."""
    # As many buckets at once as there are processors: mostly a bucket's small files are one task.
    at_once = str(spark.sparkContext.defaultParallelism)
    deletes = _delete_files(table)
    done = _executed(_actions(spark).rewriteDataFiles(table.java()).option(_AT_ONCE, at_once), order)
    if dangling := _dangling(spark, table):
        _removed(spark, order, table, dangling)
    _executed(_actions(spark).rewriteManifests(table.java()), order)
    return {
        "files_rewritten": int(done.rewrittenDataFilesCount()),
        "files_written": int(done.addedDataFilesCount()),
        "bytes_rewritten": int(done.rewrittenBytesCount()),
        # Of some the rewriting itself let go.
        "delete_files_removed": deletes - _delete_files(table),
    }


def _executed(action: Any, order: JobOrder) -> Any:
    for name, value in _said(order).items():
        action = action.snapshotProperty(name, value)
    return action.execute()


def _said(order: JobOrder) -> dict[str, str]:
    """What the commits say: whose they are, not where the table is.

    Should somebody else commit in between, these come after that and say nothing wrong.
    """
    return {JOB: order.job, JOB_ID: order.job_id}


def _delete_files(table: Table) -> int:
    """How many the table has, by its newest snapshot."""
    return int(table.summary().get("total-delete-files", 0))


def _dangling(spark: SparkSession, table: Table) -> list[Row]:
    """The delete files whose data file the table no longer has: path and partition of each.

    Iceberg's own action passes over them (apache/iceberg#17203), and to write delete files anew fails in tables with a map
    (#14619). Spark writes a delete file for one data file, whose path is then both bounds of the paths in it. Where
    somebody has given the table other partitions, they stay: they hide nothing.
    """
    spec = table.java().spec()
    if not all(field.transform().toString().startswith(_BUCKET) for field in spec.fields()):
        return []
    path, last = (f"CAST(d.{bounds}[{_PATH_OF_DELETED}] AS STRING)" for bounds in ("lower_bounds", "upper_bounds"))
    ours = f"{path} = {last} AND d.spec_id = {spec.specId()}"
    # Of a table that has none, and knows none of before, Iceberg shows none.
    place = ", d.partition" if spec.isPartitioned() else ""
    return spark.sql(
        f"SELECT d.file_path{place} FROM {table.sql_name}.delete_files d "  # noqa: S608 - no data
        f"LEFT ANTI JOIN {table.sql_name}.data_files f ON f.file_path = {path} WHERE {ours}"
    ).collect()


def _removed(spark: SparkSession, order: JobOrder, table: Table, dangling: Sequence[Row]) -> None:
    """Take delete files out of the table, in one commit; only their paths and partitions count for that."""
    java = table.java()
    commit, spec = java.newRewrite(), java.spec()
    names = [field.name() for field in spec.fields()]
    for file in dangling:
        values = ((name, file["partition"][name]) for name in names)
        place = "/".join(f"{name}={_NULL if value is None else value}" for name, value in values)
        described = spark._jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(spec).ofPositionDeletes()
        described = described.withPath(file["file_path"]).withPartitionPath(place)
        commit.deleteFile(described.withFileSizeInBytes(0).withRecordCount(0).build())
    for name, value in _said(order).items():
        commit.set(name, value)
    commit.commit()


def _expired(spark: SparkSession, order: JobOrder, table: Table, metadata: Mapping[str, Any]) -> dict[str, int]:
    """Let go of the snapshots that the order does not keep."""
    oldest, there = oldest_kept(metadata, order.end, timedelta(days=order.snapshot_days)), metadata["snapshots"]
    if oldest is None or all(one["timestamp-ms"] >= oldest for one in there):
        return {"snapshots_expired": 0, "files_expired": 0}
    files = 0
    try:
        found = (
            _actions(spark).expireSnapshots(table.java()).expireOlderThan(oldest).cleanExpiredMetadata(True).execute()
        )
        files = int(found.deletedDataFilesCount() + found.deletedPositionDeleteFilesCount())
    except Py4JJavaError as failure:
        # The snapshots go before their files are looked for. What lists those is gone: the rest of them are orphans now.
        if not is_of_expired(spark, table, failure):
            raise
    return {"snapshots_expired": len(there) - _size(spark, table.java().snapshots()), "files_expired": files}


def _actions(spark: SparkSession) -> Any:
    return spark._jvm.org.apache.iceberg.spark.actions.SparkActions.get(spark._jsparkSession)


def _size(spark: SparkSession, of_java: Any) -> int:
    """How many there are of something that Java can go through."""
    iterables = spark._jvm.org.apache.iceberg.relocated.com.google.common.collect.Iterables
    return int(iterables.size(of_java))
