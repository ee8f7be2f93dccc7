"""Replay: apply a folder of real exports to a local Iceberg table. No AWS at all.

The folder is a mirror of the export bucket. Every complete export under any ``AWSDynamoDB/`` in it is found, the chain
is checked before anything is applied, and only what is new is applied, by the very jobs that run on EMR Serverless.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from local import java
from local.chain import Chain, FoundExport, chain_for
from local.hadoop_catalog import newest_metadata
from local.spark_jars import LOCAL_FILE_SYSTEM
from pipeline.errors import KeyMismatch, ManifestUnreadable, WatermarkMissing
from pipeline.identity import KeyAttribute, SourceTable
from pipeline.instants import format_instant
from pipeline.job_order import JobOrder
from pipeline.manifests import check_totals, parse_files, parse_summary, verify_md5
from pipeline.marker import NO_TABLE, TableState, read_table_state
from pipeline.overrides import NO_OVERRIDES, Overrides
from pipeline.table_columns import has_key

CATALOG = "local"
_BUCKETS = 16
#: Bytes of items. Of a handful, half the time is Java's second compiler; a load of 170 MB is a quarter quicker with it.
_LONG_LOAD = 50_000_000


@dataclass(frozen=True)
class ReplayTarget:
    """The table to apply to: ``namespace.name`` in a Hadoop catalog below `warehouse`, and the source table's key.

    `columns`, `compare_old_images`: as in the settings; `secret`: what hashes are keyed with.
    """

    namespace: str
    name: str
    key: tuple[KeyAttribute, ...]
    warehouse: Path
    columns: Overrides = NO_OVERRIDES
    secret: str = field(default="", repr=False)
    compare_old_images: bool = False

    @property
    def folder(self) -> Path:
        """Where the Hadoop catalog keeps the table."""
        return self.warehouse / self.namespace / self.name

    @property
    def identifier(self) -> str:
        """The table as a job order names it."""
        return f"{CATALOG}.{self.namespace}.{self.name}"


def replay(exports: Path, target: ReplayTarget) -> Iterator[dict[str, Any]]:
    """Apply what is new; gives each job's report once it has ended, none if there was nothing new.

    Raises PipelineError: the table is as the last job has left it.
    """
    found = find_exports(exports.resolve())
    state = table_state(target)
    if state.exists and state.marker is None:
        raise WatermarkMissing(f"{target.folder} holds a table without a watermark")
    check_key(target)
    source = source_of(found, state, target.key)
    chain = chain_for(found, source, state.watermark)
    if chain.is_empty:
        return
    spark = local_session(target.warehouse, is_bulk=is_long(chain.base))
    try:
        for order in _orders(chain, source, target):
            yield run_order(spark, order, target.secret)
    finally:
        spark.stop()


def find_exports(folder: Path) -> list[FoundExport]:
    """Every complete export below `folder`: its manifests are there, whole, and add up. Others are no exports yet."""
    found = []
    for summary in sorted(folder.rglob("AWSDynamoDB/*/manifest-summary.json")):
        _check_checksum(summary)
        manifest = parse_summary(str(summary), summary.read_bytes())
        files = summary.parent / Path(manifest.files_key).name
        if not files.is_file() or not str(files).endswith("/" + manifest.files_key):
            raise ManifestUnreadable(
                f"{summary} names {manifest.files_key}, which the mirror of the bucket does not hold"
            )
        _check_checksum(files)
        listed = parse_files(str(files), files.read_bytes())
        check_totals(manifest.with_files(listed))
        found.append(FoundExport(summary.as_uri(), manifest))
    if not found:
        raise ManifestUnreadable(f"{folder} holds no complete export (AWSDynamoDB/<id>/manifest-summary.json)")
    return found


def _check_checksum(file: Path) -> None:
    checksum = file.with_suffix(".md5")
    if checksum.is_file():
        verify_md5(str(file), file.read_bytes(), checksum.read_text())


def table_state(target: ReplayTarget) -> TableState:
    """What the table says of itself, read from the newest metadata file of the Hadoop catalog."""
    metadata = _metadata(target)
    return read_table_state(metadata) if metadata else NO_TABLE


def check_key(target: ReplayTarget) -> None:
    """Refuse another key than the table's rows are found by. Raises KeyMismatch."""
    metadata = _metadata(target)
    if metadata and not has_key(metadata, target.key):
        typed = ", ".join(map(str, target.key))
        raise KeyMismatch(
            f"the rows of {target.folder} are not found by the key {typed}",
            "Check --key: every attribute of the source table's key, the partition key first. If the table was made with a "
            "wrong one, remove its folder and replay again.",
        )


def _metadata(target: ReplayTarget) -> dict[str, object]:
    """The content of the table's newest metadata file; empty where there is no table."""
    newest = newest_metadata(target.folder)
    content: dict[str, object] = json.loads(newest.read_bytes()) if newest else {}
    return content


def source_of(found: Sequence[FoundExport], state: TableState, key: tuple[KeyAttribute, ...]) -> SourceTable:
    """The source the table follows; for a first load, the one that the exports are of."""
    if state.marker:
        return SourceTable(state.marker.source_arn, state.marker.source_id, key)
    first = found[0].manifest
    return SourceTable(first.source_arn, first.source_id, key)


def _orders(chain: Chain, source: SourceTable, target: ReplayTarget) -> list[JobOrder]:
    """One load if there is a base, one merge for all windows together."""
    orders = []
    if chain.base:
        at = chain.base.manifest.end
        orders.append(_order("load", (chain.base,), source, target, at, at))
    if chain.windows:
        start, end = chain.windows[0].manifest.start, chain.windows[-1].manifest.end
        orders.append(_order("merge", chain.windows, source, target, start, end))
    return orders


def _order(
    job: str, exports: Sequence[FoundExport], source: SourceTable, target: ReplayTarget, start: datetime, end: datetime
) -> JobOrder:
    arns = "|".join(export.manifest.export_arn for export in exports)
    job_id = f"replay-{job}-{format_instant(end)}-{hashlib.sha256(arns.encode()).hexdigest()[:16]}"
    return order_for(job, job_id, exports, source, target, start, end)


def order_for(
    job: str,
    job_id: str,
    exports: Sequence[FoundExport],
    source: SourceTable,
    target: ReplayTarget,
    start: datetime,
    end: datetime,
) -> JobOrder:
    """The order of a job on a local table; its report goes beside the table."""
    return JobOrder(
        job=job,
        job_id=job_id,
        table=target.identifier,
        source=source,
        exports=tuple(export.uri for export in exports),
        start=start,
        end=end,
        buckets=_BUCKETS,
        columns=target.columns,
        compare_old_images=target.compare_old_images,
        report_uri=(target.warehouse.resolve() / ".reports" / f"{job_id.replace(':', '')}.json").as_uri(),
    )


def is_long(export: FoundExport | None) -> bool:
    """Whether a full export is so long that making Java's code fast takes less time than it saves; windows never are.

    What DynamoDB bills for it are its bytes; for a window it bills 10 MB at least, which says nothing.
    """
    return export is not None and export.manifest.billed_bytes >= _LONG_LOAD


def local_session(
    warehouse: Path, catalog_name: str = CATALOG, cores: str = "*", *, is_bulk: bool = False
) -> SparkSession:
    """A Spark session of this process with a Hadoop catalog below `warehouse`. `is_bulk`: as `java.environment` has it."""
    jars = java.installed_jars()
    os.environ.update(java.environment(jars, *java.archive_options(jars), is_bulk=is_bulk))
    catalog = f"spark.sql.catalog.{catalog_name}"
    return (
        SparkSession.builder.master(f"local[{cores}]")
        .appName("replay")
        .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
        .config(catalog, "org.apache.iceberg.spark.SparkCatalog")
        .config(f"{catalog}.type", "hadoop")
        # The characters as they are: Iceberg would take %20 for a part of the folder's name.
        .config(f"{catalog}.warehouse", f"file://{warehouse.resolve()}")
        .config("spark.hadoop.fs.file.impl", LOCAL_FILE_SYSTEM)
        .config("spark.driver.extraClassPath", java.before_spark())
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g")
        # For what is no job's, which says itself how many it needs: 200 tasks take a minute on a laptop whatever the data.
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )


def run_order(spark: SparkSession, order: JobOrder, secret: str) -> dict[str, Any]:
    """Carry out an order in this process; returns the job's report. Raises PipelineError."""
    # The jobs are what is shipped to EMR; they are imported here, in the one place that runs them in process.
    from spark.job import run

    return run(spark, order, secret)
