"""For how many tasks shuffles are made, and that the jobs keep to it where the session was told otherwise."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pipeline.exports.manifests import ExportManifest
from pipeline.exports.windows import SMALLEST_INCREMENTAL, ExportWindow
from spark.job import run
from spark.merging import merge as spark_merge
from spark.shuffles import (
    BYTES,
    FEWEST,
    FEWEST_WRITERS,
    PARTS_OF_A_BUCKET,
    RECORDS,
    ROWS_OF_TABLE,
    for_changes,
    for_load,
)
from tests.spark.sample_items import N, item
from tests.spark.shop import NOON
from tests.spark.verifying import verify_order

SPARKS_DEFAULT = 200


def full(items: int, billed: int) -> ExportManifest:
    return ExportManifest("arn", "arn", "id", "bucket", items, billed, NOON, None, "files")


def window(items: int, billed: int = SMALLEST_INCREMENTAL) -> ExportManifest:
    touched = ExportWindow(NOON, NOON + timedelta(hours=1))
    return ExportManifest("arn", "arn", "id", "bucket", items, billed, None, touched, "files")


@pytest.mark.parametrize(
    ("manifests", "tasks"),
    [
        ([], FEWEST),
        ([window(5_000)], FEWEST),
        ([window(50)] * 100, FEWEST),
        ([window(RECORDS * FEWEST)], FEWEST),
        ([window(RECORDS * FEWEST + 1)], FEWEST + 1),
        ([window(RECORDS), window(RECORDS * 9)], 10),
        ([window(10, SMALLEST_INCREMENTAL + 30 * BYTES)], 30),
        ([full(10, 30 * BYTES)], 30),
        ([full(RECORDS * 40, BYTES)], 40),
    ],
)
def test_records_and_bytes_say_how_many_tasks_look_at_them(manifests, tasks):
    assert for_changes(manifests, 0) == tasks


@pytest.mark.parametrize(
    ("buckets", "parts"), [(1, FEWEST_WRITERS), (16, 16 * PARTS_OF_A_BUCKET), (256, 256 * PARTS_OF_A_BUCKET)]
)
def test_a_bucket_of_a_load_has_a_part_of_its_own_mostly(buckets, parts):
    assert for_load(buckets) == parts


@pytest.mark.parametrize(("rows", "tasks"), [(0, FEWEST), (250_000, FEWEST), (40 * ROWS_OF_TABLE + 1, 41)])
def test_rows_of_the_table_say_how_many_tasks_look_at_their_keys(rows, tasks):
    assert for_changes([window(10)], rows) == tasks


@pytest.mark.spark
def test_jobs_make_few_tasks_of_few_records_whatever_the_session_was_told(shop, spark):
    source = shop()
    source.put(1, item("kept", v=N), item("changed", v=N))
    source.put(6, item("changed", v={"N": "2"}), item("new", v={"S": "odd"}))
    load, merge, backfill = source.full(5), source.windows(5, 25), source.windows(5, 25, job="backfill")
    tasks = [_tasks(spark, order) for order in (load, merge, backfill, verify_order(source, 25))]
    assert max(map(max, tasks)) < SPARKS_DEFAULT / 4


@pytest.mark.spark
def test_few_changes_are_looked_at_by_fewer_tasks_than_write_them(shop, spark):
    source = shop()
    source.put(1, *(item(f"key {number}", v=N) for number in range(20)))
    source.put(6, *(item(f"key {number}", v={"N": "2"}) for number in range(20)))
    run(spark, source.full(5))
    tasks = _tasks(spark, source.windows(5, 25))
    assert max(tasks) == FEWEST_WRITERS
    assert FEWEST in tasks


@pytest.mark.spark
def test_few_changes_are_planned_once_and_many_again_after_each_shuffle(shop, spark, monkeypatch):
    source = shop()
    source.put(1, *(item(f"key {number}", v=N) for number in range(20)))
    for at in (6, 26):
        source.put(at, *(item(f"key {number}", v={"N": str(at)}) for number in range(20)))
    run(spark, source.full(5))
    few = _jobs(spark, source.windows(5, 25))
    monkeypatch.setattr(spark_merge, "FEWEST", 0)
    many = _jobs(spark, source.windows(25, 45))
    assert len(few) < len(many)
    assert source.differences(45) == []


def _jobs(spark, order):
    """The ids of Spark's jobs of a job, run in a session that was told something else."""
    spark.conf.set("spark.sql.shuffle.partitions", SPARKS_DEFAULT)
    spark.sparkContext.setJobGroup(order.report_uri, order.job)
    run(spark, order)
    return spark.sparkContext.statusTracker().getJobIdsForGroup(order.report_uri)


def _tasks(spark, order):
    """The tasks of each stage of a job that has begun."""
    told = spark.sparkContext.statusTracker()
    stages = [told.getStageInfo(s) for job in _jobs(spark, order) for s in told.getJobInfo(job).stageIds]
    return [stage.numTasks for stage in stages if stage is not None]
