"""Every odd name there is, and 1,500 attributes in one table, read back by two engines that know nothing of each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from local.bench import wide
from local.compare import differences
from local.reader import columns, read_folder
from tests.spark.duck import read_by_duckdb
from tests.spark.sample_items import ALL_TYPES
from tests.spark.shop import Shop

pytestmark = pytest.mark.spark

ODD_NAMES = (
    *(name for name in ALL_TYPES if name != "pk"),
    *("a.b", "a b", "a/b", "a~b", "a-b", "a_b", "A.B", " leading", "trailing ", "tab\there", "`quoted`", '"quoted"'),
    *("'; DELETE FROM orders; --", "${spark.home}", "%s%d", "{}", "[0]", "*", "?", "#item", "0digits", "123", "-1"),
    *(
        "😀",
        "größe",
        "名前",
        "é",
        "e\u0301",
        "\u200b",
        "null",
        "true",
        "table",
        "group by",
        "NULL",
        "_pk",
        "_write_time",
    ),
    *("t", "c", "pk_bucket", "_WRITE_TIME", "_file", "_pos", "_partition", "_corrupt_record", "\\", "\\u0041"),
    *("x" * 255, "x" * 256, "y" * 4_000),
)


def odd_item(pk: str, version: int) -> dict[str, Any]:
    """Every odd name; all kinds of values but NULL, and with another version other ones."""
    values = [value for name, value in ALL_TYPES.items() if name not in ("pk", "nothing")]
    return {"pk": {"S": pk}, **{name: values[(i + version) % len(values)] for i, name in enumerate(ODD_NAMES)}}


def wide_item(pk: str) -> dict[str, Any]:
    """Every odd name, and as many plain ones as make 1,500 attributes."""
    plain = json.loads(wide.item(wide.WIDE - len(ODD_NAMES), len(pk)))
    return {**{name: value for name, value in plain.items() if name.startswith("attribute")}, **odd_item(pk, 0)}


def differences_by_duckdb(shop: Shop, at: float) -> list[str]:
    """Where the table, read by DuckDB, differs from what the source held at a minute."""
    rows, named = read_by_duckdb(shop.table_folder), columns(read_folder(shop.table_folder))
    return [str(found) for found in differences(shop.items(at), rows, named, ("pk",))]


def test_every_odd_name_is_loaded_and_merged_and_read_by_two_engines(shop: Callable[..., Shop]):
    source = shop()
    source.put(1, *(odd_item(f"item {number}", number % 2) for number in range(5)))
    source.load(5)
    source.put(6, odd_item("item 3", 2), odd_item("another", 0))
    source.delete(7, {"pk": {"S": "item 4"}})
    source.merge(5, 20)
    assert source.differences(20) == []
    assert differences_by_duckdb(source, 20) == []


def test_fifteen_hundred_attributes_are_loaded_and_merged_and_read_by_two_engines(shop: Callable[..., Shop]):
    source = shop()
    source.put(1, *(wide_item("x" * number) for number in range(1, 11)))
    source.load(5)
    assert len(read_folder(source.table_folder).schema().fields) == wide.WIDE + 3  # the key, and our own two
    assert source.differences(5) == []
    assert differences_by_duckdb(source, 5) == []
    source.put(6, {**wide_item("x"), "attribute 7": {"N": "0.125"}}, wide_item("new"), {"pk": {"S": "xx"}})
    source.delete(7, {"pk": {"S": "xxx"}})
    source.merge(5, 20)
    assert source.differences(20) == []
    assert differences_by_duckdb(source, 20) == []
