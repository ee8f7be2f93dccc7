"""What a verification shows of the first keys that differ: the values of both sides, or of the only one."""

from __future__ import annotations

import json

import pytest

from pipeline.columns.overrides import Overrides
from tests.spark.overriding import SECRET, hashed
from tests.spark.sample_items import item
from tests.spark.verifying import differences

pytestmark = pytest.mark.spark


def test_of_several_rows_of_a_key_all_that_they_hold_is_shown(shop):
    s = shop()
    s.put(1, item("a", n={"N": "1"}), item("b", n={"N": "2"}))
    s.load(5)
    s.copy("a", "b")
    (shown, *_) = [shown for shown in differences(s, 5)["differences"] if shown["found"] == "surplus"]
    held = [(value["path"], value["source"], value["table"]) for value in shown["values"]]
    assert sorted(held) == [("/n", None, "1"), ("/n", None, "2"), ("/pk", None, '"b"')]


def test_of_what_only_the_source_has_hashed_values_are_shown_as_their_hashes(shop):
    s = shop(columns=Overrides.parse({"email": {"hash": True}}), secret=SECRET)
    s.put(1, item("a", email={"S": "x"}), item("b", email={"S": "y"}))
    s.load(5)
    s.lose("a")
    (shown,) = differences(s, 5)["differences"]
    by_path = {value["path"]: value["source"] for value in shown["values"]}
    assert json.loads(by_path["/email"]) == {"S": hashed('{"S":"x"}')}


def test_of_many_differences_the_first_are_shown_and_all_are_counted(shop):
    s = shop()
    s.put(1, *(item(f"k{n:03d}", n={"N": str(n)}) for n in range(60)))
    s.load(5)
    s.change("UPDATE TABLE SET n = n + 1000 WHERE n >= 10")
    report = differences(s, 5)
    assert (report["counts"]["equal"], report["counts"]["different"]) == (10, 50)
    assert [shown["key"] for shown in report["differences"]] == [f'{{"pk":"k{n:03d}"}}' for n in range(10, 30)]
