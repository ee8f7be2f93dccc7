"""Types that are declared for what is inside maps and lists: for any of it, for one of many, and for plain JSON."""

from __future__ import annotations

import pytest

from pipeline.columns.beyond_columns import beyond_columns
from pipeline.columns.declared.overrides import Overrides
from pipeline.columns.field_counts import MOST_FIELDS, field_count
from pipeline.columns.growth import first_columns
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.override_checks import check_followed
from pipeline.columns.pins import as_said
from pipeline.columns.rebuild import rebuilt
from pipeline.columns.types import JSON, LONG, SCALARS, TEXT, ColumnType, Field, Kind
from pipeline.errors import RebuildNeeded
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
        ({"M": {"x": {"L": [S, N]}, "y": S}}, {"/a/*/z": "S"}, ["/a/*/z"]),
        ({"SS": ["x"]}, {"/b/x": "S"}, []),
    ],
)
def test_only_types_that_no_column_shows_are_looked_for_in_values(attribute, said, beyond):
    overrides = Overrides.parse(said)
    found = as_said(columns(item(a=attribute)), overrides)
    assert [rule.pointer for rule in beyond_columns(found, overrides)] == beyond


MAPS = {
    "l": {"L": [{"M": {"x": S}}]},
    "m": {"M": {"in": {"M": {"x": S}}}},
    "d": {"M": {f"k{n}": {"M": {"x": S}} for n in range(600)}},
}


def test_what_loses_everything_inside_to_what_is_dropped_goes_as_well():
    said = Overrides.parse({path: {"drop": True} for path in ("/l/*/x", "/m/in/x", "/d/*/x")})
    assert set(named(rebuilt(columns(item(**MAPS)), KEY, profile(), said).columns)) == {"pk", "sk"}


def test_what_lies_beside_what_is_dropped_inside_a_column_stays_also_where_no_item_has_it_now():
    both = {"M": {"x": S, "y": N}}
    before = columns(item(l={"L": [both]}, m={"M": {"in": both}}, d={"M": {f"k{n}": both for n in range(600)}}))
    said = Overrides.parse({path: {"drop": True} for path in ("/l/*/x", "/m/in/x", "/d/*/x")})
    after = named(rebuilt(before, KEY, profile(), said).columns)
    left = ColumnType(Kind.STRUCT, fields=(Field("y", "y", LONG),))
    assert (after["l"].element, after["m"].fields[0].type, after["d"].element) == (left, left, left)


def test_lists_and_maps_that_are_as_declared_stay_also_where_no_item_has_them_now():
    said = Overrides.parse({"l": "L", "/m/l": "L", "d": "map"})
    values = {"l": {"L": [S]}, "m": {"M": {"l": {"L": [N]}}}, "d": {"M": {"k": N}}}
    before = first_columns(KEY, profile(item(**values)), said)
    assert named(before)["l"] == ColumnType(Kind.LIST, element=TEXT)
    for all_seen in (True, False):
        assert rebuilt(before, KEY, profile(), said, all_seen=all_seen).columns == before


def test_what_is_said_of_maps_inside_reaches_them_also_where_no_item_has_them_now():
    said = Overrides.parse(dict.fromkeys(("/l/*/x", "/m/in/x", "/d/*/x"), "string"))
    after = named(rebuilt(columns(item(**MAPS)), KEY, profile(), said).columns)
    (inside,) = after["m"].fields
    assert [type_.fields[0].type for type_ in (after["l"].element, inside.type, after["d"].element)] == [SCALARS] * 3


def test_plain_json_in_elements_and_members_takes_what_is_said_of_its_place():
    mixed = {"M": {"x": {"L": [N, S]}}}
    said = Overrides.parse({"/l/*/x": "L", "/d/*/x": "L"})
    found = columns(item(l={"L": [mixed]}, d={"M": {f"k{n}": mixed for n in range(600)}}))
    read = named(as_said(found, said))
    assert [read[name].element.fields[0].type.tag for name in ("l", "d")] == ["L", "L"]


def test_a_member_that_is_only_named_has_the_type_that_is_said_of_any():
    said = Overrides.parse({"/m/*": "string", "/m/unseen": {"name": "called"}})
    found = named(first_columns(KEY, profile(item(m={"M": {"x": S}})), said))
    assert {field.name: field.type for field in found["m"].fields} == {"called": SCALARS, "x": SCALARS}


def test_of_any_name_in_one_map_that_counts_which_is_said_of_the_one():
    said = Overrides.parse({"/m/*/*": "string", "/m/x/*": "N"})
    numbers = {"M": {f"k{n}": N for n in range(600)}}
    found = named(first_columns(KEY, profile(item(m={"M": {"x": numbers, "y": numbers}})), said))
    assert [field.type.element for field in found["m"].fields] == [LONG, SCALARS]


def test_what_is_hashed_has_a_column_of_text_whatever_is_declared_by_another_path_that_leads_there():
    said = Overrides.parse({"/m/*/c": {"hash": True}, "/m/x/*": "N", "/n/*/c/*": {"hash": True}, "/n/x/*/*": "N"})
    many = {"M": {f"k{n}": N for n in range(600)}}
    of_m, of_n = {"M": {"x": {"M": {"c": N, "d": N}}}}, {"M": {"x": {"M": {"c": many, "d": many}}}}
    found = first_columns(KEY, profile(item(m=of_m, n=of_n)), said)
    check_followed(found, said)
    (m,), (n,) = (named(found)[name].fields for name in ("m", "n"))
    assert {field.name: field.type for field in m.type.fields} == {"c": TEXT, "d": LONG}
    assert {field.name: field.type.element for field in n.type.fields} == {"c": TEXT, "d": LONG}
    assert said.says_type(("m", "x", "c")).hash and beyond_columns(found, said) == []


def test_what_is_hashed_by_any_name_may_be_said_to_be_text_of_another_type():
    said = Overrides.parse({"/m/*": {"hash": True}, "/m/x": "string"})
    found = first_columns(KEY, profile(item(m={"M": {"x": N, "y": N}})), said)
    check_followed(found, said)
    assert [field.type for field in named(found)["m"].fields] == [SCALARS, TEXT]


def test_what_is_declared_leaves_what_was_seen_as_it_was():
    seen = profile(item(m={"M": {"x": N}}))
    first_columns(KEY, seen, Overrides.parse({"/m/x": "string"}))
    assert named(first_columns(KEY, seen))["m"].fields[0].type == LONG


def test_members_of_maps_in_lists_whose_names_are_one_in_files_need_a_full_export():
    inside = ColumnType(Kind.STRUCT, fields=(Field("1", "1", TEXT), Field("x", "_1", TEXT)))
    stuck = Columns((Field("pk", "pk", TEXT),), (Field("l", "l", ColumnType(Kind.LIST, element=inside)),))
    with pytest.raises(RebuildNeeded, match="'1' and '_1' are one in Parquet files"):
        check_followed(stuck, Overrides())


@pytest.mark.parametrize(
    ("said", "first", "now"),
    [
        pytest.param({"w": "map", "/w/a": "S"}, {"M": {}}, {"M": {}}, id="an empty map, of which one name is declared"),
        pytest.param({"w": "struct"}, {"M": {"a": S, "b": S}}, {"M": {"a": S}}, id="a field that no item has now"),
        pytest.param({"w": "L"}, {"L": [S]}, {"L": []}, id="an empty list"),
    ],
)
def test_full_exports_leave_a_column_of_the_declared_type_as_it_is_where_most_values_are_of_another(said, first, now):
    overrides = Overrides.parse(said)
    before = first_columns(KEY, profile(item(w=first)), overrides)
    seen = profile(item(w=now), item(w={"SS": ["x"]}), item(w={"SS": ["x"]}))
    target = rebuilt(before, KEY, seen, overrides)
    assert (target.columns, target.replaced) == (before, frozenset())
