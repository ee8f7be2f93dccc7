"""Any job: look whether its work is done, do it, look whether it is done, write the report, settle the table.

`run` is what the entry point, the replay and the tests all call.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from pipeline.columns.declared.columns_file import from_file
from pipeline.errors import JobFailed, PipelineError, WatermarkNotCommitted
from pipeline.job_kinds import BACKFILL, LOAD, MAINTAIN, MERGE, VERIFY
from pipeline.job_order import JobOrder
from pipeline.modes import REPORTED_AS
from pipeline.run_reports import ALREADY_THERE, COMMITTED
from pipeline.table.guard import is_done
from pipeline.table.marker import TableState
from spark import files, report
from spark.hiding.protection import Protection, submitted_secret
from spark.iceberg.commits import lost_race
from spark.iceberg.maintain import maintain
from spark.iceberg.missing_files import missing_file
from spark.iceberg.table import Table
from spark.iceberg.unfit_properties import unfit_property
from spark.loading.load import load
from spark.merging.merge import merge
from spark.refusals import torn_file
from spark.report import Committed
from spark.report_from_commit import committed_earlier
from spark.session import configured, submitted_session
from spark.verifying.verify import verify

_WORK = {LOAD: load, MERGE: merge, BACKFILL: merge}
#: Work that leaves every row as it was, so that its report says what no commit may.
_REPORTED = {VERIFY: verify, MAINTAIN: maintain}
log = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> int:
    """Run the order given as the entry point's arguments; returns the exit code."""
    logging.basicConfig(level=logging.INFO)
    order = JobOrder.from_arguments(list(arguments))
    try:
        spark = submitted_session()
        run(spark, order, submitted_secret(spark))
    except PipelineError as error:
        log.error("%s: %s", error.name, error)
        return 1
    return 0


class _JobRun(NamedTuple):
    """What every step of one run of a job needs. `started`: when it began, by a clock that only tells how long ago."""

    spark: SparkSession
    order: JobOrder
    started: float

    @property
    def seconds(self) -> float:
        """How long it has been at work."""
        return time.monotonic() - self.started

    def reported(self, written: dict[str, Any]) -> dict[str, Any]:
        """The report, which is written where the order says."""
        report.write_report(self.spark, self.order, written)
        return written


def run(spark: SparkSession, order: JobOrder, secret: str = "") -> dict[str, Any]:
    """Carry out an order and return its report, which is also written where the order says.

    `secret`: what hashes are keyed with; it goes nowhere but into them.
    Raises a PipelineError, the table as it was, where the order is refused; that is reported too. What fails once the work
    is in the table refuses nothing: the report tells of the work then, and only where it cannot be written, the job fails.
    """
    this = _JobRun(spark, order, time.monotonic())
    configured(spark)
    done: Committed | None = None
    written: dict[str, Any] = {}
    try:
        order = _with_columns(spark, order)
        this = this._replace(order=order)
        protection, table = Protection.of(order.columns, secret), Table(spark, order)
        if order.job in _REPORTED:
            found = _REPORTED[order.job](spark, order, table, protection)
            written = this.reported(report.of_findings(order, REPORTED_AS[order.job], found, this.seconds))
        elif is_done(table.state(), order):
            written = _reported_as_there_already(this, table)
        else:
            done = _WORK[order.job](spark, order, table, protection)
            _check_shown(table.state(), order)
            written = _reported_as_committed(this, table, done)
        if order.job in _WORK:
            # Where it fails, the next job does it: until then the newest snapshot is the commit, which says all itself.
            table.settle()
    except Exception as failure:
        if written or _is_in_table(this, done):
            log.exception("%s: its work is in the table, and something else has failed", order.job_id)
            return written or _reported_despite_failure(this, done)
        _report_refusal_and_raise_named(this, failure)
        raise
    log.info("job ended", extra={"job_id": order.job_id, "outcome": written["outcome"]})
    return written


def _with_columns(spark: SparkSession, order: JobOrder) -> JobOrder:
    """The order with what the settings say of its table's columns, which an order may name a file for."""
    if not order.columns_file:
        return order
    text = files.read(spark, order.columns_file)
    if text is None:
        raise JobFailed(f"{order.columns_file}, which says what the settings say of columns, does not exist")
    return replace(order, columns=from_file(text, order.source.name))


def _reported_as_there_already(this: _JobRun, table: Table) -> dict[str, Any]:
    """The report of work that was in the table already: what the job that did it left, else what its commit tells."""
    left = json.loads(files.read(this.spark, this.order.report_uri) or b"{}")
    if left.get("outcome") == COMMITTED:
        return {**left, "outcome": ALREADY_THERE}
    return _reported_as_committed(this, table, committed_earlier(table, this.order))


def _check_shown(state: TableState, order: JobOrder) -> None:
    # Who has committed on top of it since has brought the table further.
    if order.job_id not in state.job_ids and (state.watermark != order.end or not is_done(state, order)):
        raise WatermarkNotCommitted(f"{order.table}: {state.found} after {order.job_id} committed")


def _reported_as_committed(this: _JobRun, table: Table, done: Committed) -> dict[str, Any]:
    """The report of work that is in the table."""
    return this.reported(report.of_success(this.order, done, table.snapshot_id(), this.seconds))


def _is_in_table(this: _JobRun, done: Committed | None) -> bool:
    """Whether the work of a job that met a failure is in the table. `done`: what the job knows that it has committed.

    Where the table cannot be asked, what the job knows counts.
    """
    if this.order.job not in _WORK:
        return False
    try:
        return is_done(Table(this.spark, this.order).state(), this.order)
    except PipelineError:
        return False  # it is not, and cannot be put there
    except (Py4JError, PySparkException):
        log.exception("%s: the table cannot be asked", this.order.job_id)
        return done is not None


def _reported_despite_failure(this: _JobRun, done: Committed | None) -> dict[str, Any]:
    """The report of work that is in the table, though its job met a failure: what it knows, else what its commit tells."""
    table = Table(this.spark, this.order)
    if done is None:
        done = committed_earlier(table, this.order)
        # Without counts, another job has done it.
        done = replace(done, outcome=COMMITTED) if done.counts else done
    return _reported_as_committed(this, table, done)


def _report_refusal_and_raise_named(this: _JobRun, failure: Exception) -> None:
    """Report a failure that has left the table as it was, and raise it by its name where it has another."""
    named = failure if isinstance(failure, PipelineError) else lost_race(this.order, failure)
    if not named:
        table = Table(this.spark, this.order)
        named = torn_file(this.spark, this.order, failure) or unfit_property(table, failure)
        named = named or missing_file(this.spark, table, failure)
    error = named or JobFailed(f"{this.order.job_id}: {failure}")
    this.reported(report.of_refusal(this.order, error, this.seconds))
    if named and named is not failure:
        raise named from failure
