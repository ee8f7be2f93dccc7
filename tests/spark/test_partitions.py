"""The table's partitions: named so that no attribute's name, and no length of a key's name, stands in their way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.errors import PartitionsKept
from pipeline.identity import KeyAttribute
from tests.spark.sample_items import N_KEY, S, item
from tests.spark.verifying import differences, verify

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("attribute", ["pk_bucket", "partition"])
def test_an_attribute_may_be_named_as_partitions_are(shop, attribute):
    source = shop()
    source.put(1, {"pk": {"S": "a"}, attribute: {"S": "at first"}})
    source.load(5)
    source.put(6, {"pk": {"S": "b"}, attribute: {"N": "1"}})
    source.merge(5, 20)
    assert source.differences(20) == []


def test_such_an_attribute_may_come_later(shop):
    source, attribute = shop(), "pk_bucket"
    source.put(1, {"pk": {"S": "a"}})
    source.load(5)
    source.put(6, {"pk": {"S": "b"}, attribute: {"S": "new"}})
    source.merge(5, 20)
    source.load(20)
    assert source.differences(20) == []


def test_a_partition_that_a_person_has_added_keeps_its_name(shop):
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "state": S})
    source.load(5)
    table = f"glue.shop.{source.name}"
    source.spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD truncate(2, pk) AS start")
    source.spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD state")
    source.spark.sql(f"ALTER TABLE {table} DROP PARTITION FIELD start")
    source.put(6, {"pk": {"S": "b"}, "start": S, "state": S})
    source.merge(5, 20)
    assert source.differences(20) == []
    assert {field["name"]: field.get("doc") for field in source.metadata["schemas"][-1]["fields"]}["start_2"] == "start"


def test_a_key_may_have_the_longest_name(shop):
    source = shop(key=(KeyAttribute("k" * 255, "S"),))
    source.put(1, {"k" * 255: {"S": "a"}, "text": S})
    source.load(5)
    assert source.differences(5) == []


def test_a_table_that_is_made_anew_with_other_buckets_is_merged_into_and_keeps_its_snapshots(shop):
    source = shop(key=N_KEY)
    source.put(1, {**item("a"), "sk": {"N": "1"}, "pk_bucket_2": S})
    source.load(5)
    # The key needs another type: the table is made anew, with the buckets that the settings say by now.
    source.put(6, {**item("a"), "sk": {"N": "1.5"}})
    source.run(replace(source.full(20), buckets=8))
    snapshots = len(source.metadata["snapshots"])
    source.put(21, {**item("a", v=S), "sk": {"N": "1.5"}})
    source.merge(20, 35)
    assert source.differences(35) == []
    assert len(source.metadata["snapshots"]) == snapshots + 1
    specs = len(source.metadata["partition-specs"])
    source.maintain(35)
    source.merge(35, 50)
    assert (source.differences(50), len(source.metadata["partition-specs"])) == ([], specs)
    # Once more: the next free name is one that no former partition has either.
    source.put(51, {**item("a"), "sk": {"N": "1.55"}})
    source.run(replace(source.full(60), buckets=16))
    source.put(61, {**item("a", v=S), "sk": {"N": "1.55"}})
    source.merge(60, 75)
    assert source.differences(75) == []


@pytest.fixture
def partitioned_before(shop):
    """A table that had partitions by a column, dropped since and brought back by a full export, and changes after that."""
    source = shop()
    source.put(1, item("a", state=S), item("b", state=S))
    source.load(5)
    source.change("ALTER table TABLE ADD PARTITION FIELD state")
    source.put(6, item("b", state=S, v=S))
    source.merge(5, 20)
    for dropped in ("PARTITION FIELD", "COLUMN"):
        source.change(f"ALTER table TABLE DROP {dropped} state")
    source.load(20)
    source.put(21, item("b", state=S))
    return source


def test_former_partitions_go_however_many_snapshots_the_table_is_set_to_keep(partitioned_before):
    source = partitioned_before
    source.change("ALTER table TABLE SET TBLPROPERTIES ('history.expire.min-snapshots-to-keep' = '10')")
    source.merge(20, 35)
    assert source.differences(35) == []


def test_former_partitions_stay_where_the_branch_is_set_to_keep_more_snapshots(partitioned_before):
    source = partitioned_before
    main = f"ALTER table TABLE REPLACE BRANCH main AS OF VERSION {source.metadata['current-snapshot-id']}"
    source.change(f"{main} WITH SNAPSHOT RETENTION 10 SNAPSHOTS")
    with pytest.raises(PartitionsKept, match="tags and branches: main"):
        source.merge(20, 35)
    source.change(f"{main} WITH SNAPSHOT RETENTION 1 SNAPSHOTS")
    source.merge(20, 35)
    assert source.differences(35) == []


@pytest.mark.parametrize("is_maintained", [False, True])
def test_other_buckets_that_a_person_gives_a_table_under_their_former_name_get_one_of_their_own(shop, is_maintained):
    source = shop()
    source.put(1, *(item(f"k{i}") for i in range(8)))
    source.load(5)
    source.change("ALTER table TABLE REPLACE PARTITION FIELD pk_bucket WITH bucket(8, pk) AS pk_bucket")
    if is_maintained:
        source.maintain(5)
    source.put(6, item("k1", v=S, pk_bucket_2=S))
    source.delete(7, {"pk": {"S": "k2"}})
    source.merge(5, 20)
    assert source.differences(20) == []
    assert source.metadata["partition-specs"][-1]["fields"][0]["name"] == "pk_bucket_2"


def test_partitions_by_a_field_s_own_value_show_structs_that_are_not_there_until_a_full_export_without_them(shop):
    source = shop()
    source.put(1, item("a", m={"M": {"x": S}}), item("b", m={"M": {"x": S}}))
    source.load(5)
    source.change("ALTER table TABLE ADD PARTITION FIELD m.x")
    source.put(6, item("b", v=S))
    source.merge(5, 20)
    (found,) = differences(source, 20)["differences"]
    assert (found["key"], [one["path"] for one in found["values"]]) == ('{"pk":"b"}', ["/m"])
    source.change("ALTER table TABLE DROP PARTITION FIELD m.x")
    source.load(20)
    source.maintain(20)
    assert verify(source, 20)["result"] == "0 differences"
