"""Columns of types that Iceberg has and Spark does not: named as what is in the way, and taken out by a full export."""

from __future__ import annotations

import pytest

from pipeline.errors import RebuildNeeded
from spark.iceberg.table import Table
from tests.spark.sample_items import N, S, item
from tests.spark.verifying import verify, verify_order

pytestmark = pytest.mark.spark


def test_a_column_that_spark_does_not_read_is_refused_by_name_until_a_full_export_takes_it_out(shop):
    source = shop()
    source.put(1, item("a", v=N, map={"M": {"x": N}}))
    source.load(5)
    types = source.spark._jvm.org.apache.iceberg.types.Types
    time = types.TimeType.get()
    update = Table(source.spark, source.maintenance(5)).java().updateSchema()
    update.addColumn("opens", time).addColumn("map", "closes", time).addColumn(
        "all", types.ListType.ofOptional(999, time)
    ).commit()
    source.put(6, item("b", v=S, opens=S))
    for order in (source.windows(5, 20), source.maintenance(5), verify_order(source, 5)):
        with pytest.raises(
            RebuildNeeded, match=r"Spark reads no column of the types of map\.closes, opens, all"
        ) as refused:
            source.run(order)
        assert "full export" in refused.value.remedy
    source.load(20)
    assert source.differences(20) == []
    source.put(21, item("c", opens=S, all=N, map={"M": {"closes": S}}))
    source.merge(20, 35)
    assert source.differences(35) == []
    assert verify(source, 35)["result"] == "0 differences"
