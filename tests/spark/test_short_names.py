"""Members of maps in lists and dictionaries that are called as Iceberg calls the step to them, which short names leave out."""

from __future__ import annotations

import pytest

from pipeline.columns.overrides import Overrides
from tests.spark.sample_items import N, item
from tests.spark.verifying import verify

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(("step", "around"), [("element", "L"), ("value", "M")])
def test_a_map_s_new_member_may_be_called_like_one_of_the_map_inside_it(shop, step, around):
    def lines(member):
        return {around: [{"M": member}] if around == "L" else {"any": {"M": member}}}

    inner = {"M": {"amount": N}}
    source = shop(columns=Overrides.parse({"lines": "L" if around == "L" else "map"}))
    source.put(1, item("a", lines=lines({step: inner})))
    source.load(5)
    source.put(6, item("b", lines=lines({step: inner, "amount": N})))
    report = source.merge(5, 20)
    assert [(new["column"], new["path"]) for new in report["new_columns"]] == [("lines.amount", "/lines/*/amount")]
    assert (source.rows()["b"]["_misfits"], source.differences(20)) == (None, [])
    source.put(21, item("c", lines=lines({step: {"M": {"tax": N}}})), item("d", lines=lines({"tax": N})))
    source.load(40)
    assert source.differences(40) == []
    assert verify(source, 40)["result"] == "0 differences"
