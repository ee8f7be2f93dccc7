"""An Iceberg table in a folder: what a person says of it, what it says of itself, and the orders for jobs on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from local.failed import Failed, unwritable
from local.found_exports import FoundExport
from local.hadoop_catalog import location, read_metadata
from local.held import held
from local.session import CATALOG, make_writable, run_order
from pipeline.columns.declared.overrides import NO_OVERRIDES, Overrides
from pipeline.columns.in_table.table_columns import has_key
from pipeline.errors import KeyMismatch, PipelineError, WatermarkMissing
from pipeline.identity import KeyAttribute, SourceTable
from pipeline.job_order import JobOrder
from pipeline.settings import TableSettings
from pipeline.table.marker import Marker, TableState, read_table_state


@dataclass(frozen=True)
class LocalTable:
    """``namespace.name`` in a Hadoop catalog below `warehouse`, and the source table's key, where a job needs it.

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
    def state(self) -> TableState:
        """What the table says of itself, read from the newest metadata file of the Hadoop catalog."""
        return read_table_state(self._metadata)

    @property
    def marker(self) -> Marker:
        """The newest marker of a table that was made before. Raises WatermarkMissing."""
        if found := self.state.marker:
            return found
        raise WatermarkMissing(f"{self.folder} holds no table with a watermark", "Make it by a replay first.")

    def check_key(self) -> None:
        """Refuse another key than the table's rows are found by. Raises KeyMismatch."""
        metadata = self._metadata
        if metadata and not has_key(metadata, self.key):
            typed = ", ".join(map(str, self.key))
            raise KeyMismatch(
                f"the rows of {self.folder} are not found by the key {typed}",
                "Check --key: every attribute of the source table's key, the partition key first. If the table was made "
                "with a wrong one, remove its folder and replay again.",
            )

    @property
    def _metadata(self) -> dict[str, object]:
        """The content of the table's newest metadata file; empty where there is no table.

        Raises Failed where the table lies elsewhere by its own word: its jobs would write there, and remove files.
        """
        metadata = read_metadata(self.folder)
        if metadata and location(metadata).resolve() != self.folder.resolve():
            raise Failed(
                f"{self.folder} is a copy, or was moved: the table's files are those of {location(metadata)}, for it names "
                "them by their whole paths. Move it back, or use the one that is there. Or remove this folder and replay "
                "again: that makes the table anew from a full export."
            )
        return metadata

    def order(
        self,
        job: str,
        job_id: str,
        source: SourceTable,
        start: datetime,
        end: datetime,
        exports: Sequence[FoundExport] = (),
    ) -> JobOrder:
        """The order of a job on the table; its report goes beside the table."""
        return JobOrder(
            job=job,
            job_id=job_id,
            table=f"{CATALOG}.{self.namespace}.{self.name}",
            source=source,
            exports=tuple(export.uri for export in exports),
            start=start,
            end=end,
            buckets=TableSettings.buckets,
            columns=self.columns,
            compare_old_images=self.compare_old_images,
            report_uri=self.report(job_id).as_uri(),
        )

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other commands from changing the table until this ends. Raises Failed where one of them is at it.

        A catalog that is nothing but folders lets two commit over each other.
        """
        make_writable(self.warehouse)
        file = self.warehouse / ".held" / self.namespace / self.name
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            hold = held(file)
        except OSError as failed:
            raise Failed(unwritable(file, failed, "warehouse")) from failed
        if hold is None:
            raise Failed(
                f"Another command is changing {self.folder}: wait until it has ended, and start this one again."
            )
        with hold:
            yield

    def run(self, spark: SparkSession, order: JobOrder) -> dict[str, Any]:
        """Carry out an order on the table; returns the job's report. Raises PipelineError, with a note where that lies."""
        try:
            return run_order(spark, order, self.secret)
        except PipelineError as refused:
            refused.add_note(self.report_line(order.job_id))
            raise

    def report_line(self, job_id: str) -> str:
        """The line that tells a person where the report of a job lies."""
        return f"Report: {self.report(job_id)}"

    def report(self, job_id: str) -> Path:
        """Where the report of a job on the table lies. Of two tables of one source, jobs may have the same id."""
        return self.warehouse.resolve() / ".reports" / self.namespace / self.name / f"{job_id.replace(':', '')}.json"
