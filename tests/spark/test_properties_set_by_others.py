"""Properties that somebody sets of a table: what they mean is left to who set them, and nothing wrong is said of it."""

from __future__ import annotations

import pytest

from tests.spark.sample_items import S, item
from tests.spark.shop import Shop

pytestmark = pytest.mark.spark


def set_by_somebody(source: Shop, name: str, value: str) -> None:
    source.spark.sql(f"ALTER TABLE glue.shop.{source.name} SET TBLPROPERTIES ('{name}' = '{value}')")


def test_merges_that_write_whole_files_anew_cast_no_doubt_on_the_rows(shop):
    source = shop()
    source.put(1, *(item(f"k{i}", v=S) for i in range(6)))
    source.load(5)
    set_by_somebody(source, "write.merge.mode", "copy-on-write")
    source.put(6, item("k1", v={"S": "new"}), item("new"))
    source.delete(7, {"pk": {"S": "k2"}})
    report = source.merge(5, 20)
    counts = report["counts"]
    assert (counts["inserted"], counts["updated"], counts["deleted"], report["continuity"]) == (1, 1, 1, "")
    assert source.differences(20) == []
    # A row that is not there is written no file anew for, so that it is told all the same.
    source.lose("k3")
    source.delete(21, {"pk": {"S": "k3"}})
    assert "1 removed or replaced; Iceberg counted 0 and 0." in source.merge(20, 35)["continuity"]
