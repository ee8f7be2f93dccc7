"""What is told as a lost race of a commit, and what is not: what Glue refuses, and what does not fit the table as it is."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError

import spark.merging.merge
from pipeline.errors import TableContended
from spark.iceberg.commits import undisturbed
from spark.iceberg.table import Table
from spark.job import run
from tests.spark.sample_items import item

pytestmark = pytest.mark.spark


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

    order = shop().full(5)
    with pytest.raises(TableContended if is_race else Py4JJavaError):
        undisturbed(Table(spark, order), order, fails)


@pytest.mark.parametrize("has_rival", [False, True])
def test_what_does_not_fit_the_table_as_the_job_has_found_it_is_no_lost_race(shop, has_rival):
    source = shop()
    source.put(1, item("a"))
    source.load(5)
    source.change("alter table TABLE ADD COLUMN `_deleted` date")
    order = source.windows(5, 20)
    table = Table(source.spark, order)
    assert table.state().exists

    def commit():
        if has_rival:
            table.remember({"owner": "somebody"})
        source.change("MERGE INTO TABLE AS t USING TABLE AS s ON t.pk = s.pk WHEN MATCHED THEN UPDATE SET *")

    with pytest.raises(TableContended if has_rival else Py4JJavaError, match=r"conflict with names|changed while"):
        undisturbed(table, order, commit)


@pytest.mark.parametrize(
    ("iceberg", "error"), [("CommitFailedException", TableContended), ("ValidationException", None)]
)
def test_a_commit_beside_that_of_the_rows_may_lose_a_race_as_well(shop, monkeypatch, iceberg, error):
    source = shop()
    source.put(1, item("a"))
    source.load(5)
    source.put(6, item("a", new={"N": "1"}))
    order, failure = source.windows(5, 25), _failure(source.spark, iceberg=iceberg)
    failure.errmsg = "An error occurred while calling o51.sql.\n"  # as the bridge begins it

    def fails(*_):
        raise failure

    monkeypatch.setattr(spark.merging.merge.Table, "evolve", fails)
    with pytest.raises(error or Py4JJavaError):
        run(source.spark, order)
    report = source.report(order)
    assert report["error"] == (error.__name__ if error else "JobFailed")
    assert not error or report["message"].endswith(
        "worked on it: org.apache.iceberg.exceptions.CommitFailedException: Cannot commit"
    )
