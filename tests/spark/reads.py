"""What jobs read of exports, counted: by what Spark's readers are given, and by Spark itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from spark.exports import reading, records

_GROUP = "what is read is counted"

#: How many times each data file was given to a reader of Spark's, by the reader's format and the file's URI.
Given = Counter[tuple[str, str]]


def given_to_readers(monkeypatch: pytest.MonkeyPatch) -> Given:
    """Count from now on what jobs give to Spark's readers of files."""
    given: Given = Counter()
    read_files = reading.read_files

    def counting(spark: SparkSession, uris: list[str], format_: str, *schema: Any, **options: Any) -> DataFrame:
        given.update((format_, uri) for uri in uris)
        return read_files(spark, uris, format_, *schema, **options)

    for module in (reading, records):
        monkeypatch.setattr(module, "read_files", counting)
    return given


def times(given: Given) -> dict[str, set[int]]:
    """How many times files were read, by format: of checksums (``binaryFile``), of items (``json``), of changes (``text``)."""
    formats = {format_ for format_, _ in given}
    return {one: {count for (format_, _), count in given.items() if format_ == one} for one in formats}


def records_read(spark: SparkSession, work: Callable[[], object]) -> int:
    """How many records Spark's tasks have read while something was done: of files and tables, a batch of kept rows as one."""
    context = spark.sparkContext
    context.setJobGroup(_GROUP, _GROUP)
    before = _jobs(spark)
    work()
    return sum(stage.inputRecords() for stage in stages_run(spark, lambda: _jobs(spark) - before))


def stages_run(spark: SparkSession, jobs: Callable[[], Iterable[int]]) -> list[Any]:
    """What Spark has counted of each stage that jobs have run, once all is told. `jobs`: their ids, asked then."""
    context = spark.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty(10_000)
    told, kept = context.statusTracker(), context._jsc.sc().statusStore()
    stages = {stage for job in jobs() for stage in told.getJobInfo(job).stageIds}
    # Of a thousand stages and more, Spark forgets first those that it had no need to run.
    return [kept.lastStageAttempt(stage) for stage in stages if told.getStageInfo(stage)]


def _jobs(spark: SparkSession) -> set[int]:
    """Spark's jobs that this thread has started, and those of no group, as of the threads that our jobs start."""
    told = spark.sparkContext.statusTracker()
    return {*told.getJobIdsForGroup(_GROUP), *told.getJobIdsForGroup()}
