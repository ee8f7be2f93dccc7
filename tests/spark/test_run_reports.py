"""The reports of all kinds of jobs are rows of one table, whose columns are declared once."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pipeline.errors import Gap, VerificationFailed
from pipeline.run_reports import COLUMNS
from spark.job import run
from tests.spark.sample_items import N, S, item

pytestmark = pytest.mark.spark

INSTANTS = ("start", "end", "watermark")
#: What the reports of the test's jobs say of them: the kind of job, how it ended, its stretch, and the table's watermark.
TOLD = {
    "load-1": ("load", "committed", "12:05", "12:05", "12:05"),
    "merge-2": ("merge", "committed", "12:05", "12:25", "12:25"),
    "load-3": ("load", "committed", "12:30", "12:30", "12:30"),
    "load-4": ("verify", "verified", "12:30", "12:30", "12:30"),
    "merge-5": ("merge", "refused", "12:35", "12:55", None),
    "load-6": ("verify", "refused", "12:30", "12:30", None),
}


def test_every_report_is_a_row_of_the_declared_columns(shop):
    source = shop(compare_old_images=True)
    source.put(1, item("a", v=N), item("b", v=N), item("odd", v={"L": []}))
    source.load(5)
    source.change("UPDATE TABLE SET v = 7 WHERE pk = 'a'")
    source.put(6, item("a", v=S, new=N), item("b"))
    source.merge(5, 25)
    source.put(26, item("b", v={"N": "1.5"}))
    source.load(30)
    run(source.spark, replace(source.full(30), job="verify"))
    with pytest.raises(Gap):
        source.merge(35, 55)
    source.change("UPDATE TABLE SET v = '7' WHERE pk = 'b'")
    with pytest.raises(VerificationFailed):
        run(source.spark, replace(source.full(30), job="verify"))

    reports = {file.name: json.loads(file.read_text()) for file in (source.folder / "runs").glob("*.json")}
    assert {name for report in reports.values() for name in report} == set(COLUMNS)
    said = {
        report["job_id"]: (report["job"], report["outcome"], *(clock(report.get(name)) for name in INSTANTS))
        for report in reports.values()
    }
    assert (said, {f"{job_id}.json" for job_id in said}) == (TOLD, set(reports))
    assert {report["table"] for report in reports.values()} == {f"glue.shop.{source.name}"}
    # What was verified is what the load has committed.
    assert len({reports[f"load-{n}.json"]["snapshot_id"] for n in (3, 4)}) == 1
    assert all(report["seconds"] > 0 for report in reports.values() if report["outcome"] != "refused")

    declared = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())
    rows = source.spark.read.schema(declared).json(str(source.folder / "runs"), mode="FAILFAST").collect()
    told = [without_nulls(row.asDict(recursive=True)) for row in rows]
    assert sorted(told, key=str) == sorted((without_nulls(report) for report in reports.values()), key=str)


def clock(instant):
    """The hour and minute of an instant, if there is one."""
    return instant and instant[11:16]


def without_nulls(value):
    """What is read of a row, or was written, but for what is absent."""
    if isinstance(value, dict):
        return {name: without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value
