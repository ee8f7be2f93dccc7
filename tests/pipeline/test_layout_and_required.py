"""What the ids in a table's metadata tell of its layout, of what a job has made ready, of what is required, and what is gone."""

from __future__ import annotations

from typing import Any

from pipeline.columns.in_table.field_ids import fields_made_ready, gone_ids, used_by_layout
from pipeline.columns.in_table.required import needlessly_required


def column(id_: int, name: str, type_: Any = "string", *, required: bool = False) -> dict[str, Any]:
    """A column or nested field in Iceberg's JSON."""
    return {"id": id_, "name": name, "type": type_, "required": required}


def struct(*fields: dict[str, Any]) -> dict[str, Any]:
    """A struct of these fields."""
    return {"type": "struct", "fields": [*fields]}


def metadata(*schemas: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A metadata file of a table whose newest snapshot has the first schema, and which has the last now."""
    return {
        "schemas": [{"schema-id": number, "fields": fields} for number, fields in enumerate(schemas)],
        "current-schema-id": len(schemas) - 1,
        "current-snapshot-id": 1,
        "snapshots": [{"snapshot-id": 1, "schema-id": 0}],
        **more,
    }


def test_columns_stay_that_the_layout_of_now_is_made_of_or_whose_values_were_once_partitions():
    def made(source: int, transform: str = "bucket[4]") -> dict[str, Any]:
        return {"source-id": source, "transform": transform}

    found = metadata(
        [column(number, name) for number, name in enumerate("abcdef", 1)] + [column(7, "g", struct(column(8, "in")))],
        **{
            "default-spec-id": 1,
            "partition-specs": [
                {"spec-id": 0, "fields": [made(1), made(2, "identity")]},
                {"spec-id": 1, "fields": [made(3), made(8)]},
            ],
        },
    )
    assert used_by_layout(found) == {"b", "c", "g"}
    orders = [{"order-id": 1, "fields": [made(4)]}, {"order-id": 2, "fields": [made(5)]}]
    assert used_by_layout({**found, "sort-orders": orders, "default-sort-order-id": 2}) == {"b", "c", "e", "g"}


def test_of_what_a_job_has_made_ready_and_no_row_shows_the_outermost_is_named():
    before = [column(1, "pk"), column(2, "m", struct(column(3, "x")))]
    inner = struct(column(3, "x"), column(4, "y", struct(column(5, "z"))))
    now = [column(1, "pk"), column(2, "m", inner), column(6, "new", struct(column(7, "in"))), column(8, "a")]
    assert fields_made_ready(metadata(before, now), {1, 3, 4, 5, 6, 7, 8}) == ["a", "m.y", "new"]
    assert fields_made_ready(metadata(before, now), {6, 7}) == ["new"]


def test_only_the_key_and_what_nobody_can_change_is_required_with_reason():
    of_map = {"type": "map", "key-id": 30, "key": "string", "value-id": 31, "value": "string"}
    columns = [
        column(1, "pk", required=True),
        column(2, "a", required=True),
        column(3, "m", struct(column(4, "x", required=True), column(5, "y"))),
        column(6, "d", {**of_map, "value-required": True}),
        column(7, "e", {**of_map, "value-required": False}),
        column(8, "_misfits", {**of_map, "value-required": True}),
        column(9, "_write_time", "timestamptz", required=True),
    ]
    found = metadata(columns, properties={"tidemark.key": '["pk"]'})
    assert needlessly_required(found) == ["a", "m.x", "d.value", "_write_time"]
    assert needlessly_required(metadata(columns))[:2] == ["pk", "a"]


def test_ids_are_gone_that_no_schema_has_any_more():
    of_list = {"type": "list", "element-id": 4, "element": struct(column(5, "y")), "element-required": False}
    first = [column(1, "pk"), column(2, "m", struct(column(3, "x"))), column(6, "lines", of_list)]
    assert gone_ids(metadata(first, **{"last-column-id": 6})) == []
    assert gone_ids(metadata(first, [column(1, "pk"), column(7, "new")], **{"last-column-id": 7})) == []
    assert gone_ids(metadata([column(1, "pk"), column(6, "lines", of_list)], **{"last-column-id": 8})) == [2, 3, 7, 8]
    assert gone_ids(metadata([column(7, "new")], [column(8, "newer")], **{"last-column-id": 8})) == [*range(1, 7)]
