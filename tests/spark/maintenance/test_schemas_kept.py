"""Schemas that the metadata keep: few are made, and those that nothing was written with go with the old snapshots."""

from __future__ import annotations

import pytest
from pyarrow import parquet

from pipeline.columns.in_table.field_ids import gone_ids
from tests.spark.sample_items import S, item

pytestmark = pytest.mark.spark

DAY = 24 * 60
COLUMNS = [f"c{number}" for number in range(12)]


def ids_in(uri: str) -> set[int]:
    """The ids of a data file's columns, as it tells them itself."""
    schema = parquet.read_schema(uri.removeprefix("file:"))
    return {int(field.metadata[b"PARQUET:field_id"]) for field in schema}


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


def test_merges_go_on_where_files_hold_a_list_whose_column_no_schema_has_any_more(shop):
    """Iceberg would take its id for what a MERGE reads of the partitions, and find a list in the file."""
    source = shop()
    source.put(1, item("a", v={"L": [{"N": "1"}]}), item("b", v=S))
    source.load(5)
    (v,) = (field.field_id for field in source.table.schema().fields if field.name == "v")
    source.put(6, item("a", v=S))
    source.load(15)
    end = 15 + 2 * DAY
    source.put(16, item("b", v=S, w=S))
    source.merge(15, 15 + DAY, end)
    source.maintain(end, snapshot_days=1)
    metadata = source.metadata
    assert v in gone_ids(metadata)
    assert any(v in ids_in(file) for file in source.table.inspect.files()["file_path"].to_pylist())
    for start in (end, end + DAY):
        source.put(start + 1, item("a", v=S, w={"N": str(start)}))
        source.merge(start, start + DAY)
        assert source.differences(start + DAY) == []
        assert len(source.metadata["schemas"]) == len(metadata["schemas"]) + 1
    assert gone_ids(source.metadata) == []
    assert {field.name for field in source.table.schema().fields} == {"pk", "v", "w", "_write_time", "_misfits"}
