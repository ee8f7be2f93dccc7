"""The key that rows are found by: one for the life of a source table, and another where that is created anew."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.types import LONG, TEXT, Field
from pipeline.errors import ConflictingChanges, KeyMismatch, PartitionsKept
from pipeline.identity import KeyAttribute, SourceTable
from spark.job import run
from spark.merging import changes
from tests.spark.sample_items import S
from tests.spark.shop import ARN, BOTH_IMAGES, NEW_ONLY, Shop, minute
from tests.spark.tampering import contradicting, rewrite

pytestmark = pytest.mark.spark

CUSTOMER, ORDER = KeyAttribute("customer", "S"), KeyAttribute("order", "N")


def of(customer: str, order: int, **attributes):
    return {"customer": {"S": customer}, "order": {"N": str(order)}, **attributes}


@pytest.fixture
def orders(shop) -> Shop:
    """A table of two orders of one customer, and another total of one of them in the next window."""
    source = shop()
    source.key = (CUSTOMER, ORDER)
    source.put(1, of("ada", 1, total={"N": "5"}), of("ada", 2, total={"N": "7"}))
    source.load(5)
    source.put(6, of("ada", 2, total={"N": "8"}))
    return source


@pytest.mark.parametrize(("stored", "spelled"), [("1", "1.0"), ("1", "1e0"), ("1" + "0" * 60, "1E+60")])
def test_a_number_of_the_key_is_one_value_however_exports_spell_it(shop, stored, spelled):
    source = shop(key=(KeyAttribute("pk", "N"),))
    source.put(1, {"pk": {"N": stored}, "a": S}, {"pk": {"N": "2"}})
    source.load(5)
    source.put(6, {"pk": {"N": stored}, "a": {"S": "new"}})
    order = source.windows(5, 20)

    def respelled(lines: list[str]) -> list[str]:
        changed = [line.replace(f'"N":"{stored}"', f'"N":"{spelled}"') for line in lines]
        assert changed != lines
        return changed

    # The exports of the local AWS have no number but as DynamoDB stores it.
    rewrite(source, order, respelled)
    counts = run(source.spark, order)["counts"]
    assert (counts["read"], counts["inserted"], counts["updated"]) == (1, 0, 1)
    assert sorted(str(row["a"]) for row in source.rows().values()) == ["None", "new"]


def test_changes_by_a_part_of_the_key_are_refused_and_the_table_stays(orders):
    order, before = orders.windows(5, 25), orders.metadata
    for wrong in ((CUSTOMER,), (ORDER, CUSTOMER, KeyAttribute("total", "N"))):
        with pytest.raises(KeyMismatch, match="are not found by the key"):
            run(orders.spark, replace(order, source=replace(order.source, key=wrong)))
    assert orders.metadata == before
    run(orders.spark, order)
    assert orders.differences(25) == []


def test_records_with_more_attributes_in_their_key_are_of_another_key(orders, shop):
    other = shop()
    other.key, other.writes = orders.key, orders.writes
    order = other.full(5)
    run(other.spark, replace(order, source=replace(order.source, key=(CUSTOMER,))))
    order = other.windows(5, 25)
    with pytest.raises(KeyMismatch, match="1 record with another key than customer:S"):
        run(other.spark, replace(order, source=replace(order.source, key=(CUSTOMER,))))
    assert other.state.watermark == minute(5)


@pytest.mark.parametrize(
    "key",
    [
        pytest.param((ORDER,), id="a part of it"),
        pytest.param((KeyAttribute("id", "S"),), id="a new attribute"),
        pytest.param((KeyAttribute("2", "N"),), id="one that reads like a number"),
    ],
)
def test_a_source_created_anew_with_another_key_is_loaded_by_a_full_export(orders, key):
    recreated, items = "another-id", [{"id": {"S": "x"}, "2": {"N": "2"}, "order": {"N": "1"}, "total": S}]
    orders.table_id, orders.key, orders.writes = recreated, key, []
    orders.put(31, *items)
    orders.load(35)
    orders.put(36, {**items[0], "total": {"N": "1"}, "customer": S})
    orders.merge(35, 55)
    assert orders.differences(55) == []
    assert orders.state.marker.source_id == recreated


def test_a_person_s_partition_by_a_nested_field_is_none_of_a_former_key(orders):
    orders.put(1, of("ada", 3, ship={"M": {"city": S}}))
    orders.load(5)
    orders.spark.sql(f"ALTER TABLE glue.shop.{orders.name} ADD PARTITION FIELD ship.city")
    snapshots = len(orders.metadata["snapshots"])
    orders.merge(5, 25)
    assert len(orders.metadata["snapshots"]) > snapshots
    assert orders.differences(25) == []


def test_a_partition_key_that_gets_another_name_is_merged_into_and_maintained(orders):
    before = orders.metadata["current-snapshot-id"]
    orders.columns = Overrides.parse({"customer": {"name": "who"}})
    orders.load(25)
    orders.put(26, of("ada", 1, total={"N": "6"}), of("bob", 3))
    table = f"glue.shop.{orders.name}"
    orders.spark.sql(f"ALTER TABLE {table} CREATE TAG before AS OF VERSION {before}")
    orders.spark.sql(f"ALTER TABLE {table} CREATE BRANCH tidemark_load_that_died AS OF VERSION {before}")
    snapshots = orders.metadata["snapshots"]
    with pytest.raises(PartitionsKept, match=r"tags and branches: before\n"):
        orders.merge(25, 45)
    assert orders.metadata["snapshots"] == snapshots
    orders.spark.sql(f"ALTER TABLE {table} DROP TAG before")
    orders.spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('history.expire.min-snapshots-to-keep'='10')")
    files = set(orders.table_folder.rglob("*.parquet"))
    orders.merge(25, 45)
    assert orders.differences(45) == []
    # Readers may still be at files whose snapshots have gone.
    assert files <= set(orders.table_folder.rglob("*.parquet"))
    orders.maintain(45)
    assert orders.differences(45) == []


@pytest.mark.parametrize("view", [BOTH_IMAGES, NEW_ONLY])
def test_changes_that_are_refused_let_nothing_of_a_former_key_go(orders, view):
    orders.columns, orders.view = Overrides.parse({"customer": {"name": "who"}}), view
    orders.load(25)
    orders.put(26, of("ada", 1, total={"N": "6"}), of("bob", 3, total={"N": "2"}))
    order, before = orders.windows(25, 45), orders.metadata
    assert len(before["snapshots"]) > 1
    assert len(before["partition-specs"]) == 2
    contradicting(orders, order)
    with pytest.raises(ConflictingChanges):
        orders.run(order)
    assert orders.metadata == before
    orders.merge(25, 45)
    assert orders.differences(45) == []


def test_of_records_without_a_whole_key_nothing_is_gathered(spark):
    columns = Columns(
        tuple(Field(part.name, part.name, type_) for part, type_ in ((CUSTOMER, TEXT), (ORDER, LONG))), ()
    )
    keys = [{}, {"customer": {"S": "ada"}}, of("ada", 1), of("ada", 1)]
    records = [
        {"Metadata": {"WriteTimestampMicros": {"N": "1"}}, "Keys": key, "NewImage": {**key, "v": {"N": str(n)}}}
        for n, key in enumerate([*keys, *keys])
    ]
    of_lines = "value string, `#weight` bigint, `#window` int"
    lines = spark.createDataFrame([(json.dumps(record), 7, 0) for record in records], of_lines)
    rows = changes.folded(lines, SourceTable(ARN, "id", (CUSTOMER, ORDER)), columns)
    told = ("#key0", "#key1", changes.RECORDS, changes.LACKING, changes.CONFLICTS)
    found = {tuple(row) for row in rows.select(*(f"`{name}`" for name in told)).collect()}
    assert found == {(None, None, 2, 2, 0), ("ada", None, 2, 2, 0), ("ada", 1, 4, 0, 3)}
