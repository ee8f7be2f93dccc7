"""A small source table, its exports on disk, and the Iceberg table that the jobs make of them, for the Spark tests."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from pyiceberg.table import Table
from pyspark.sql import SparkSession

from local.aws.pitr.offline import Delete, FullExport, IncrementalExport, Put, WrittenExport, journal_of, write_exports
from local.hadoop_catalog import read_metadata
from local.reader import compare, read_folder, rows
from pipeline.columns.declared.overrides import NO_OVERRIDES, Overrides
from pipeline.exports.windows import ExportWindow
from pipeline.identity import KeyAttribute, SourceTable
from pipeline.instants import format_instant
from pipeline.job_order import JobOrder
from pipeline.table.marker import NO_TABLE, TableState, read_table_state
from spark.job import run

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/orders"
BOTH_IMAGES, NEW_ONLY = "NEW_AND_OLD_IMAGES", "NEW_IMAGE"

Item = Mapping[str, Mapping[str, Any]]


class Killed(BaseException):
    """The end of a job that is killed: nothing of it is carried out any more."""


def killed(*_: Any) -> None:
    """What a job comes to when it is killed."""
    raise Killed


def minute(count: float) -> datetime:
    """So many minutes after noon."""
    return NOON + timedelta(minutes=count)


def window(start: float, end: float) -> ExportWindow:
    """The window between two minutes."""
    return ExportWindow(minute(start), minute(end))


def as_written(value: Any) -> Any:
    """DynamoDB JSON as exports have it: bytes as base64."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return {name: as_written(inner) for name, inner in value.items()}
    return [as_written(inner) for inner in value] if isinstance(value, list) else value


@dataclass
class Shop:
    """A source table with a history, and the table that follows it. Items are DynamoDB JSON with bytes as bytes."""

    spark: SparkSession
    folder: Path
    warehouse: Path
    name: str
    key: tuple[KeyAttribute, ...] = (KeyAttribute("pk", "S"),)
    table_id: str = "0b9ff8a2-0000-4000-8000-000000000001"
    writes: list[Put | Delete] = field(default_factory=list)
    view: str = BOTH_IMAGES
    oddities: tuple[str, ...] = ()
    compare_old_images: bool = False
    columns: Overrides = NO_OVERRIDES
    secret: str = field(default="", repr=False)
    orders: int = 0

    @property
    def source(self) -> SourceTable:
        """The source table's identity."""
        return SourceTable(ARN, self.table_id, self.key)

    def put(self, at: float, *items: Item) -> None:
        """Write whole items at a minute."""
        self.writes += [Put(minute(at), as_written(item)) for item in items]

    def delete(self, at: float, *keys: Item) -> None:
        """Delete items at a minute."""
        self.writes += [Delete(minute(at), as_written(key)) for key in keys]

    def export(self, *requests: FullExport | IncrementalExport, **options: Any) -> list[WrittenExport]:
        """Write exports to the folder that mirrors the bucket."""
        journal = journal_of(self.source, enabled_at=NOON, writes=sorted(self.writes, key=lambda w: w.at))
        return write_exports(self.folder, self.source, journal, requests, **{"oddities": self.oddities, **options})

    def full(self, at: float, **options: Any) -> JobOrder:
        """Export everything at a minute; the order to load it."""
        (export,) = self.export(FullExport(minute(at)), **options)
        return self.order("load", [export], minute(at), minute(at))

    def windows(self, *bounds: float, job: str = "merge", **options: Any) -> JobOrder:
        """Export the touching windows that the minutes bound; the order to merge them all."""
        requests = [IncrementalExport(window(*pair), self.view) for pair in pairwise(bounds)]
        return self.order(job, self.export(*requests, **options), minute(bounds[0]), minute(bounds[-1]))

    def order(self, job: str, exports: list[WrittenExport], start: datetime, end: datetime) -> JobOrder:
        """An order under an id of its own."""
        self.orders += 1
        return JobOrder(
            job=job,
            job_id=f"{job}-{self.orders}",
            table=f"glue.shop.{self.name}",
            source=self.source,
            exports=tuple(export.summary.as_uri() for export in exports),
            start=start,
            end=end,
            buckets=4,
            report_uri=(self.folder / "runs" / f"{job}-{self.orders}.json").as_uri(),
            columns=self.columns,
            compare_old_images=self.compare_old_images,
        )

    def load(self, at: float, **options: Any) -> dict[str, Any]:
        """Export everything at a minute and load it; the report."""
        return self.run(self.full(at, **options))

    def merge(self, *bounds: float, **options: Any) -> dict[str, Any]:
        """Export windows and merge them; the report."""
        return self.run(self.windows(*bounds, **options))

    def maintenance(self, at: float, **said: Any) -> JobOrder:
        """The order to put the table's files in order, at its watermark."""
        return replace(self.order("maintain", [], minute(at), minute(at)), **said)

    def maintain(self, at: float, **said: Any) -> dict[str, Any]:
        """Put the table's files in order; the report."""
        return self.run(self.maintenance(at, **said))

    def run(self, order: JobOrder) -> dict[str, Any]:
        """Carry out an order; the report."""
        return run(self.spark, order, self.secret)

    def lose(self, pk: str) -> None:
        """Somebody deletes a row of the table."""
        self.change("DELETE FROM TABLE WHERE pk = 'PK'", PK=pk)

    def copy(self, pk: str, other: str) -> None:
        """Somebody writes a row of the table once more, under the same key or another."""
        others = ", ".join(f"`{name}`" for name in self.spark.table(f"glue.shop.{self.name}").columns if name != "pk")
        self.change(
            "INSERT INTO TABLE (pk, OTHERS) SELECT 'OTHER', OTHERS FROM TABLE WHERE pk = 'PK'",
            OTHERS=others,
            OTHER=other,
            PK=pk,
        )

    def change(self, statement: str, **parts: str) -> None:
        """Run a statement of SQL behind the pipeline's back. TABLE in it is the table, and so on for each part."""
        for mark, text in {**parts, "TABLE": f"glue.shop.{self.name}"}.items():
            statement = statement.replace(mark, text)
        self.spark.sql(statement)

    def roll_back(self, snapshot: int) -> None:
        """Somebody takes the table back to an earlier snapshot."""
        self.spark.sql(f"CALL glue.system.rollback_to_snapshot('glue.shop.{self.name}', {snapshot})")

    def items(self, at: float) -> list[Item]:
        """What the source table held at a minute, by its own history."""
        held: dict[str, Item] = {}
        for write in sorted(self.writes, key=lambda w: w.at):
            if write.at >= minute(at):
                break
            item = write.item if isinstance(write, Put) else write.key
            name = json.dumps([item[part.name] for part in self.key])
            held.pop(name, None)
            if isinstance(write, Put):
                held[name] = as_read(write.item)
        return list(held.values())

    def differences(self, at: float, shown: Callable[[Item], Item] = dict) -> list[str]:
        """Where the table, read by PyIceberg, differs from what it must show of the items that the source held at a minute."""
        key = tuple(part.name for part in self.key)
        items = [shown(item) for item in self.items(at)]
        return [str(found) for found in compare(items, self.table, key)]

    def rows(self) -> dict[Any, dict[str, Any]]:
        """The table's rows, read by PyIceberg, by their first column."""
        return {next(iter(row.values())): row for row in rows(self.table)}

    @property
    def table(self) -> Table:
        """The table as PyIceberg reads it."""
        return read_folder(self.table_folder)

    @property
    def table_folder(self) -> Path:
        """Where the Hadoop catalog keeps the table."""
        return self.warehouse / "shop" / self.name

    @property
    def metadata(self) -> dict[str, Any]:
        """The content of the table's newest metadata file; empty where there is no table."""
        return read_metadata(self.table_folder)

    @property
    def state(self) -> TableState:
        """What the table says of itself."""
        return read_table_state(self.metadata) if self.metadata else NO_TABLE

    def report(self, order: JobOrder) -> dict[str, Any]:
        """The report that a job has left."""
        return json.loads(Path(order.report_uri.removeprefix("file://")).read_text())


def as_read(value: Any) -> Any:
    """DynamoDB JSON as a client reads it: B as bytes."""
    if not isinstance(value, Mapping):
        return value
    found = {}
    for name, inner in value.items():
        if name == "B" and isinstance(inner, str):
            found[name] = base64.b64decode(inner)
        elif name == "BS" and isinstance(inner, list):
            found[name] = [base64.b64decode(one) for one in inner]
        else:
            found[name] = [as_read(one) for one in inner] if isinstance(inner, list) else as_read(inner)
    return found


def another_id(order: JobOrder, job_id: str) -> JobOrder:
    """The same order under another id."""
    return replace(order, job_id=job_id)


def as_of(instant: datetime) -> str:
    """An instant as reports write it."""
    return format_instant(instant)


def with_changes(source: Shop) -> Shop:
    """The source with a table that shows everything before minute 5, and changes in its next window."""
    source.put(1, {"pk": {"S": "a"}, "v": {"N": "1"}}, {"pk": {"S": "b"}})
    source.load(5)
    source.put(6, {"pk": {"S": "a"}, "v": {"N": "2"}}, {"pk": {"S": "new"}})
    return source
