"""A job that ended between its commit and its report: whoever repeats it tells the same, from the table."""

from __future__ import annotations

from pathlib import Path

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException

import spark.merging.merge
import spark.report
from spark import files
from spark.iceberg.table import Table
from spark.job import run
from tests.spark.sample_items import N, S, item
from tests.spark.shop import NOON, as_of, minute

pytestmark = pytest.mark.spark
#: What only the job itself knows, or its exports: what an item had before, no row tells.
ITS_OWN = ("outcome", "seconds", "passes", "removed_attributes")


@pytest.fixture(scope="module")
def source(shop):
    """A table with a misfit, after its first load."""
    source = shop()
    source.put(1, item("a", v=N, t=N), item("b", v=N), item("odd", v={"L": [S]}))
    source.load(5)
    return source


def told_again(source, order, meanwhile=lambda: None):
    """What a repeat reports, and what the job itself did."""
    first = run(source.spark, order)
    meanwhile()
    Path(order.report_uri.removeprefix("file://")).unlink()
    again = run(source.spark, order)
    assert again["outcome"] == "already_there"
    return [{name: told for name, told in report.items() if name not in ITS_OWN} for report in (again, first)]


def with_a_misfit(source, after=1):
    """The order to merge one more window, in which a value fits no column. `after`: so many minutes after its beginning."""
    at = (source.state.watermark - NOON).total_seconds() / 60
    source.put(at + after, item("a", v={"S": str(at)}))
    return source.windows(at, at + 20)


def fails_once(monkeypatch, place, step, failure=None):
    """A step of the job fails, and goes well where it is taken again."""
    taken = getattr(place, step)

    def fails(*_):
        monkeypatch.setattr(place, step, taken)
        raise failure or RuntimeError("right after the commit")

    monkeypatch.setattr(place, step, fails)


def test_a_loads_misfits_and_new_columns_are_told_again(source):
    source.put(6, item("c", new=S, t={"N": "1.5"}))
    again, first = told_again(source, source.full(15))
    assert again == first
    assert (len(first["misfits"]), [new["column"] for new in first["new_columns"]]) == (1, ["new"])
    assert [changed["column"] for changed in first["changed_columns"]] == ["t"]


def test_a_merges_misfits_new_columns_and_continuity_are_told_again(source):
    source.lose("b")
    source.put(16, item("a", v=S, newer={"M": {"x": S}}), item("b", v={"N": "2"}))
    again, first = told_again(source, source.windows(15, 35))
    assert again == first
    assert [found["example"] for found in first["misfits"]] == ['{"pk":"a"}']
    assert [(new["column"], new["count"], new["example"]) for new in first["new_columns"]] == [
        ("newer", 1, '{"pk":"a"}')
    ]
    assert "run a verification" in first["continuity"]


def test_a_backfills_report_is_told_again(source):
    again, first = told_again(source, source.windows(15, 35, job="backfill"))
    assert again["counts"] == first["counts"]
    assert again["continuity"] == first["continuity"]


@pytest.mark.parametrize(
    ("place", "step"),
    [(spark.merging.merge, "with_columns_made_ready"), (spark.report, "write_report"), (Table, "settle")],
)
def test_what_fails_after_the_commit_fails_neither_the_job_nor_its_report(source, monkeypatch, place, step):
    order = with_a_misfit(source)
    Path(order.report_uri.removeprefix("file://")).write_text('{"outcome": "refused"}')  # by an earlier try
    fails_once(monkeypatch, place, step)
    report = run(source.spark, order)
    assert source.report(order) == report
    told = [report[name] for name in ("job_id", "outcome", "watermark")]
    assert told == [order.job_id, "committed", as_of(order.end)]
    assert report["counts"] == dict(source.state.marker.counts)
    assert [(found["path"], found["example"]) for found in report["misfits"]] == [("/v", '{"pk":"a"}')]


def test_a_row_that_changed_at_the_very_beginning_of_a_stretch_is_told_again(source):
    again, first = told_again(source, with_a_misfit(source, after=0))
    assert (again, len(first["misfits"])) == (first, 1)


def test_of_what_came_later_nothing_is_told_again(source):
    order = with_a_misfit(source)
    end = (order.end - NOON).total_seconds() / 60

    def later():
        source.put(end + 1, item("b", v=S, later=S))
        source.merge(end, end + 20)

    again, first = told_again(source, order, later)
    for told in ("counts", "misfits", "new_columns", "changed_columns"):
        assert again[told] == first[told]


def test_a_refusal_that_an_earlier_try_has_left_is_not_told_of_work_that_is_in_the_table(source):
    order = with_a_misfit(source)
    counts = run(source.spark, order)["counts"]
    files.write(source.spark, order.report_uri, b'{"outcome": "refused", "error": "JobFailed"}')
    report = run(source.spark, order)
    assert (report["outcome"], report["counts"], "error" in report) == ("already_there", counts, False)


def test_where_the_rows_cannot_be_looked_at_either_the_counts_are_told(source, monkeypatch):
    order = with_a_misfit(source)
    fails_once(monkeypatch, spark.merging.merge, "with_columns_made_ready")
    fails_once(monkeypatch, Table, "rows_at", AnalysisException("no such file"))
    report = run(source.spark, order)
    assert (report["outcome"], report["misfits"]) == ("committed", [])
    assert report["counts"] == dict(source.state.marker.counts)


def test_where_the_table_cannot_be_asked_what_the_job_knows_counts(source, monkeypatch):
    order, write = with_a_misfit(source), spark.report.write_report

    def away(*_):
        raise Py4JError("Glue is away")

    def fails(*_):
        monkeypatch.setattr(Table, "state", away)
        monkeypatch.setattr(spark.report, "write_report", write)
        raise RuntimeError("S3 is away")

    with monkeypatch.context() as patched:
        patched.setattr(Table, "state", away)
        with pytest.raises(Py4JError, match="Glue is away"):
            run(source.spark, order)
    assert source.report(order)["error"] == "JobFailed"
    monkeypatch.setattr(spark.report, "write_report", fails)
    run(source.spark, order)
    assert source.report(order)["outcome"] == "committed"


@pytest.mark.parametrize("job", ["merge", "load"])
def test_columns_that_a_job_has_made_ready_before_it_died_are_told_by_the_one_that_fills_them(shop, monkeypatch, job):
    source = shop()
    source.put(1, {"pk": {"S": "a"}})
    source.load(5)
    source.put(6, {"pk": {"S": "a"}, "gift": S}, {"pk": {"S": "b"}, "gift": S})
    order, evolve = source.windows(5, 25) if job == "merge" else source.full(25), Table.evolve

    def dies(table, columns):
        evolve(table, columns)
        raise RuntimeError("right after the columns were there")

    with monkeypatch.context() as patched:
        patched.setattr(Table, "evolve", dies)
        with pytest.raises(RuntimeError):
            source.run(order)
    told = source.report(order)
    assert (told["error"], source.state.watermark) == ("JobFailed", minute(5))
    assert "right after the columns were there" in told["message"]
    report = source.run(order)
    gift = {"column": "gift", "path": "/gift", "type": "string", "count": 2, "example": '{"pk":"a"}'}
    assert report["new_columns"] == [gift]
    assert source.differences(25) == []
