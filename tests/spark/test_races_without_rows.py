"""Two jobs on one table of which one writes no row: Iceberg sees no conflict there, so the job looks by itself."""

from __future__ import annotations

import pytest

import spark.merging.accounting
from pipeline.errors import TableContended
from spark.job import run
from tests.spark.rivals import run_beside
from tests.spark.sample_items import item
from tests.spark.shop import minute

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("job", "has_rows"),
    [
        pytest.param("merge", False, id="a merge of nothing"),
        pytest.param("backfill", False, id="a backfill of nothing"),
        pytest.param("backfill", True, id="a backfill of rows"),
    ],
)
def test_a_job_that_comes_late_takes_no_table_back_that_another_has_brought_further(shop, monkeypatch, job, has_rows):
    source = shop()
    source.put(1, item("a"))
    if has_rows:
        source.put(6, item("a", v={"N": "1"}))
    watermark = 25 if job == "backfill" else 5
    source.load(watermark)
    order, later = source.windows(5, 25, job=job), source.windows(watermark, 45)
    _overtaken(source, monkeypatch, later)
    with pytest.raises(TableContended, match="the table is at 2026-11-01T12:45:00Z now"):
        run(source.spark, order)
    assert source.state.watermark == minute(45)
    assert source.report(order)["error"] == "TableContended"


def test_a_merge_of_nothing_that_another_has_done_meanwhile_is_done_once(shop, monkeypatch):
    source = shop()
    source.put(1, item("a"))
    source.load(5)
    order, before = source.windows(5, 25), len(source.metadata["snapshots"])
    _overtaken(source, monkeypatch, order)
    assert run(source.spark, order)["outcome"] == "committed"
    assert (source.state.watermark, len(source.metadata["snapshots"])) == (minute(25), before + 1)


def _overtaken(source, monkeypatch, order):
    """Another job commits when all rows of the next one are written."""
    counted = spark.merging.accounting.watched_counts

    def raced(*arguments):
        monkeypatch.undo()
        run_beside(source, order)
        return counted(*arguments)

    monkeypatch.setattr(spark.merging.accounting, "watched_counts", raced)
