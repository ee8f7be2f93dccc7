"""One piece of work, measured, in a process of its own: a fresh JVM, as every job on EMR Serverless has.

``python -m local.bench.work '<JSON of Work>'`` prints what it measured as one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections import Counter
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
    with tempfile.TemporaryDirectory() as events:
        logged = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": Path(events).as_uri()}
        options = " ".join(f"--conf {name}={value}" for name, value in logged.items())
        os.environ["PYSPARK_SUBMIT_ARGS"] = f"{options} pyspark-shell"
        seconds, rows, peak = _measured(local_session(warehouse), work)
        shuffles, shuffled = _shuffles(Path(events))
    return Measured(seconds, _bytes_below(warehouse) - held, shuffles, shuffled, peak, rows)


def _measured(spark: SparkSession, work: Work) -> tuple[float, int, int]:
    """Seconds, rows of the table afterwards, and the peak of memory."""
    spark.sparkContext.setLogLevel("ERROR")
    started = time.monotonic()
    _do(spark, work)
    seconds = time.monotonic() - started
    rows, peak = spark.table(_TABLE).count(), _peak_memory(spark)
    spark.stop()
    return seconds, rows, peak


def _do(spark: SparkSession, work: Work) -> None:
    summary = Path(work.summary)
    if work.way == OBVIOUS:
        does = obvious.load if work.index < 0 else obvious.merge
        does(spark, obvious.data_files(summary), _TABLE)
        return
    # The jobs are what is shipped to EMR; they are imported where they are run in process.
    from spark.job import run

    run(spark, _order(summary, work))


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


def _shuffles(events: Path) -> tuple[int, int]:
    """How many stages wrote to a shuffle, and how many bytes, by Spark's event log."""
    written: Counter[int] = Counter()
    (log,) = events.iterdir()
    for line in log.read_text().splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerTaskEnd":
            metrics = event["Task Metrics"]["Shuffle Write Metrics"]
            written[event["Stage ID"]] += metrics["Shuffle Bytes Written"]
    stages = [count for count in written.values() if count]
    return len(stages), sum(stages)


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
