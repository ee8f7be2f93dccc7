"""A table that somebody drops while a load works on it: the load says so, and the next one makes the table anew."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError

import spark.loading.load
from spark.job import run
from tests.spark.sample_items import item
from tests.spark.shop import minute

pytestmark = pytest.mark.spark


def test_a_load_whose_table_is_dropped_before_its_commit_says_that_it_is_gone(shop, monkeypatch):
    source = shop()
    source.put(1, item("a"))
    source.load(5)
    source.put(6, item("a", new={"N": "1"}))
    order, publish = source.full(15), spark.loading.load.Table.publish

    def dropped(table, *arguments):
        source.spark.sql(f"DROP TABLE {order.table}")
        publish(table, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(spark.loading.load.Table, "publish", dropped)
        with pytest.raises(Py4JJavaError, match="Table does not exist"):
            run(source.spark, order)
    assert "Table does not exist" in source.report(order)["message"]
    assert source.load(15)["outcome"] == "committed"
    assert (source.state.watermark, source.differences(15)) == (minute(15), [])
