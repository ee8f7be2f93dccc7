"""What a commit of SQL says of itself is decided when its rows are written and nothing is committed yet."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from pipeline.errors import CountMismatch
from pipeline.table.snapshots import newest_summary
from spark.iceberg.commit_properties import counted_so_far, last_word
from tests.spark.sample_items import item

pytestmark = pytest.mark.spark


@pytest.fixture
def table(shop):
    """A table with one row."""
    source = shop()
    source.put(1, item("a"))
    source.load(5)
    return source


def insert(table, *keys):
    """A command that writes rows of these keys, counted as ``rows``."""
    spark = table.spark
    found = spark.range(len(keys)).select(F.element_at(F.lit(list(keys)), F.col("id").cast("int") + 1).alias("pk"))
    found.observe("rows", F.count(F.lit(1)).alias("count")).createOrReplaceTempView("written")
    try:
        spark.sql(f"""
            MERGE INTO glue.shop.{table.name} t USING written w ON t.pk = w.pk
            WHEN NOT MATCHED THEN INSERT (pk, _write_time, _misfits) VALUES (w.pk, NULL, NULL)
        """)  # noqa: S608 - the test's own words
    finally:
        spark.catalog.dropTempView("written")


def test_the_last_word_is_asked_for_when_all_rows_are_written_and_stands_in_the_commit(table):
    with last_word(table.spark, lambda: {"counted": str(counted_so_far(table.spark, "rows")["count"])}):
        insert(table, "b", "c", "d")
    assert newest_summary(table.metadata)["counted"] == "3"
    assert sorted(table.rows()) == ["a", "b", "c", "d"]


def test_an_error_of_the_last_word_keeps_the_commit_from_being_made(table):
    before = table.metadata

    def refuse():
        raise CountMismatch("one is missing")

    with pytest.raises(CountMismatch, match="one is missing"), last_word(table.spark, refuse):
        insert(table, "b")
    assert table.metadata == before


def test_the_last_word_is_not_asked_for_where_nothing_comes_to_be_committed(table):
    asked = []
    with pytest.raises(ZeroDivisionError), last_word(table.spark, lambda: asked.append(1) or {}):
        raise ZeroDivisionError
    assert asked == []


def test_later_commits_of_the_same_thread_do_not_carry_the_last_word(table):
    with last_word(table.spark, lambda: {"said": "once"}):
        insert(table, "b")
    insert(table, "c")
    assert "said" not in newest_summary(table.metadata)


def test_of_rows_that_nobody_watched_nothing_is_counted(table):
    seen = []
    with last_word(table.spark, lambda: seen.append(counted_so_far(table.spark, "others")) or {}):
        insert(table, "b")
    assert seen == [{}]
