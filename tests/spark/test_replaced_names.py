"""A table that is replaced keeps the ids of its columns' names: what its partitions were made of must not become another type."""

from __future__ import annotations

import pytest

import spark.loading.sampling as sampling
from pipeline.identity import KeyAttribute
from spark.iceberg.table import Table
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
