"""Columns that somebody has made required: items may lack what they hold all the same, and so the table takes them."""

from __future__ import annotations

import pytest

from spark.iceberg.table import Table
from tests.spark.sample_items import N, S, item
from tests.spark.shop import Shop
from tests.spark.verifying import verify

pytestmark = pytest.mark.spark

_REQUIRED = ("v", "seen_on", "map.x", "lines.element", "lines.element.tax")


def with_required(shop: Shop, *paths: str, identifying: str = "") -> Shop:
    """A table in which these columns are required, though rows lack them."""
    shop.put(1, item("a", v=N, map={"M": {"x": N}}, lines={"L": [{"M": {"tax": N}}]}), item("b"))
    shop.load(5)
    shop.change("alter table TABLE ADD COLUMN seen_on date")
    update = Table(shop.spark, shop.maintenance(5)).java().updateSchema().allowIncompatibleChanges()
    for path in paths:
        update = update.requireColumn(path)
    update.commit()
    if identifying:
        shop.change(f"alter table TABLE SET IDENTIFIER FIELDS pk, {identifying}")
    return shop


def required(shop: Shop) -> set[str]:
    """The columns that are required."""
    return {field.name for field in shop.table.schema().fields if field.required}


def test_items_that_lack_what_somebody_has_made_required_are_merged(shop):
    source = with_required(shop(), *_REQUIRED, identifying="v")
    source.put(6, item("c", map={"M": {"y": N}}, lines={"L": [{"NULL": True}, {"M": {"what": S}}]}))
    source.merge(5, 20)
    assert (source.differences(20), required(source)) == ([], {"pk"})
    assert verify(source, 20)["result"] == "0 differences"


def test_they_are_loaded(shop):
    source = with_required(shop(), *_REQUIRED)
    source.put(6, item("c", map={"M": {"y": N}}, lines={"L": [{"NULL": True}, {"M": {"what": S}}]}))
    source.load(20)
    assert (source.differences(20), required(source)) == ([], {"pk"})


def test_files_with_rows_that_lack_it_are_put_in_order_and_verified(shop):
    source = with_required(shop(), *_REQUIRED)
    assert verify(source, 5)["result"] == "0 differences"
    source.change("alter table TABLE WRITE UNORDERED")
    source.put(6, *(item(f"k{n}", v=N) for n in range(3)))
    for start in range(5, 80, 15):
        source.put(start + 1, item("a", v={"N": str(start)}))
        source.merge(start, start + 15)
    update = Table(source.spark, source.maintenance(80)).java().updateSchema().allowIncompatibleChanges()
    update.requireColumn("v").commit()
    source.maintain(80)
    assert source.differences(80) == []


def test_a_column_of_somebodys_own_is_not_taken_for_the_keys_by_its_comment(shop):
    source = shop()
    source.put(1, item("a", v=N))
    source.load(5)
    source.change("alter table TABLE ADD COLUMN mine string COMMENT 'pk'")
    update = Table(source.spark, source.maintenance(5)).java().updateSchema().allowIncompatibleChanges()
    update.requireColumn("mine").commit()
    source.put(6, item("b", v=N))
    source.merge(5, 20)
    assert (source.differences(20), required(source)) == ([], {"pk"})
