"""Two jobs on one table: at most one of them commits, and the other says so or finds its work done."""

from __future__ import annotations

from threading import Thread

import pytest
from pyspark.sql import functions as F

import spark.exports.reading
import spark.loading.load
import spark.loading.passes
import spark.merging.accounting
import spark.merging.merge
from pipeline.errors import Overlap, TableContended
from pipeline.table.order_marker import marker_of
from spark.job import run
from tests.spark.rivals import beside
from tests.spark.sample_items import N_KEY, S, item
from tests.spark.shop import another_id, minute

pytestmark = pytest.mark.spark


def test_of_two_loads_at_once_the_later_says_that_the_table_was_taken(shop, monkeypatch):
    source = shop()
    source.put(1, {"pk": {"S": "a"}})
    source.load(5)
    publish = spark.loading.load.Table.publish

    def raced(table, *arguments):
        source.lose("a")
        publish(table, *arguments)

    monkeypatch.setattr(spark.loading.load.Table, "publish", raced)
    order = source.full(30)
    with pytest.raises(TableContended):
        run(source.spark, order)
    assert (source.rows(), source.state.watermark) == ({}, minute(5))
    assert source.report(order)["error"] == "TableContended"


@pytest.mark.parametrize(("rival", "is_ours"), [("ours", True), ("of another attempt", True), ("beyond", False)])
@pytest.mark.parametrize(
    ("module", "step"),
    [(spark.merging.merge, "merge_statement"), (spark.merging.accounting, "watched_counts")],
    ids=["before anything is read", "when all rows are written"],
)
def test_of_two_merges_at_once_the_later_looks_whether_its_work_is_there(
    shop, monkeypatch, caplog, module, step, rival, is_ours
):
    source = shop()
    source.put(1, item("a", v={"N": "1"}))
    source.load(5)
    source.put(6, item("a", v={"N": "2"}))
    order = source.windows(5, 25)
    rivals = {"ours": order, "of another attempt": another_id(order, "rival"), "beyond": source.windows(5, 25, 45)}
    before, taken = len(source.metadata["snapshots"]), getattr(module, step)

    def raced(*arguments):
        # In a thread of its own: what this one commits carries the properties of the job.
        other = Thread(target=_rival, args=(source, rivals[rival]))
        other.start()
        other.join()
        return taken(*arguments)

    monkeypatch.setattr(module, step, raced)
    if is_ours:
        assert run(source.spark, order)["outcome"] == ("committed" if rival == "ours" else "already_there")
        assert "has failed" not in caplog.text
    else:
        with pytest.raises(TableContended):
            run(source.spark, order)
    assert source.rows()["a"]["v"] == 7
    assert len(source.metadata["snapshots"]) == before + 1


def test_a_first_load_that_another_has_overtaken_leaves_its_table_as_it_is(shop, monkeypatch):
    source = shop()
    source.put(1, item("a", v={"N": "1"}))
    order, begin = source.full(5), spark.loading.passes._new_branch

    def raced(*arguments):
        monkeypatch.undo()
        run(source.spark, another_id(order, "rival"))
        return begin(*arguments)

    monkeypatch.setattr(spark.loading.passes, "_new_branch", raced)
    with pytest.raises(TableContended, match="another load has made"):
        run(source.spark, order)
    assert source.differences(5) == []
    assert (source.state.watermark, source.state.marker.job_id) == (minute(5), "rival")


def test_a_merge_gives_no_column_of_another_the_name_of_its_own(shop, monkeypatch):
    source = shop()
    source.put(1, item("a"))
    source.load(5)
    source.put(6, item("a", **{"x-y": {"N": "1"}}))
    rival = source.windows(5, 45)
    source.writes.pop()
    source.put(6, item("a", **{"x y": {"N": "2"}}))
    order, let_go = source.windows(5, 25), spark.merging.merge.without_former_partitions

    def raced(*arguments):
        monkeypatch.undo()
        run(source.spark, rival)
        return let_go(*arguments)

    monkeypatch.setattr(spark.merging.merge, "without_former_partitions", raced)
    with pytest.raises(TableContended, match="'x_y' has come to hold 'x-y', and not 'x y'"):
        run(source.spark, order)
    assert source.rows()["a"]["x_y"] == 1
    assert source.table.schema().find_field("x_y").doc == "x-y"
    assert source.report(order)["error"] == "TableContended"


def test_a_table_is_not_replaced_by_another_key_over_what_was_committed_meanwhile(shop, monkeypatch):
    source = shop(key=N_KEY)
    source.put(1, {"pk": S, "sk": {"N": "1"}})
    source.load(5)
    source.put(6, {"pk": S, "sk": {"N": "1.5"}})
    order, put = source.full(15), spark.loading.load._replace

    def raced(*arguments):
        source.change("DELETE FROM TABLE")
        return put(*arguments)

    monkeypatch.setattr(spark.loading.load, "_replace", raced)
    with pytest.raises(TableContended, match="was changed while"):
        run(source.spark, order)
    assert (source.rows(), source.state.watermark) == ({}, minute(5))


def test_work_that_another_job_has_gone_on_from_is_done(shop, monkeypatch):
    source = shop()
    source.put(1, item("a"))
    source.load(5)
    source.put(6, item("b"))
    order, later = source.windows(5, 25), source.windows(25, 45)
    commit = spark.merging.merge._commit

    def raced(*arguments):
        commit(*arguments)
        monkeypatch.undo()
        run(source.spark, later)

    monkeypatch.setattr(spark.merging.merge, "_commit", raced)
    report = run(source.spark, order)
    assert (report["outcome"], report["counts"]["inserted"], report["continuity"]) == ("committed", 1, "")
    assert source.state.watermark == minute(45)


@pytest.mark.parametrize("rival_has_our_work", [False, True])
def test_a_merge_sees_what_was_committed_while_it_read(shop, monkeypatch, rival_has_our_work):
    source = shop()
    source.put(1, item("a", v={"N": "1"}))
    source.load(5)
    source.put(6, item("a", v={"N": "2"}))
    order, later = source.windows(5, 25), source.windows(5, 25, 45)
    before = len(source.metadata["snapshots"])
    verify = spark.exports.reading.verify_data_files

    def raced(*arguments):
        _rival(source, another_id(order, "rival") if rival_has_our_work else later)
        return verify(*arguments)

    monkeypatch.setattr(spark.exports.reading, "verify_data_files", raced)
    if rival_has_our_work:
        assert run(source.spark, order)["outcome"] == "already_there"
    else:
        with pytest.raises(Overlap):
            run(source.spark, order)
    assert source.state.watermark == (order if rival_has_our_work else later).end
    assert source.rows()["a"]["v"] == 7
    assert len(source.metadata["snapshots"]) == before + 1


def _rival(source, order):
    """Somebody else's commit with the order's marker, through a catalog of its own: the job's does not see it come."""
    table = beside(source, order).table
    writer = source.spark.table(table).withColumn("v", F.lit(7).cast("bigint")).writeTo(table)
    for name, value in marker_of(order, {}, fingerprint="").items():
        writer = writer.option(f"snapshot-property.{name}", value)
    writer.overwrite(F.lit(True))
