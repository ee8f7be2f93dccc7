"""One piece of work, measured, in a process of its own: a fresh JVM, as every job on EMR Serverless has.

``python -m local.bench.work '<JSON of Work>'`` prints what it measured as one line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from local.bench import obvious, orders
from local.replay import CATALOG, local_session
from pipeline.job_order import JobOrder

TIDEMARK, OBVIOUS = "tidemark", "the obvious way"
WAYS = (TIDEMARK, OBVIOUS)
_TABLE = f"{CATALOG}.bench.orders"
_BUCKETS = 16


@dataclass(frozen=True)
class Work:
    """What to do: a load (`index` -1) or the merge of a window, by one of the `WAYS`, from an export's summary file."""

    way: str
    index: int
    summary: str
    warehouse: str


@dataclass(frozen=True)
class Measured:
    """What a piece of work took. Seconds without the session's start; the JVM's peak of memory, 0 where unknown."""

    seconds: float
    written_bytes: int
    shuffles: int
    shuffled_bytes: int
    peak_memory_bytes: int
    rows: int


def measure(work: Work) -> Measured:
    """Do the work and measure it."""
    warehouse = Path(work.warehouse)
    held = _bytes_below(warehouse)
    spark = local_session(warehouse)
    spark.sparkContext.setLogLevel("ERROR")
    started = time.monotonic()
    _doing(spark, work)()
    seconds = time.monotonic() - started
    rows = spark.table(_TABLE).count()
    shuffles, shuffled = _shuffles(spark)
    peak = _peak_memory(spark)
    spark.stop()
    return Measured(seconds, _bytes_below(warehouse) - held, shuffles, shuffled, peak, rows)


def _doing(spark: SparkSession, work: Work) -> Callable[[], Any]:
    summary = Path(work.summary)
    if work.way == OBVIOUS:
        does = obvious.load if work.index < 0 else obvious.merge
        return lambda: does(spark, obvious.data_files(summary), _TABLE)
    # The jobs are what is shipped to EMR; they are imported where they are run in process.
    from spark.job import run

    return lambda: run(spark, _order(summary, work))


def _order(summary: Path, work: Work) -> JobOrder:
    is_load = work.index < 0
    bounds = orders.window(max(work.index, 0))
    job = "load" if is_load else "merge"
    return JobOrder(
        job=job,
        job_id=f"{job}-{work.index}",
        table=_TABLE,
        source=orders.SOURCE,
        exports=(summary.as_uri(),),
        start=bounds.start,
        end=bounds.start if is_load else bounds.end,
        buckets=_BUCKETS,
        report_uri=(Path(work.warehouse).parent / "runs" / f"{job}-{work.index}.json").as_uri(),
    )


def _bytes_below(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _shuffles(spark: SparkSession) -> tuple[int, int]:
    """How many stages wrote to a shuffle, and how many bytes, as Spark's own metrics have it."""
    store = spark._jsc.sc().statusStore()
    jobs = store.jobsList(None)
    written: dict[int, int] = {}
    for i in range(jobs.size()):
        ids = jobs.apply(i).stageIds()
        for j in range(ids.size()):
            stage = store.asOption(store.lastStageAttempt(int(ids.apply(j))))
            if stage.isDefined() and stage.get().shuffleWriteBytes():
                written[int(ids.apply(j))] = int(stage.get().shuffleWriteBytes())
    return len(written), sum(written.values())


def _peak_memory(spark: SparkSession) -> int:
    """The most memory the JVM has held, from Linux's account of its process."""
    jvm: Any = spark._jvm
    status = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/status")
    if not status.is_file():
        return 0
    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) * 1024


if __name__ == "__main__":
    print(json.dumps(asdict(measure(Work(**json.loads(sys.argv[1]))))))  # noqa: T201 - read by the process above
