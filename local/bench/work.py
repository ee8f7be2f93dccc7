"""One piece of work, measured, in a process of its own: a fresh JVM, as every job on EMR Serverless has.

``python -m local.bench.work '<JSON of Work>'`` prints what it measured as one line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, cast

from pyspark.sql import SparkSession

from local.bench import bound, exports, obvious
from local.java import OURS_ON_EMR, PLAIN, Start, start_of
from local.session import CATALOG, local_session, run_order
from pipeline.job_kinds import LOAD, MERGE
from pipeline.job_order import JobOrder

TIDEMARK, BOUND, OBVIOUS = "tidemark", "the bound", "the obvious way"
WAYS = (TIDEMARK, BOUND, OBVIOUS)
#: The Java that all run on: as jobs here have it, or as Spark starts it by itself, with what our jobs tell EMR Serverless.
LOCAL_JAVA, PLAIN_JAVA = "local", "plain"
_TABLE = f"{CATALOG}.bench.orders"
_BUCKETS = 16


@dataclass(frozen=True)
class Round:
    """One job: a load, or the merge of the windows `first` to `end`, from the files of the exports' manifest summaries."""

    summaries: tuple[str, ...]
    first: int = 0
    end: int = 0

    @property
    def is_load(self) -> bool:
        """Whether it is a load."""
        return self.first == self.end


@dataclass(frozen=True)
class Work:
    """What to do: rounds, by one of the `WAYS`. `started`: when the process was, in seconds since 1970.

    `only_detects`: only the first of the two jobs that the obvious way's load takes. `java`: which it runs on.
    """

    way: str
    rounds: tuple[Round, ...]
    warehouse: str
    started: float
    only_detects: bool = False
    java: str = LOCAL_JAVA

    @classmethod
    def of(cls, text: str) -> Work:
        """Read the JSON of a work."""
        raw = json.loads(text)
        return cls(**{**raw, "rounds": tuple(Round(**each) for each in raw["rounds"])})


@dataclass(frozen=True)
class Measured:
    """What the first round took.

    `job_seconds`: the whole process, with the session's start and end, as on EMR Serverless. `seconds`: without them.
    `warm_seconds`: those of the last round, 0 where there is only one. Memory: the JVM's peak, 0 where unknown.
    """

    job_seconds: float
    seconds: float
    warm_seconds: float
    written_bytes: int
    shuffles: int
    shuffled_bytes: int
    peak_memory_bytes: int


def total_of(jobs: Sequence[Measured]) -> Measured:
    """What several jobs took, one after the other."""
    peak = max(job.peak_memory_bytes for job in jobs)
    return replace(Measured(*map(sum, zip(*map(astuple, jobs), strict=True))), peak_memory_bytes=peak)


def median_of(turns: Sequence[Measured]) -> Measured:
    """The median of each number, of an odd count of turns."""
    return Measured(*map(median, zip(*map(astuple, turns), strict=True)))


def measure(work: Work) -> Measured:
    """Do the work and measure it."""
    warehouse = Path(work.warehouse)
    held, spark = _bytes_below(warehouse), local_session(warehouse, start=_start(work))
    spark.sparkContext.setLogLevel("ERROR")
    seconds = _seconds(spark, work, work.rounds[0])
    ended, written = time.time(), _bytes_below(warehouse) - held
    warm = [_seconds(spark, work, following) for following in work.rounds[1:]]
    peak, (shuffles, shuffled) = _peak_memory(spark), _shuffles(spark, ended)
    stopping, session = time.monotonic(), spark._jsparkSession
    # Java's side alone, as where a job's program just ends: PySpark's own stop waits for a thread that looks twice a second.
    session.stop()
    job_seconds = ended - work.started + time.monotonic() - stopping
    return Measured(job_seconds, seconds, warm[-1] if warm else 0.0, written, shuffles, shuffled, peak)


def _start(work: Work) -> Start:
    """How Java is started; as jobs here have it, for much data where that pays, which for the obvious way it always does."""
    if work.java == PLAIN_JAVA:
        return OURS_ON_EMR if work.way == TIDEMARK else PLAIN
    return start_of(is_bulk=work.way == OBVIOUS or work.rounds[0].is_load)


def _seconds(spark: SparkSession, work: Work, this: Round) -> float:
    started = time.monotonic()
    if work.way == TIDEMARK:
        run_order(spark, _order(this, Path(work.warehouse)), "")
    elif work.way == BOUND:
        _bound(spark, this)
    else:
        _obvious(spark, work, this)
    return time.monotonic() - started


def _bound(spark: SparkSession, this: Round) -> None:
    if this.is_load:
        bound.load(spark, _files(this), _TABLE, _BUCKETS)
    else:
        bound.merge(spark, _files(this), _TABLE)


def _obvious(spark: SparkSession, work: Work, this: Round) -> None:
    schema = Path(work.warehouse, "schema.json")
    if work.only_detects:
        obvious.detect(spark, _files(this), schema)
    elif this.is_load:
        obvious.load(spark, _files(this), _TABLE, schema)
    else:
        obvious.merge(spark, _files(this), _TABLE)


def _files(this: Round) -> list[str]:
    return [file for summary in this.summaries for file in obvious.data_files(Path(summary))]


def _order(this: Round, warehouse: Path) -> JobOrder:
    job = LOAD if this.is_load else MERGE
    start = exports.window(this.first).start
    return JobOrder(
        job=job,
        job_id=f"{job}-{this.first}",
        table=_TABLE,
        source=exports.SOURCE,
        exports=tuple(Path(summary).as_uri() for summary in this.summaries),
        start=start,
        end=start if this.is_load else exports.window(this.end).start,
        buckets=_BUCKETS,
        report_uri=(warehouse.parent / "runs" / f"{job}-{this.first}.json").as_uri(),
    )


def _bytes_below(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _shuffles(spark: SparkSession, until: float) -> tuple[int, int]:
    """How many stages wrote to a shuffle before an instant, and how many bytes, by what Spark keeps of its stages.

    An event log would tell it too, but to write one takes a few tenths of a second of a cold job.
    """
    context, java = spark.sparkContext._jsc.sc(), cast(Any, spark.sparkContext._gateway)
    context.listenerBus().waitUntilEmpty()
    no_quantiles, no_states = java.new_array(java.jvm.double, 0), java.jvm.java.util.ArrayList()
    stages = context.statusStore().stageList(None, False, False, no_quantiles, no_states)
    of_first = [stage for stage in map(stages.apply, range(stages.size())) if _has_ended(stage, until)]
    written = [stage.shuffleWriteBytes() for stage in of_first if stage.shuffleWriteBytes()]
    return len(written), sum(written)


def _has_ended(stage: Any, until: float) -> bool:
    """Whether a stage was done before an instant; one that was skipped never has an end."""
    ended = stage.completionTime()
    return bool(ended.isDefined() and ended.get().getTime() <= until * 1000)


def _peak_memory(spark: SparkSession) -> int:
    """The most memory the JVM has held, from Linux's account of its process."""
    jvm: Any = spark._jvm
    status = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/status")
    if not status.is_file():
        return 0
    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) * 1024


if __name__ == "__main__":
    print(json.dumps(asdict(measure(Work.of(sys.argv[1])))))  # noqa: T201 - read by the process above
