"""What a verification sees inside of values: members and elements that are too many, too few or others, and lost misfits."""

from __future__ import annotations

import json

import pytest

from pipeline.columns.declared.overrides import Overrides
from tests.spark.sample_items import N, S, item
from tests.spark.verifying import differences, verify

pytestmark = pytest.mark.spark

#: What the items hold beside their keys: a dictionary, a list, and two misfits, of which one's name begins with the other's.
HELD = {
    "sizes": {"M": {"s": N, "none": {"NULL": True}}},
    "codes": {"L": [S, S]},
    "odd": S,
    "odder": S,
}
#: An item with a misfit inside a map. That may as well be kept as a whole, as when there was no column for it: no difference.
WHOLE = {"ship": {"M": {"city": {"L": [N]}}}}
#: What somebody has done to a row: the column, what it shows since, and the place that a verification must name.
TAMPERED = {
    "a member more": ("sizes", "map_concat(sizes, map('l', 2))", "/sizes"),
    "a member less": ("sizes", "map('s', 1)", "/sizes"),
    "a member that has no value under another name": ("sizes", "map('s', 1, 'any', NULL)", "/sizes"),
    "a map lost": ("sizes", "NULL", "/sizes"),
    "a list lost": ("codes", "NULL", "/codes"),
    "an element more": ("codes", "array('x', 'x', 'x')", "/codes"),
    "an element less": ("codes", "array('x')", "/codes"),
    "a misfit lost": ("_misfits", """map('/odd', '{"S":"x"}')""", "/odder"),
}


def test_members_elements_and_misfits_that_are_not_the_items_are_differences(shop):
    s = shop(columns=Overrides.parse({"sizes": "map"}))
    s.put(1, *(item(pk, **HELD) for pk in TAMPERED), item("whole", **WHOLE))
    s.put(1, *(item(f"k{n}", odd={"L": [N]}, odder={"L": [N]}, ship={"M": {"city": S}}) for n in range(20)))
    s.load(5)
    assert verify(s, 5)["counts"]["equal"] == 21 + len(TAMPERED)
    s.change(
        "UPDATE TABLE SET ship = NULL, _misfits = map('/ship', 'SHIP') WHERE pk = 'whole'",
        SHIP=json.dumps(WHOLE["ship"]),
    )
    for pk, (column, shown, _) in TAMPERED.items():
        s.change("UPDATE TABLE SET COLUMN = SHOWN WHERE pk = 'PK'", COLUMN=column, SHOWN=shown, PK=pk)
    shown = {json.loads(row["key"])["pk"]: row["values"] for row in differences(s, 5)["differences"]}
    assert {pk: [value["path"] for value in values] for pk, values in shown.items()} == {
        pk: [place] for pk, (*_, place) in TAMPERED.items()
    }
