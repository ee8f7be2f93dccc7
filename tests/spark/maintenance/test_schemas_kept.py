"""Schemas that the metadata keep: few are made, and those that nothing was written with go with the old snapshots."""

from __future__ import annotations

import pytest

from tests.spark.sample_items import S, item

pytestmark = pytest.mark.spark

DAY = 24 * 60
COLUMNS = [f"c{number}" for number in range(12)]


def test_a_rebuild_of_many_columns_makes_two_schemas_and_maintenance_lets_the_old_ones_go(shop):
    source = shop()
    source.put(1, item("a", **{name: {"N": "1"} for name in (*COLUMNS, "gone")}))
    source.load(5)
    kept = len(source.metadata["schemas"])
    source.put(6, item("a", **dict.fromkeys(COLUMNS, S)))
    source.load(15)
    # One with the replacements beside what they replace, one with them in its place.
    assert len(source.metadata["schemas"]) == kept + 2
    assert source.differences(15) == []
    assert {field.name for field in source.table.schema().fields} == {"pk", *COLUMNS, "gone", "_write_time", "_misfits"}
    end = 15 + 2 * DAY
    source.merge(15, 15 + DAY, end)
    source.put(end + 1, item("b"))
    source.merge(end, end + DAY)
    source.maintain(end + DAY, snapshot_days=1)
    metadata = source.metadata
    assert {schema["schema-id"] for schema in metadata["schemas"]} == {metadata["current-schema-id"]}
    assert source.differences(end + DAY) == []
