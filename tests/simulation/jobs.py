"""EMR Serverless and the Spark jobs on it: tokens, job runs, and the job's own guard, which is the real one.

A job looks whether its work is in the table, works for a while, and commits if nobody else has meanwhile; a verification
compares the export with the snapshot that it has found, and commits nothing. It may end
without a word, commit and die before its report, hang until its time is over, or go on although it was cancelled.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.errors import (
    Gap,
    OtherTableId,
    Overlap,
    PipelineError,
    TableContended,
    TableGone,
    WatermarkMissing,
    error_names,
)
from pipeline.instants import format_instant
from pipeline.job_order import JobOrder
from pipeline.modes import BACKFILL, FULL, MAINTAIN, REPORTED_AS, VERIFY
from pipeline.planning.half_done import MOST_JOB_RUNS
from pipeline.run_reports import COMMITTED
from pipeline.table import guard
from tests.simulation.clock import HOUR, MINUTE, Clock, Process
from tests.simulation.exports import Export
from tests.simulation.source import Rows, Source
from tests.simulation.table import IcebergTable
from tests.simulation.timeline import Timeline

_LONGEST = 12 * HOUR
#: How the names of jobs begin that a person has asked for.
_WISHES = (BACKFILL, FULL)
AT_WORK = ("RUNNING",)
#: How a job goes wrong, each by its name in the timeline.
CRASHES, DIES_AFTER_COMMIT, HANGS = "crashes", "dies after its commit", "hangs"


@dataclass
class JobRun:
    """One run of a job. `planned`: when the plan behind it was made. `due`: when it does something next.

    `stubborn`: goes on although it was cancelled.
    """

    order: JobOrder
    token: str
    planned: int
    trouble: str = ""
    state: str = "RUNNING"
    due: int = 0
    stubborn: bool = False


class Jobs:
    """Every job run, the reports they left, and what the next ones suffer from."""

    def __init__(self, clock: Clock, dice: random.Random, timeline: Timeline, table: IcebergTable) -> None:
        self._clock, self._dice, self._timeline, self._table = clock, dice, timeline, table
        self._by_token: dict[str, JobRun] = {}
        self._by_name: defaultdict[str, list[JobRun]] = defaultdict(list)
        self._reports: dict[str, dict[str, Any]] = {}
        #: How often jobs have refused a stretch of history.
        self.refusals: Counter[tuple[datetime, datetime]] = Counter()
        self.troubles: list[str] = []
        self.wishes_crash_until = 0
        #: When somebody other than the pipeline last changed table or source: only then may a job have to refuse.
        self.meddled_at = 0
        self.sources: dict[str, Source] = {}
        self.committed = self.verified = 0
        self.trouble: Callable[[int], object] = lambda _until: None

    def a_wish_has_failed_often(self) -> bool:
        """Whether any backfill or full export has used up its job runs."""
        return any(name.startswith(_WISHES) and self.failed_runs(name) >= MOST_JOB_RUNS for name in self._by_name)

    def ended_runs(self, name: str) -> int:
        """How many job runs of this name have ended or are being cancelled."""
        return sum(run.state not in AT_WORK for run in self._by_name[name])

    def failed_runs(self, name: str) -> int:
        """How many of them have ended without success or are being cancelled."""
        return sum(run.state not in (*AT_WORK, "SUCCESS") for run in self._by_name[name])

    def last_exports(self, name: str) -> tuple[str, ...]:
        """The exports that the last job run of this name was given; none where there is no such run."""
        return next((run.order.exports for run in reversed(self._by_name[name])), ())

    def report(self, job_id: str) -> dict[str, Any]:
        """The report that a job has left last; empty where it has left none."""
        return self._reports.get(job_id, {})

    def start(self, order: JobOrder, token: str, exports: Mapping[str, Export], planned: int) -> JobRun:
        """Start a job run; the same token again gives the same run."""
        if token not in self._by_token:
            crashes = self._clock.now < self.wishes_crash_until and order.job_id.startswith(_WISHES)
            trouble = CRASHES if crashes else self.troubles.pop(0) if self.troubles else ""
            run = JobRun(order, token, planned, trouble)
            if trouble:
                self.trouble(self._clock.now + (_LONGEST if trouble == HANGS else 0))
            self._by_token[token] = run
            self._by_name[order.job_id].append(run)
            self._timeline.add("EMR", "starts {}{}", token, f" ({trouble})" if trouble else "")
            given = [exports[uri].given(order.job_id) for uri in order.exports]
            self._clock.at(self._clock.now, self._timed(run, given))
        return self._by_token[token]

    def cancel(self, run: JobRun) -> None:
        """Ask for a job run's end. Not every one hears it in time."""
        if run.state == "RUNNING":
            run.state, run.stubborn = "CANCELLING", self._dice.random() < 0.5
            self._timeline.add("EMR", "cancels {}{}", run.token, ", which goes on" if run.stubborn else "")

    def _timed(self, run: JobRun, exports: list[Export]) -> Process:
        for delay in self._carry_out(run, exports):
            run.due = self._clock.now + delay
            yield delay

    def _carry_out(self, run: JobRun, exports: list[Export]) -> Process:
        yield self._dice.randint(MINUTE, 3 * MINUTE)
        if run.trouble == HANGS:
            yield _LONGEST
        if run.trouble in (CRASHES, HANGS):
            self.trouble(0)
            return self._ended(run, "FAILED", "without a word")
        try:
            version, compared = self._table.version, {}
            if run.order.job == VERIFY:
                compared = self._rows_to_compare(run.order)
            elif run.order.job == MAINTAIN:
                guard.check_follows(self._table.state, run.order)
                self._table.is_being_maintained(run.order)
            elif guard.is_done(self._table.state, run.order):
                return self._reported(run)
            self._check(run, exports)
            yield self._dice.randint(10, 5 * MINUTE)
            if run.state == "CANCELLING" and not run.stubborn:
                self.trouble(0)
                return self._ended(run, "CANCELLED", "")
            if run.order.job == VERIFY:
                self._compare(run, exports[0], compared)
            else:
                self._commit(run, exports, version)
        except PipelineError as refusal:
            said = {"error": refusal.name, "message": refusal.message, "remedy": refusal.remedy}
            self._reports[run.order.job_id] = {"outcome": "refused", **said, "client_token": run.token}
            self.refusals[run.order.start, run.order.end] += 1
            self._refusal_is_right(run, refusal)
            if (
                run.trouble
                or isinstance(refusal, (TableContended, TableGone))
                or not all(export.refusals for export in exports)
            ):
                self.trouble(0)
            for export in exports:
                export.refusals.append(run.order.job_id)
            return self._ended(run, "FAILED", f"refused: {refusal.name}")
        if run.trouble == DIES_AFTER_COMMIT:
            self.trouble(0)
            return self._ended(run, "FAILED", "after its commit")
        return self._reported(run)

    def _rows_to_compare(self, order: JobOrder) -> Rows:
        """What the newest snapshot shows that is at the order's instant; refused as the job's guard refuses it."""
        marker, shown = self._table.state.marker, self._table.at(order.end)
        if marker is None or shown is None:
            guard.check_follows(self._table.state, order)
        assert marker is not None and shown is not None  # else refused
        guard.check_source(marker, order)
        return shown

    def _compare(self, run: JobRun, export: Export, shown: Rows) -> None:
        """A verification commits nothing. What it finds wrong no commit may have left."""
        source = export.source.records(export.request)
        if shown != source:
            what = f"{run.order.job_id} has found {shown}, the source had {source} at {run.order.end}"
            raise self._timeline.violated("a verification finds the table equal to its source", what)
        self.verified += 1

    def _check(self, run: JobRun, exports: list[Export]) -> None:
        """What a job proves before it commits anything."""
        for export in exports:
            if export.source.table.id != run.order.source.id:
                raise OtherTableId(f"{export.arn} is of {export.source.table.id}")
            if export.damage:
                raise error_names()[export.damage](f"{export.arn} is damaged")
            if name := export.source.contradiction(export.request):
                raise error_names()[name](f"{export.arn} holds what no job can follow")
        if run.trouble in error_names():
            raise error_names()[run.trouble]("as the seed will have it")

    def _commit(self, run: JobRun, exports: list[Export], version: int) -> None:
        if run.order.job == MAINTAIN:
            self._table.is_maintained(run.order)  # whatever has been committed meanwhile
            return
        if self._table.version != version:
            if run.order.job_id in self._table.state.job_ids:
                return
            raise TableContended(f"{run.order.job_id} lost the race")
        rows = {} if run.order.job == "load" else dict(self._table.rows)
        for export in exports:
            for key, value in export.source.records(export.request).items():
                if value is None:
                    rows.pop(key, None)
                else:
                    rows[key] = value
        self._table.commit(run.order, rows, sum(export.source.billed(export.request) for export in exports))
        self.committed += 1
        self._timeline.add("Spark", "commits {}: [{}, {})", run.token, run.order.start, run.order.end)
        right = exports[0].source.rows(_seconds(run.order))
        if rows != right:
            what = f"{run.order.job_id} left {rows}, the source had {right} at {run.order.end}"
            raise self._timeline.violated("the table is the source at its watermark", what)

    def _reported(self, run: JobRun) -> None:
        order = run.order
        self._reports[order.job_id] = {
            "outcome": REPORTED_AS.get(order.job, COMMITTED),
            "job": order.job,
            "job_id": order.job_id,
            "start": format_instant(order.start),
            "watermark": format_instant(order.end),
            "counts": {},
            "client_token": run.token,
        }
        self._ended(run, "SUCCESS", "")

    def _ended(self, run: JobRun, state: str, why: str) -> None:
        run.state = state
        self._timeline.add("EMR", "{} ended as {} {}", run.token, state, why)

    def _refusal_is_right(self, run: JobRun, refusal: PipelineError) -> None:
        """The job is the last line of defence: it is never to be needed while nobody meddles."""
        unfit = isinstance(refusal, (Gap, Overlap, OtherTableId, TableGone, WatermarkMissing))
        if unfit and self.meddled_at < run.planned:
            raise self._timeline.violated("the chain touches", f"{run.token} had to refuse: {refusal}")


def _seconds(order: JobOrder) -> int:
    return round(order.end.timestamp())
