"""The table's partitions: named so that no attribute's name, and no length of a key's name, stands in their way."""

from __future__ import annotations

import pytest

from pipeline.identity import KeyAttribute
from tests.spark.sample_items import S

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
