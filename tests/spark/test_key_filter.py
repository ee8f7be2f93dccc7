"""The filter of changed keys: when it is made, what it lets pass, and that a merge with it is the same with less to shuffle."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from pipeline.identity import KeyAttribute
from spark.job import run
from spark.merging.key_filter import LEAST_ROWS, MOST_CHANGES, ROWS_A_CHANGE, KeyFilter, brought, filtered, pays
from tests.spark.large import always_filtered
from tests.spark.reads import stages_run
from tests.spark.sample_items import N, item
from tests.spark.shop import BOTH_IMAGES, NEW_ONLY, minute


@pytest.mark.parametrize(
    ("rows", "changes", "is_made"),
    [
        (LEAST_ROWS, 1, True),
        (LEAST_ROWS - 1, 1, False),
        (LEAST_ROWS, 0, False),
        (ROWS_A_CHANGE * MOST_CHANGES, MOST_CHANGES, True),
        (ROWS_A_CHANGE * MOST_CHANGES - 1, MOST_CHANGES, False),
        (ROWS_A_CHANGE * MOST_CHANGES * 2, MOST_CHANGES + 1, False),
    ],
)
def test_a_filter_is_made_of_few_changes_of_a_large_table(rows, changes, is_made):
    assert pays(rows, changes) is is_made
    assert (brought(rows, changes) == rows) is not is_made


_MADE_OF = {
    "S": "concat('customer ', id)",
    "N of 64 bits": "id * 1000003 - 5",
    "N with decimals": "cast(id / 8 AS decimal(38,3))",
    "N as digits": "concat(id, '00000000000000000000000000000000000000')",
    "B": "unhex(hex(id))",
}


@pytest.mark.spark
@pytest.mark.parametrize(("first", "second"), [*((of, None) for of in _MADE_OF), ("B", "S"), ("S", "N with decimals")])
def test_all_keys_that_changed_pass_and_hardly_any_other(spark, first, second):
    key = ["a", "b"] if second else ["a"]
    made = [f"{_MADE_OF[of]} AS {name}" for of, name in zip((first, second), key, strict=False)]
    rows = spark.range(20_000).selectExpr("id % 20 = 0 AS is_changed", *made).cache()
    changes = rows.where("is_changed").selectExpr(*(f"{name} AS `#{name}`" for name in key))
    with filtered(changes, [f"#{name}" for name in key], LEAST_ROWS, 1_000) as made:
        passed = made().passed(rows, key)
        (condition,) = made().conditions(key)
        of_statement = spark.sql("SELECT * FROM {rows} WHERE " + condition, made().arguments, rows=rows)  # noqa: S608 - our own words
        assert passed.where("is_changed").count() == of_statement.where("is_changed").count() == 1_000
        assert passed.count() == of_statement.count() < 1_000 + 19_000 * 0.01


@pytest.mark.spark
def test_without_bits_everything_passes(spark):
    rows = spark.range(3)
    assert KeyFilter().passed(rows, ["id"]) is rows
    assert (KeyFilter().conditions(["id"]), KeyFilter().arguments) == ([], {})


@pytest.mark.spark
@pytest.mark.parametrize(("key", "view"), [(("pk",), BOTH_IMAGES), (("pk", "v"), NEW_ONLY)])
def test_of_a_large_table_little_more_than_what_changes_is_shuffled(shop, spark, key, view):
    rows = 400
    found = [_merged(shop, spark, rows, key, view, large) for large in (nullcontext(), always_filtered())]
    (plain, shuffled), (filtered_, less) = found
    assert plain == filtered_
    assert shuffled > rows > 100 > less


def _merged(shop, spark, rows, key, view, large):
    """The counts of a merge and of the backfill of its stretch, and the records that both brought to a shuffle."""
    source = shop(key=tuple(KeyAttribute(name, "N" if name == "v" else "S") for name in key), view=view)
    source.put(1, *(item(f"a{i}", v=N) for i in range(rows)))
    source.load(5)
    source.put(6, *(item(f"a{i}", v=N, text={"S": "changed"}) for i in range(5)), item("new", v=N))
    source.delete(7, {name: item("a9", v=N)[name] for name in key})
    counts, orders = [], (source.windows(5, 25), source.windows(5, 25, job="backfill"))
    spark.sparkContext.setJobGroup(source.name, "a merge and its backfill")
    with large:
        for order in orders:
            counts.append(run(spark, order)["counts"])
            assert source.differences(25) == []
    assert source.state.watermark == minute(25)
    return counts, _shuffled(spark, source.name)


def _shuffled(spark, group):
    stages = stages_run(spark, lambda: spark.sparkContext.statusTracker().getJobIdsForGroup(group))
    return sum(stage.shuffleWriteRecords() for stage in stages)
