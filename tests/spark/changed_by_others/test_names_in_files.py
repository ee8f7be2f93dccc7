"""Names that are one in Parquet files, where none begins with a digit, or to readers that disregard case.

No table gets both, and one that has them is mended.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.errors import OverrideContradicted, RebuildNeeded
from tests.spark.sample_items import S, item

pytestmark = pytest.mark.spark


def test_a_declared_name_that_is_anothers_in_files_is_refused_before_the_table_has_both(shop):
    source = shop()
    source.put(1, item("a", x=S, **{"1": S}))
    source.load(5)
    before = source.metadata
    source.put(6, item("b", z=S))
    for said, order in (({"x": {"name": "_1"}}, source.full(20)), ({"z": {"name": "_1"}}, source.windows(5, 20))):
        with pytest.raises(OverrideContradicted, match="the names '1' and '_1' of the attributes"):
            source.run(replace(order, columns=Overrides.parse(said)))
    assert source.metadata == before


@pytest.mark.parametrize("said", [{"1": {"drop": True}}, {"1": {"name": "first"}, "_1": {"name": "_1"}}])
def test_a_name_that_was_anothers_in_files_is_free_in_the_full_export_by_which_that_column_goes(shop, said):
    source = shop()
    source.put(1, item("a", **{"1": S}))
    source.load(5)
    source.columns = Overrides.parse(said)
    source.put(6, item("a"), item("b", **{"_1": {"S": "new"}}))
    source.load(20)
    source.put(21, item("c", **{"_1": {"S": "newer"}}))
    source.merge(20, 40)
    assert source.differences(40) == []
    assert [source.rows()[key]["_1"] for key in "abc"] == [None, "new", "newer"]


def test_a_table_with_two_columns_that_are_one_in_files_is_mended_by_another_name(shop):
    source = shop()
    source.put(1, *(item(f"k{n}", x={"S": f"x{n}"}, **{"1": S}) for n in range(3)))
    source.load(5)
    source.spark.sql(f"ALTER TABLE glue.shop.{source.name} RENAME COLUMN x TO _1")
    source.put(6, item("k1", x={"S": "new"}))
    with pytest.raises(RebuildNeeded, match="the columns '1' and '_1' are one in Parquet files"):
        source.merge(5, 20)
    with pytest.raises(OverrideContradicted, match="the names '1' and '_1' of the attributes '1' and 'x'"):
        source.load(20)
    source.columns = Overrides.parse({"x": {"name": "x"}})
    source.load(20)
    source.put(21, item("k2", x={"S": "newer"}, **{"1": S}))
    source.merge(20, 40)
    source.maintain(40)
    assert source.differences(40) == []
    assert {field["name"] for field in source.metadata["schemas"][-1]["fields"]} >= {"1", "x"}


def test_somebodys_own_date_that_is_an_attributes_column_in_files_is_told_and_mended_by_another_name_of_either(shop):
    source = shop()
    source.put(1, item("a", **{"_1": S}))
    source.load(5)
    table = f"glue.shop.{source.name}"
    source.spark.sql(f"ALTER TABLE {table} ADD COLUMN `1` DATE")
    source.put(6, item("b", v=S, **{"_1": S}))
    for job, refusal in ((source.windows(5, 20), RebuildNeeded), (source.full(20), OverrideContradicted)):
        with pytest.raises(refusal, match="'_1' and '1'") as refused:
            source.run(job)
        assert "Give somebody's own column '1' another name" in refused.value.remedy
    source.spark.sql(f"ALTER TABLE {table} RENAME COLUMN `1` TO day")
    source.merge(5, 20)
    source.spark.sql(f"ALTER TABLE {table} RENAME COLUMN day TO `1`")
    source.columns = Overrides.parse({"_1": {"name": "first"}})
    source.put(21, item("c", **{"_1": S}))
    source.load(40)
    assert source.differences(40) == []


def test_what_comes_after_a_person_has_given_its_name_in_capitals_gets_another_that_readers_can_tell(shop):
    source = shop()
    source.put(1, item("a", total=S, m={"M": {"total": S}}))
    source.load(5)
    for column in ("total", "m.total"):
        source.spark.sql(f"ALTER TABLE glue.shop.{source.name} RENAME COLUMN {column} TO Price")
    source.put(6, item("b", price={"S": "7"}, m={"M": {"price": {"S": "8"}}}))
    source.merge(5, 20)
    assert source.differences(20) == []
    kept = source.spark.conf.get("spark.sql.caseSensitive")
    source.spark.conf.set("spark.sql.caseSensitive", "false")
    try:
        read = source.spark.table(f"glue.shop.{source.name}").where("price IS NULL").select("price_2", "m.price_2")
        assert [tuple(row) for row in read.collect()] == [("7", "8")]
    finally:
        source.spark.conf.set("spark.sql.caseSensitive", kept)
