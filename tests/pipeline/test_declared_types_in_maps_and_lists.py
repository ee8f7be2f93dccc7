"""Types that are declared for what is inside maps and lists: for any of it, for one of many, and for plain JSON."""

from __future__ import annotations

import pytest

from pipeline.columns.beyond_columns import beyond_columns
from pipeline.columns.field_counts import MOST_FIELDS, field_count
from pipeline.columns.growth import first_columns
from pipeline.columns.overrides import Overrides
from pipeline.columns.pins import as_said, check_followed
from pipeline.columns.rebuild import rebuilt
from pipeline.columns.types import JSON, LONG, SCALARS, TEXT, ColumnType, Kind
from tests.pipeline.seen import KEY, N, S, columns, item, named, profile


@pytest.mark.parametrize("also", [{"drop": True}, {"name": "foo"}, {"hash": True}, "string"])
@pytest.mark.parametrize("name", ["k1", "unseen"])
def test_what_is_declared_for_any_name_of_a_dictionary_counts_beside_what_is_said_of_one(also, name):
    values = {"M": {f"k{n}": N for n in range(600)}}
    said = Overrides.parse({"/d/*": "string", f"/d/{name}": also})
    for found in (
        first_columns(KEY, profile(item(d=values)), said),
        rebuilt(columns(item(d=values)), KEY, profile(item()), said).columns,
    ):
        check_followed(found, said)
        assert named(found)["d"] == ColumnType(Kind.DICTIONARY, element=SCALARS)


def test_values_that_contradict_what_is_declared_for_elements_find_no_plain_json_to_hide_in():
    said = Overrides.parse({"/l/*": "N", "/m/a": "N"})
    found = named(first_columns(KEY, profile(item(l={"L": [S]}, m={"M": {"a": S}})), said))
    assert (found["l"].element, found["m"].fields[0].type) == (LONG, LONG)


def test_plain_json_takes_what_is_last_said_of_its_place():
    said = Overrides.parse({"/m/*": "L", "/m/x": "json", "a": "map"})
    read = as_said(
        first_columns(KEY, profile(item(a={"M": {}}, m={"M": {"x": {"L": []}, "y": {"L": []}}})), said), said
    )
    (x, y) = named(read)["m"].fields
    assert (named(read)["a"].tag, x.type.tag, y.type.tag) == ("M", "", "L")


@pytest.mark.parametrize("rules", [{"/m/*": "string", "/m/$x": "N"}, {"/m/*": "string", "/m/$x": {"hash": True}}])
def test_of_several_types_that_are_declared_for_a_place_that_of_its_name_counts(rules):
    said, now = Overrides.parse(rules), profile(item(m={"M": {"$x": N, "y": N}}))
    before = columns(item(m={"M": {"$x": N, "y": N}}))
    for found in (first_columns(KEY, now, said), rebuilt(before, KEY, now, said).columns):
        check_followed(found, said)
        assert [field.type for field in named(found)["m"].fields] == [TEXT if "hash" in str(rules) else LONG, SCALARS]
    assert rebuilt(columns(item(m=S)), KEY, profile(item(m=S)), said, frozenset({"m"})).replaced == set()


@pytest.mark.parametrize("seen", [item(), item(u={"L": []})])
def test_plain_json_that_is_declared_for_elements_makes_plain_json_of_the_list(seen):
    said = Overrides.parse({"/u/*": "json"})
    after = rebuilt(columns(item(u={"L": [{"L": [N]}]})), KEY, profile(seen), said).columns
    check_followed(after, said)
    assert named(after)["u"] == JSON


@pytest.mark.parametrize(
    ("there", "word", "empty"),
    [(S, "M", {"M": {}}), ({"L": [S]}, "struct", {"M": {}}), ({"L": [N, S]}, "L", {"L": []})],
)
def test_empties_of_a_sample_decide_nothing_of_what_is_declared(there, word, empty):
    said, before, seen = Overrides.parse({"u": word}), columns(item(u=there)), profile(item(u=empty))
    assert "u" not in named(rebuilt(before, KEY, seen, said, all_seen=False).columns)
    assert named(rebuilt(before, KEY, seen, said).columns)["u"] == JSON


@pytest.mark.parametrize("said", ["M", "struct", {"name": "foo"}])
def test_what_is_declared_of_a_field_is_followed_where_there_is_no_room_for_its_fields(said):
    overrides, many = Overrides.parse({"/m/f0": said}), {f"f{n}": N for n in range(MOST_FIELDS)}
    before = rebuilt(
        columns(item()), KEY, profile(*(item(m={"M": {name: N}}) for name in many)), Overrides.parse({"m": "struct"})
    )
    assert field_count(named(before.columns)["m"]) == MOST_FIELDS
    now = item(m={"M": {"f0": {"M": {"a": N, "b": N}}}})
    check_followed(rebuilt(before.columns, KEY, profile(now), overrides).columns, overrides)


def test_elements_that_turn_out_to_be_plain_json_make_plain_json_of_the_list():
    before = columns(item(u={"L": [{"L": [{"L": [N]}]}]}))
    now = profile(item(u={"L": [{"L": [S]}, {"L": [{"L": [N]}]}]}))
    assert named(rebuilt(before, KEY, now, Overrides.parse({"/u/*": "L"})).columns)["u"] == JSON


@pytest.mark.parametrize(
    ("attribute", "said", "beyond"),
    [
        ({"M": {"x": S, "y": {"M": {"z": N}}}}, {"/a/x": "S", "/a/y/z": "N", "/a/new": "N"}, []),
        ({"L": [{"M": {"x": S}}]}, {"/a/*/x": "S", "/a/*": "M"}, []),
        ({"M": {f"k{n}": N for n in range(600)}}, {"/a/*": "N", "/a/k1": "N"}, []),
        ({"M": {f"k{n}": N for n in range(600)}}, {"/a/k1": "S"}, ["/a/k1"]),
        ({"M": {"x": S, "y": N}}, {"/a/*": "S", "/a/y": "N"}, []),
        ({"L": [S, N]}, {"a": "L", "/a/*/x": "S"}, ["/a/*/x"]),
        (S, {"/a/x": "S"}, ["/a/x"]),
        ({"M": {"x": {"L": [S, N]}}}, {"/a/x": "L"}, []),
        ({"M": {f"k{n}": {"M": {"x": {"L": [S, N]}}} for n in range(600)}}, {"/a/k1/x": "L"}, ["/a/k1/x"]),
        ({"SS": ["x"]}, {"/b/x": "S"}, []),
    ],
)
def test_only_types_that_no_column_shows_are_looked_for_in_values(attribute, said, beyond):
    overrides = Overrides.parse(said)
    found = as_said(columns(item(a=attribute)), overrides)
    assert [rule.pointer for rule in beyond_columns(found, overrides)] == beyond
