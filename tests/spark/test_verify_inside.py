"""What a verification sees inside of values: members and elements that are too many, too few or others, and lost misfits."""

from __future__ import annotations

import json

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.columns.types import JSON, ColumnType, Field, Kind
from spark.verifying.sameness import second_look
from tests.spark.sample_items import N, S, item
from tests.spark.verifying import differences, tamper, verify

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


#: Plain JSON in every kind of container: a value, and what SQL makes of its column, with TEXT in the place of that JSON.
MIXED = {"L": [S, N]}
JSON_IN_MAP = {"M": {"j": MIXED, "x": N}}
STRUCT = "named_struct('j', TEXT, 'x', 1)"
AROUND_JSON = {
    "alone": (MIXED, "TEXT"),
    "in a struct": (JSON_IN_MAP, STRUCT),
    "in two": ({"M": {"a": JSON_IN_MAP}}, f"named_struct('a', {STRUCT})"),
    "in a list": ({"L": [JSON_IN_MAP]}, f"array({STRUCT})"),
    "in lists": ({"L": [{"L": []}, {"L": [JSON_IN_MAP]}]}, f"array(array(), array({STRUCT}))"),
    "in a map": ({"M": {"a/b": JSON_IN_MAP}}, f"map('a/b', {STRUCT})"),
}


def test_plain_json_inside_of_anything_is_held_by_what_it_says(shop):
    s = shop(columns=Overrides.parse({"in a map": "map"}))
    s.put(
        1, *(item(pk, **{name: value for name, (value, _) in AROUND_JSON.items()}) for pk in ("other", "same", "left"))
    )
    s.load(5)
    columns = [name.replace(" ", "_") for name in AROUND_JSON]
    types, struct = dict(s.spark.table(f"glue.shop.{s.name}").dtypes), "struct<j:string,x:bigint>"
    assert [types[name] for name in columns] == [
        *("string", struct, f"struct<a:{struct}>"),
        *(f"array<{struct}>", f"array<array<{struct}>>", f"map<string,{struct}>"),
    ]
    for pk, text in {"other": '["x",2]', "same": '[ "x", 1.0 ]'}.items():
        sets = (sql.replace("TEXT", f"'{text}'") for _, sql in AROUND_JSON.values())
        tamper(s, {pk: dict(zip(columns, sets, strict=True))})
    shown = {json.loads(row["key"])["pk"]: row["values"] for row in differences(s, 5)["differences"]}
    assert {pk: sorted(value["path"] for value in values) for pk, values in shown.items()} == {
        "other": sorted(f"/{name}" for name in AROUND_JSON)
    }


def test_what_is_asked_of_plain_json_is_not_asked_anew_for_each_place():
    def asked(places: int) -> int:
        fields = tuple(Field(f"f{n}", f"f{n}", JSON) for n in range(places))
        return sum(map(len, second_look([Field("a", "a", ColumnType(Kind.STRUCT, fields=fields))]).values()))

    # Else a table of nested documents has a verification that no driver has the memory for.
    assert (asked(100) - asked(1)) / 99 < asked(1) / 20
