"""Any job: look whether its work is done, do it, look whether it is done, write the report.

`run` is what the entry points, the replay and the tests all call.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import SparkSession

from pipeline.columns.columns_file import from_file
from pipeline.errors import JobFailed, PipelineError, WatermarkNotCommitted
from pipeline.instants import format_instant
from pipeline.job_kinds import BACKFILL, LOAD, MAINTAIN, MERGE, VERIFY
from pipeline.job_order import JobOrder
from pipeline.planning.execution_input import REPORTED_AS
from pipeline.run_reports import ALREADY_THERE, COMMITTED
from pipeline.table.guard import is_done
from spark import files, report
from spark.hiding.protection import Protection, submitted_secret
from spark.iceberg.commits import lost_race
from spark.iceberg.maintain import maintain
from spark.iceberg.table import Table
from spark.loading.load import load
from spark.merging.merge import merge
from spark.refusals import torn_file
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


def run(spark: SparkSession, order: JobOrder, secret: str = "") -> dict[str, Any]:
    """Carry out an order and return its report, which is also written where the order says.

    `secret`: what hashes are keyed with; it goes nowhere but into them.
    Raises a PipelineError, the table as it was, where the order is refused; that is reported too.
    """
    started = time.monotonic()
    configured(spark)
    try:
        order = _with_columns(spark, order)
        found = _carried_out(spark, order, Protection.of(order.columns, secret), started)
    except PipelineError as error:
        report.write_report(spark, order, report.of_refusal(order, error, time.monotonic() - started))
        raise
    except Exception as failure:
        told = lost_race(order, failure) or torn_file(spark, order, failure)
        error = told or JobFailed(f"{order.job_id}: {failure}")
        report.write_report(spark, order, report.of_refusal(order, error, time.monotonic() - started))
        if told:
            raise told from failure
        raise
    log.info("job ended", extra={"job_id": order.job_id, "outcome": found["outcome"]})
    return found


def _with_columns(spark: SparkSession, order: JobOrder) -> JobOrder:
    """The order with what the settings say of its table's columns, which an order may name a file for."""
    if not order.columns_file:
        return order
    text = files.read(spark, order.columns_file)
    if text is None:
        raise JobFailed(f"{order.columns_file}, which says what the settings say of columns, does not exist")
    return replace(order, columns=from_file(text, order.source.name))


def _carried_out(spark: SparkSession, order: JobOrder, protection: Protection, started: float) -> dict[str, Any]:
    table = Table(spark, order)
    if order.job in _REPORTED:
        found = _REPORTED[order.job](spark, order, table, protection)
        written = report.of_findings(order, REPORTED_AS[order.job], found, time.monotonic() - started)
        report.write_report(spark, order, written)
        return written
    state = table.state()
    if is_done(state, order):
        return _found_done(spark, order, table, time.monotonic() - started)
    done = _WORK[order.job](spark, order, table, protection)
    state = table.settle()
    # Who has committed on top of it since has brought the table further.
    if order.job_id not in state.job_ids and (state.watermark != order.end or not is_done(state, order)):
        raise WatermarkNotCommitted(f"{order.table} is at {state.watermark} after {order.job_id} committed")
    written = report.of_success(order, done, format_instant(order.end), table.snapshot_id(), time.monotonic() - started)
    report.write_report(spark, order, written)
    return written


def _found_done(spark: SparkSession, order: JobOrder, table: Table, seconds: float) -> dict[str, Any]:
    """The report of work that was in the table already: what the job that did it left, else what its commit tells."""
    state = table.settle()
    left = json.loads(files.read(spark, order.report_uri) or b"{}")
    if left.get("outcome") == COMMITTED:
        return {**left, "outcome": ALREADY_THERE}
    assert state.watermark is not None  # is_done has found the work in a commit
    done = committed_earlier(table, order)
    written = report.of_success(order, done, format_instant(state.watermark), table.snapshot_id(), seconds)
    report.write_report(spark, order, written)
    return written
