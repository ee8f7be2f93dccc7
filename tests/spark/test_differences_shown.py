"""What a verification shows of the first keys that differ: the values of both sides, or of the only one."""

from __future__ import annotations

import json

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.identity import KeyAttribute
from tests.spark.overriding import SECRET, hashed
from tests.spark.sample_items import N, item
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
    # Of the first keys some have no row: these stand among the others.
    s.change("DELETE FROM TABLE WHERE n % 2 = 1")
    report = differences(s, 5)
    assert [report["counts"][name] for name in ("equal", "different", "only_in_source")] == [5, 25, 30]
    first = [n for n in range(60) if n >= 10 or n % 2][:20]
    assert [shown["key"] for shown in report["differences"]] == [f'{{"pk":"k{n:03d}"}}' for n in first]


def test_of_a_long_value_and_of_very_many_the_beginning_is_shown_under_the_key_s_own_name(shop):
    s = shop(key=(KeyAttribute("Order-Id", "S"),))
    long = {"S": "b" * 600}
    s.put(
        1,
        {"Order-Id": {"S": "a"}, "long": long},
        {"Order-Id": {"S": "b"}, **{f"x{n:03d}": N for n in range(120)}, "a" * 600: N},
    )
    s.load(5)
    s.change("UPDATE TABLE SET long = concat(long, '!') WHERE order_id = 'a'")
    s.change("DELETE FROM TABLE WHERE order_id = 'b'")
    changed, lost = differences(s, 5)["differences"]
    assert (changed["key"], lost["key"]) == ('{"Order-Id":"a"}', '{"Order-Id":"b"}')
    (value,) = changed["values"]
    assert [len(value[side]) for side in ("source", "table")] == [500, 500]
    assert [value["path"] for value in lost["values"]] == [
        "/Order-Id",
        "/" + "a" * 499,
        *(f"/x{n:03d}" for n in range(98)),
    ]


def test_a_row_under_another_key_is_one_lost_and_one_invented_and_numbers_count_by_value(shop):
    s = shop(key=(KeyAttribute("pk", "B"), KeyAttribute("sk", "N")))
    s.put(1, *({"pk": {"B": bytes([n])}, "sk": {"N": f"{n}.5"}, "v": N} for n in range(6)))
    s.load(5)
    s.change("UPDATE TABLE SET sk = CASE pk WHEN X'00' THEN 0.50 WHEN X'01' THEN 1.6 ELSE sk END WHERE v = 1")
    s.change("UPDATE TABLE SET pk = X'0300' WHERE pk = X'03'")
    s.change("UPDATE TABLE SET v = 2 WHERE sk = 4.5")

    report = differences(s, 5)

    told = {row["key"]: (row["found"], row["values"][-1]) for row in report["differences"]}
    lost, invented = (
        {"path": "/v", "source": '{"N":"1"}', "table": None},
        {"path": "/v", "source": None, "table": "1"},
    )
    assert told == {
        '{"pk":"AQ==","sk":1.5}': ("only_in_source", lost),
        '{"pk":"AQ==","sk":1.6}': ("only_in_table", invented),
        '{"pk":"Aw==","sk":3.5}': ("only_in_source", lost),
        '{"pk":"AwA=","sk":3.5}': ("only_in_table", invented),
        '{"pk":"BA==","sk":4.5}': ("different", {"path": "/v", "source": '{"N":"1"}', "table": "2"}),
    }
    assert (report["counts"]["equal"], report["counts"]["surplus"]) == (3, 0)
