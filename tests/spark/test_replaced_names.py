"""A table that is replaced keeps the ids of its columns' names: what its partitions were made of must not become another type."""

from __future__ import annotations

from dataclasses import replace

import pytest

import spark.loading.sampling as sampling
from pipeline.columns.declared.overrides import Overrides
from pipeline.errors import OverrideContradicted
from pipeline.identity import KeyAttribute
from spark.iceberg.table import Table
from tests.spark.sample_items import S
from tests.spark.shop import Killed, killed

pytestmark = pytest.mark.spark

TEXTS = {"L": [{"S": "x"}]}


def test_a_rare_attribute_that_reads_like_the_key_does_not_take_its_name_by_the_second_pass(shop, monkeypatch):
    source = shop(key=(KeyAttribute("orderId", "S"),))
    source.put(
        1,
        *({"orderId": {"S": f"k{n}"}, "OrderId": TEXTS} if n == 77 else {"orderId": {"S": f"k{n}"}} for n in range(90)),
    )
    with monkeypatch.context() as patched:
        patched.setattr(sampling, "MOST_ITEMS", 10)
        assert source.load(5)["passes"] == 2
    source.put(6, {"orderId": {"S": "k7"}, "OrderId": TEXTS})
    source.merge(5, 20)
    assert source.differences(20) == []


def test_an_attribute_that_comes_after_a_first_load_was_killed_does_not_take_the_name_of_the_key(shop, monkeypatch):
    source = shop(key=(KeyAttribute("orderId", "S"),))
    source.put(1, {"orderId": {"S": "a"}})
    with monkeypatch.context() as patched:
        patched.setattr(Table, "new_branch", killed)
        with pytest.raises(Killed):
            source.load(5)
    source.put(6, {"orderId": {"S": "b"}, "OrderId": TEXTS})
    source.load(20)
    assert source.differences(20) == []


def test_what_the_former_key_has_become_in_a_source_made_anew_gets_a_name_of_its_own(shop):
    before = shop(key=(KeyAttribute("customer", "S"),))
    before.put(1, {"customer": S, "v": S})
    before.load(5)
    anew = replace(before, key=(KeyAttribute("id", "S"),), table_id="another-id", writes=[])
    anew.put(6, {"id": {"S": "a"}, "customer": {"M": {"name": S}}, "customer_bucket": S})
    anew.load(20)
    anew.put(21, {"id": {"S": "b"}, "customer": {"M": {"name": S}}, "customer_bucket": S})
    anew.merge(20, 40)
    assert anew.differences(40) == []
    assert [column.name for column in anew.table.schema().fields][:3] == ["id", "customer_2", "customer_bucket_2"]


def test_an_unfinished_first_load_keeps_its_names_also_where_the_key_gets_another(shop, monkeypatch):
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "PK": TEXTS})
    with monkeypatch.context() as patched:
        patched.setattr(Table, "new_branch", killed)
        with pytest.raises(Killed):
            source.load(5)
    source.columns = Overrides.parse({"pk": {"name": "id"}})
    source.load(20)
    assert source.differences(20) == []


def test_the_former_name_of_a_key_is_refused_to_a_list_until_the_key_has_another(shop):
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "tags": TEXTS})
    source.load(5)
    source.columns = Overrides.parse({"pk": {"name": "id"}, "tags": {"name": "pk"}})
    with pytest.raises(OverrideContradicted, match="'pk' is declared for the attribute 'tags', of the kind list"):
        source.load(20)
    source.columns = Overrides.parse({"pk": {"name": "id"}})
    source.load(35)
    source.columns = Overrides.parse({"pk": {"name": "id"}, "tags": {"name": "pk"}})
    source.load(50)
    source.put(51, {"pk": {"S": "b"}, "tags": TEXTS})
    source.merge(50, 70)
    assert source.differences(70) == []


def test_a_column_that_partitions_were_made_of_keeps_its_type_where_the_key_changes(shop):
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "state": S})
    source.load(5)
    table = f"glue.shop.{source.name}"
    source.spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD truncate(2, state) AS start")
    source.spark.sql(f"ALTER TABLE {table} DROP PARTITION FIELD start")
    source.put(6, *({"pk": {"S": f"b{n}"}, "state": TEXTS} for n in range(3)))
    source.columns = Overrides.parse({"pk": {"name": "id"}})
    assert source.load(20)["counts"]["misfits"] == 3
    source.put(21, {"pk": {"S": "b0"}, "state": TEXTS})
    source.merge(20, 40)
    assert source.differences(40) == []


def test_a_table_that_a_person_has_partitioned_is_maintained_after_the_first_load_over_it(shop):
    source = shop()
    columns = "(pk STRING, state STRING) USING iceberg PARTITIONED BY (state)"
    source.spark.sql(f"CREATE TABLE glue.shop.{source.name} {columns}")
    source.change("INSERT INTO TABLE VALUES ('a', 'abcdef'), ('b', 'x')")
    source.put(1, *({"pk": {"S": key}, "state": {"N": "7"}} for key in "ab"))
    source.load(5)
    source.maintain(5)
    assert source.differences(5) == []
    assert {row["state_2"] for row in source.rows().values()} == {7}
