"""Members of maps in lists and dictionaries that are called as Iceberg calls the step to them, which short names leave out."""

from __future__ import annotations

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.identity import KeyAttribute
from spark.loading import sampling
from tests.spark.sample_items import N, S, item
from tests.spark.verifying import verify

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(("step", "around"), [("element", "L"), ("value", "M")])
def test_a_map_s_new_member_may_be_called_like_one_of_the_map_inside_it(shop, step, around):
    def lines(member):
        return {around: [{"M": member}] if around == "L" else {"any": {"M": member}}}

    inner = {"M": {"amount": N}}
    source = shop(columns=Overrides.parse({"lines": "map"} if around == "M" else {}))
    source.put(1, item("a", lines=lines({step: inner})))
    source.load(5)
    source.put(6, item("b", lines=lines({step: inner, "amount": N})))
    if around == "L":
        # What is inside a value that is no list at all, is in none of its maps.
        source.put(6, item("odd", lines={"M": {"any": {"M": {"amount": N}}}}))
    (new,) = source.merge(5, 20)["new_columns"]
    assert (new["column"], new["path"], new["count"]) == ("lines.amount", "/lines/*/amount", 1)
    assert (source.rows()["b"]["_misfits"], source.differences(20)) == (None, [])
    source.put(21, item("c", lines=lines({step: {"M": {"tax": N}}})), item("d", lines=lines({"tax": N})))
    source.load(40)
    assert source.differences(40) == []
    assert verify(source, 40)["result"] == "0 differences"


def test_a_map_s_new_member_may_hold_what_one_of_the_map_inside_it_holds(shop):
    # Of what lies so deep only that has a column of which something is said.
    said = dict.fromkeys(("/lines/*/home/city", "/lines/*/element/home/city"), "S")
    source, home = shop(columns=Overrides.parse(said)), {"home": {"M": {"city": S}}}
    inner = {"element": {"M": home}}
    source.put(1, item("a", lines={"L": [{"M": inner}]}))
    source.load(5)
    source.put(6, item("b", lines={"L": [{"M": {**inner, **home}}]}))
    assert source.merge(5, 20)["counts"]["misfits"] == 0
    assert source.differences(20) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"L": [{"M": {"x": N}}]}, {"M": {"x": N, "element": {"M": {"x": S}}}}),
        ({"M": {"any": {"M": {"value": {"M": {"x": N}}}}}}, {"M": {"any": {"M": {"value": {"M": {"x": S}}, "x": N}}}}),
    ],
)
def test_a_table_with_another_key_takes_members_that_the_one_before_knew_by_short_names(shop, before, after):
    source = shop(columns=Overrides.parse({} if "L" in before else {"lines": "map"}))
    source.put(1, item("a", lines=before))
    source.load(5)
    source.key, source.table_id = (KeyAttribute("id", "S"),), "0b9ff8a2-0000-4000-8000-000000000002"
    source.writes.clear()
    source.put(6, {"id": S, "lines": after})
    source.load(20)
    assert (source.differences(20), verify(source, 20)["result"]) == ([], "0 differences")


def test_a_second_pass_takes_members_that_the_first_knew_by_short_names(shop, monkeypatch):
    monkeypatch.setattr(sampling, "MOST_ITEMS", 1)
    source = shop()
    # The first of all, by their lines, and many more of another type.
    lines = {"M": {"x": N, "element": {"M": {"x": S}}}}
    source.put(1, item("a", lines={"L": [{"M": {"x": N}}]}), *(item(f"b{i}", lines=lines) for i in range(9)))
    assert source.load(5, partitions=1)["passes"] > 1
    assert (source.differences(5), verify(source, 5)["result"]) == ([], "0 differences")


def test_a_table_whose_key_needs_decimals_takes_such_a_member_in_the_merge_after_that(shop):
    source = shop(key=(KeyAttribute("pk", "N"),))
    inner = {"element": {"M": {"x": N}}}
    source.put(1, {"pk": N, "lines": {"L": [{"M": inner}]}})
    source.load(5)
    item_with_both = {"pk": {"N": "1.5"}, "lines": {"L": [{"M": {**inner, "x": N}}]}}
    source.put(6, item_with_both)
    assert source.load(20)["counts"]["misfits"] == 1
    assert (source.differences(20), verify(source, 20)["result"]) == ([], "0 differences")
    source.put(21, item_with_both)
    assert source.merge(20, 40)["counts"]["misfits"] == 0
    assert (source.differences(40), verify(source, 40)["result"]) == ([], "0 differences")
