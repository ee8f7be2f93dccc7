"""Reports: what a job did or why it refused, as JSON where the order says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.misfit_paths import element_places
from pipeline.errors import PipelineError
from pipeline.instants import format_instant
from pipeline.job_order import JobOrder
from pipeline.run_reports import COMMITTED, REFUSED
from spark import files
from spark.rows.profiles import MISFIT_TAG

_MOST_LISTED = 50


@dataclass(frozen=True)
class Committed:
    """What a job committed. `continuity`: a warning where the table and the changes disagree, else empty.

    `differences`: the first rows that were not what old images say, where those are compared. `removed`: what items had by
    their old images, and have no more (`spark.merging.lost_attributes`).
    """

    counts: Mapping[str, int]
    new_columns: Sequence[Mapping[str, Any]] = ()
    changed_columns: Sequence[Mapping[str, Any]] = ()
    misfits: Sequence[Mapping[str, Any]] = ()
    continuity: str = ""
    differences: Sequence[Mapping[str, Any]] = ()
    removed: Sequence[Mapping[str, Any]] = ()
    passes: int = 1
    outcome: str = COMMITTED


def of_success(order: JobOrder, done: Committed, snapshot_id: int, seconds: float) -> dict[str, Any]:
    """The report of a job that ended well."""
    return {
        **_heading(order),
        "outcome": done.outcome,
        "watermark": format_instant(order.end),
        "snapshot_id": snapshot_id,
        "counts": dict(done.counts),
        "new_columns": list(done.new_columns),
        "changed_columns": list(done.changed_columns),
        "misfits": list(done.misfits),
        "removed_attributes": list(done.removed),
        "continuity": done.continuity,
        "differences": list(done.differences),
        "passes": done.passes,
        "seconds": round(seconds, 1),
    }


def of_refusal(order: JobOrder, error: PipelineError, seconds: float) -> dict[str, Any]:
    """The report of a job that would not, or could not, commit."""
    said = {"error": error.name, "message": error.message, "remedy": error.remedy}
    return {**_heading(order), "outcome": REFUSED, **said, **error.findings, "seconds": round(seconds, 1)}


def of_findings(order: JobOrder, outcome: str, findings: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """The report of a job that has left every row as it was: it has found source and table equal, or put files in order."""
    told = {"outcome": outcome, "watermark": format_instant(order.end), **findings}
    return {**_heading(order), **told, "seconds": round(seconds, 1)}


def write_report(spark: SparkSession, order: JobOrder, report: Mapping[str, Any]) -> None:
    """Write the report where the order says, as one line: so `pipeline.run_reports` are read as a table."""
    files.write(spark, order.report_uri, json.dumps(report, ensure_ascii=False).encode() + b"\n")


def listed_misfits(misfits: DataFrame, columns: Columns) -> list[dict[str, Any]]:
    """The most frequent kinds of misfits, as `spark.rows.profiles.exploded` gives them: path, type, count, a key.

    Indices, and names that are data, become ``*`` in a path, so that a list or dictionary is one path however long it is;
    the first step is an attribute.
    """
    path = F.col("pointer")
    for place in element_places(columns):
        path = F.regexp_replace(path, f"^({place})/[^/]+", "$1/*")
    return most_frequent(
        misfits.select(path.alias("path"), F.expr(MISFIT_TAG).alias("type"), "example"), "path", "type"
    )


def most_frequent(rows: DataFrame, *by: str) -> list[dict[str, Any]]:
    """What most rows have in columns, with how many have it (``count``), and the least ``example`` of theirs."""
    counted = rows.groupBy(*by).agg(F.count(F.lit(1)).alias("count"), F.min("example").alias("example"))
    return [row.asDict() for row in counted.orderBy(F.desc("count"), *by).limit(_MOST_LISTED).collect()]


def _heading(order: JobOrder) -> dict[str, Any]:
    stretch = {"start": format_instant(order.start), "end": format_instant(order.end)}
    names = {"job_id": order.job_id, "client_token": order.client_token}
    return {**names, "job": order.job, "table": order.table, **stretch}
