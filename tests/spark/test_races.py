"""Two jobs on one table: at most one of them commits, and the other says so or finds its work done."""

from __future__ import annotations

from threading import Thread

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import functions as F

import spark.exports.reading
import spark.loading.load
import spark.merging.accounting
import spark.merging.merge
from pipeline.errors import Overlap, TableContended
from spark.iceberg.commits import marker, undisturbed
from spark.job import run
from tests.spark.sample_items import item
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
    shop, monkeypatch, module, step, rival, is_ours
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
        assert run(source.spark, order)["outcome"] == "committed"
    else:
        with pytest.raises(TableContended):
            run(source.spark, order)
    assert source.rows()["a"]["v"] == 7
    assert len(source.metadata["snapshots"]) == before + 1


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
    conf, catalog = source.spark.conf, "spark.sql.catalog.rival"
    for name, value in {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "hadoop"}.items():
        conf.set(catalog + name, value)
    conf.set(f"{catalog}.warehouse", source.warehouse.as_uri())
    rows = source.spark.table(f"rival.shop.{source.name}").withColumn("v", F.lit(7).cast("bigint"))
    writer = rows.writeTo(f"rival.shop.{source.name}")
    for name, value in marker(order, {}, fingerprint="").items():
        writer = writer.option(f"snapshot-property.{name}", value)
    writer.overwrite(F.lit(True))


def _failure(spark, *, glue: str = "", iceberg: str = "ValidationException") -> Py4JJavaError:
    """A failed commit, as Java tells it: Iceberg's exception, perhaps because of one of Glue's."""
    cause, nothing = None, spark.sparkContext._gateway.new_array(spark._jvm.java.lang.Object, 0)
    if glue:
        cause = getattr(spark._jvm.software.amazon.awssdk.services.glue.model, glue).builder().message("no").build()
    return Py4JJavaError(
        "", getattr(spark._jvm.org.apache.iceberg.exceptions, iceberg)(cause, "Cannot commit", nothing)
    )


@pytest.mark.parametrize(
    ("glue", "iceberg", "is_race"),
    [
        ("", "ValidationException", True),
        ("", "CommitFailedException", True),
        ("ConcurrentModificationException", "CommitFailedException", True),
        ("ValidationException", "ValidationException", False),
        ("InvalidInputException", "CommitFailedException", False),
    ],
)
def test_what_glue_refuses_is_no_lost_race(shop, spark, glue, iceberg, is_race):
    failure = _failure(spark, glue=glue, iceberg=iceberg)

    def fails():
        raise failure

    with pytest.raises(TableContended if is_race else Py4JJavaError):
        undisturbed(shop().full(5), fails)
