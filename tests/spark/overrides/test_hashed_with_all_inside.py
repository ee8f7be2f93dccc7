"""A value that is now a scalar and now a list or map: hashed itself, and hidden inside, or refused by name."""

from __future__ import annotations

import pytest

from pipeline.errors import OverrideContradicted
from tests.spark.overriding import carry_out, hashed
from tests.spark.sample_items import item
from tests.spark.verifying import verify_order

pytestmark = pytest.mark.spark

ADA, BOB = {"S": "ada@example.org"}, {"S": "bob@example.org"}
ADA_HASHED, BOB_HASHED = hashed('{"S":"ada@example.org"}'), hashed('{"S":"bob@example.org"}')
HASH, DROP = {"hash": True}, {"drop": True}


def test_a_scalar_a_list_and_a_map_in_one_place_are_all_hidden_once_what_is_inside_is_said_too(shop):
    source, said = shop(), {"mail": HASH, "post": HASH, "/post/*": DROP}
    source.put(1, item("scalar", mail=ADA, post=ADA), item("set", mail={"SS": ["a@example.org"]}, post={"L": [ADA]}))
    carry_out(source, source.full(5), **said)
    source.put(6, item("list", mail={"L": [ADA, BOB]}, post={"L": [BOB]}), item("scalar", mail=BOB, post=BOB))
    source.put(6, item("map", mail={"M": {"work": ADA}}, post={"M": {"work": ADA}}))
    with pytest.raises(OverrideContradicted, match=r"hash what is inside as well \(/mail/\*\) or drop /mail"):
        carry_out(source, source.windows(5, 25), **said)
    said["/mail/*"] = HASH
    # The table holds no list there yet: it need not be loaded anew.
    carry_out(source, source.windows(5, 25), **said)
    carry_out(source, verify_order(source, 25), **said)
    rows = {pk: str(row) for pk, row in source.rows().items()}
    assert "example.org" not in str(rows)
    assert {pk: (row.count(ADA_HASHED), row.count(BOB_HASHED)) for pk, row in rows.items()} == {
        "scalar": (0, 2),
        "set": (0, 0),
        "list": (1, 1),
        "map": (1, 0),
    }


def test_of_what_is_hidden_inside_a_scalar_in_its_place_is_not_shown(shop):
    source, said = shop(), {"/mail/*": HASH, "/in/post/*": DROP}
    lists = {"mail": {"L": [ADA]}, "in": {"M": {"post": {"L": [ADA]}}}}
    source.put(1, item("lists", **lists), item("null", mail={"NULL": True}))
    carry_out(source, source.full(5), **said)
    for n, (place, odd) in enumerate({"/mail": {"mail": BOB}, "/in/post": {"in": {"M": {"post": BOB}}}}.items()):
        source.put(6 + n, item("odd", **odd))
        with pytest.raises(OverrideContradicted) as refused:
            carry_out(source, source.windows(5, 25 + n), **said)
        told = str(refused.value)
        assert f"columns['{place}/*'] speaks of what is inside; items that hold a scalar at such a place: 1" in told
        assert '"odd"' in told and f"({place}), or drop {place}" in told
    carry_out(source, source.full(30), **said, mail=HASH, **{"/in/post": HASH})
    assert "example.org" not in str(source.rows())
