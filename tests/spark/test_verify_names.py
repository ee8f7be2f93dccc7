"""What a verification looks up by names: those that JSON pointers spell otherwise, and maps under any names inside others."""

from __future__ import annotations

import json

import pytest

from pipeline.columns.declared.overrides import Overrides
from tests.spark.sample_items import N, S, item
from tests.spark.verifying import differences, verify

pytestmark = pytest.mark.spark

#: Of several types, so plain JSON in the table, whose sets and maps any writer may put in another order.
MIXED = {"L": [S, {"M": {"b": {"SS": ["z", "y"]}, "a/c": N}}]}
REORDERED = '["x",{"a/c":1.0,"b":["y","z"]}]'
OTHER = '["x",{"a/c":1,"b":["y","w"]}]'
#: Attributes with such a value somewhere in them: where its JSON pointer leads, and what SQL sets to write it anew.
NAMED = {
    "a/b": (MIXED, "/a~1b", "a_b = {}"),
    "in~1": ({"M": {"c~d": MIXED}}, "/in~01/c~0d", "in_1 = named_struct('c_d', {})"),
    "any/": (
        {"M": {"x/~y": {"M": {"v": MIXED}}}},
        "/any~1/x~1~0y/v",
        "any_ = map('x/~y', named_struct('v', {}))",
    ),
}


def test_names_with_slashes_and_tildes_lead_to_the_values_that_are_compared_and_shown(shop):
    source = shop(columns=Overrides.parse({"any/": "map"}))
    attributes = {name: value for name, (value, *_) in NAMED.items()}
    source.put(1, *(item(how + name, **attributes) for how in ("other", "kept", "spelled") for name in NAMED))
    source.load(5)
    assert verify(source, 5)["counts"]["equal"] == 9

    for name, (_, place, written) in NAMED.items():
        kept = f"{written.format('cast(NULL AS string)')}, _misfits = map('{place}', '{json.dumps(MIXED)}')"
        changes = {
            "other": written.format(f"'{OTHER}'"),
            "spelled": written.format(f"'{REORDERED}'"),
            "kept": kept,
        }
        for how, change in changes.items():
            source.change("UPDATE TABLE SET CHANGE WHERE pk = 'HOW'", CHANGE=change, HOW=how + name)

    report = differences(source, 5)
    assert (report["counts"]["equal"], report["counts"]["different"]) == (6, 3)
    told = {json.loads(row["key"])["pk"]: row["values"] for row in report["differences"]}
    assert set(told) == {f"other{name}" for name in NAMED}
    for name, (value, place, _) in NAMED.items():
        (found,) = told[f"other{name}"]
        assert found["path"] == "/" + place.split("/")[1]
        assert json.loads(found["source"]) == value
        assert '"w"' in found["table"].replace("\\", "")


def test_dictionaries_inside_of_maps_lists_and_dictionaries_are_compared_by_what_they_hold(shop):
    prices = {"M": {"eur": N, "usd": N}}
    held = {"by_shop": {"M": {"any": prices}}, "rows": {"L": [prices]}, "of": {"M": {"prices": prices}}}
    said = dict.fromkeys(("/by_shop", "/by_shop/*", "/rows/*", "/of/prices"), "map")
    source = shop(columns=Overrides.parse(said))
    source.put(1, *(item(pk, **held) for pk in ("equal", *held)))
    source.load(5)
    assert verify(source, 5)["counts"]["equal"] == 4
    turned, other = "map('usd', 1, 'eur', 1)", "map('usd', 1, 'eur', 2)"
    written = {"by_shop": "map('any', {})", "rows": "array({})", "of": "named_struct('prices', {})"}
    every = ", ".join(f"{column} = {how.format(turned)}" for column, how in written.items())
    source.change("UPDATE TABLE SET EVERY WHERE pk = 'equal'", EVERY=every)
    for column, how in written.items():
        source.change("UPDATE TABLE SET CELL WHERE pk = 'PK'", CELL=f"{column} = {how.format(other)}", PK=column)
    report = differences(source, 5)
    told = {json.loads(row["key"])["pk"]: [value["path"] for value in row["values"]] for row in report["differences"]}
    assert told == {column: [f"/{column}"] for column in held}
