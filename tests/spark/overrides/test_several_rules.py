"""Where several rules speak of one place: the last decides the type, and what is hashed is a string."""

from __future__ import annotations

import pytest

from pipeline.errors import OverrideContradicted
from tests.spark.overriding import carry_out
from tests.spark.sample_items import N, S, item

pytestmark = pytest.mark.spark


def test_of_several_rules_for_a_place_the_last_decides_what_contradicts(shop):
    source = shop()
    said = {"/a/*": "S", "/a/d": "N", "/prices/*": "bigint", "/prices/note": "S", "/prices/who": {"hash": True}}
    prices = {f"p{n}": N for n in range(600)}
    source.put(1, item("a", a={"M": {"d": N, "x": S}}, prices={"M": {**prices, "note": S, "who": S}}))
    assert carry_out(source, source.full(5), **said)["counts"]["misfits"] == 2
    assert set(dict(source.rows()["a"]["_misfits"])) == {"/prices/note", "/prices/who"}
    source.put(6, item("b", a={"M": {"d": {"N": "1.5"}}}, prices={"M": {"note": S, "who": N}}))
    assert carry_out(source, source.windows(5, 25), **said)["counts"]["misfits"] == 3
    for at, (odd, words) in enumerate(
        (
            ({"a": {"M": {"d": S}}}, r"columns\['/a/d'\] declares the type N, which excludes values of type S: 1"),
            ({"a": {"M": {"x": N}}}, r"columns\['/a/\*'\] declares the type S, which excludes values of type N: 1"),
            ({"prices": {"M": {"p1": S}}}, r"columns\['/prices/\*'\] declares .* of type S: 1"),
        )
    ):
        source.put(26 + at, item("c", **odd))
        with pytest.raises(OverrideContradicted, match=words):
            carry_out(source, source.windows(25, 45 + at), **said)
