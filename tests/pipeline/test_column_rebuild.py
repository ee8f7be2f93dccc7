"""How columns change where a table's content is replaced."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.columns.growth import first_columns, grown
from pipeline.columns.override_checks import check_followed
from pipeline.columns.rebuild import rebuilt
from pipeline.columns.types import DIGITS, JSON, LONG, SCALARS, TEXT, ColumnType, Field, Kind
from pipeline.errors import PartitionsKept
from pipeline.identity import KeyAttribute
from tests.pipeline.seen import KEY, N, S, columns, item, named, profile


def test_a_rebuild_keeps_types_that_still_hold_everything():
    before = columns(item(mixed=S), item(mixed=N))
    target = rebuilt(before, KEY, profile(item(mixed=S, new=S)))
    assert (target.columns.attributes[:-1], target.replaced) == (before.attributes, frozenset())


@pytest.mark.parametrize("before", [(item(v={"N": "9" * 38}), item(v={"N": "0.1"})), (item(v=S), item(v=N))])
def test_a_rebuild_makes_no_numbers_of_texts_where_the_numbers_now_would_fit(before):
    there = columns(*before)
    target = rebuilt(there, KEY, profile(item(v={"N": "12.5"})))
    assert (target.columns, target.replaced) == (there, frozenset())


def test_a_rebuild_keeps_a_decimal_of_somebody_s_own_that_holds_everything_and_makes_room_where_it_does_not():
    own = Field("v", "v", ColumnType(Kind.DECIMAL, scale=2, digits=10))
    there = replace(columns(item()), attributes=(own,))
    assert rebuilt(there, KEY, profile(item(v={"N": "12345678.25"}))).replaced == frozenset()
    target = rebuilt(there, KEY, profile(item(v={"N": "123456789"})))
    assert (named(target.columns)["v"], target.replaced) == (ColumnType(Kind.DECIMAL, scale=2), frozenset({"v"}))


def test_a_rebuild_changes_types_that_no_longer_do_and_keeps_their_names():
    before = columns(item(Amount=N, other=S))
    target = rebuilt(before, KEY, profile(item(Amount={"N": "1.5"}), item(other=S)))
    assert named(target.columns)["amount"] == ColumnType(Kind.DECIMAL, scale=1)
    assert target.replaced == {"amount"}
    assert [field.name for field in target.written.attributes] == ["amount#new", "other"]


def test_a_rebuild_gives_up_no_decimals_for_larger_numbers():
    exact = {"N": "0." + "0" * 31 + "1"}
    before = columns(item(n=exact, l={"L": [exact]}, m={"M": {"x": exact}}, s={"NS": [exact["N"]]}))
    large = {"N": "2500000.75"}
    now = named(
        rebuilt(
            before, KEY, profile(item(n=large, l={"L": [large]}, m={"M": {"x": large}}, s={"NS": [large["N"]]}))
        ).columns
    )
    assert (now["n"], now["l"].element, now["m"].fields[0].type, now["s"].element) == (DIGITS,) * 4
    more = named(rebuilt(columns(item(n={"N": "0.25"})), KEY, profile(item(n={"N": "1" * 37}))).columns)
    assert more["n"] == DIGITS
    fits = named(rebuilt(columns(item(n={"N": "0.25"})), KEY, profile(item(n={"N": "0.125"}))).columns)
    assert fits["n"] == ColumnType(Kind.DECIMAL, scale=3)


LINES = {"L": [{"M": {"id": S, "old": {"N": "1.25"}, "in": {"M": {"id": S}}}}]}


def test_a_rebuild_changes_a_type_where_it_must_and_leaves_what_is_beside_it():
    before = grown(columns(item(lines=LINES)), profile(item(lines={"L": [{"M": {"Id": N, "in": {"M": {"ID": N}}}}]})))
    now = {"L": [{"M": {"id": S, "Id": {"N": "0.5"}, "old": N, "in": {"M": {"id": S, "ID": S}}}}]}
    target = rebuilt(before, KEY, profile(*[item(lines=now)] * 2, item(lines=S)))
    (element,) = (named(target.columns)["lines"].element,)
    assert {f.attribute: f.name for f in element.fields} == {"id": "id", "Id": "id_2", "old": "old", "in": "in"}
    types = {f.attribute: f.type for f in element.fields}
    assert (types["Id"], types["old"]) == (ColumnType(Kind.DECIMAL, scale=1), ColumnType(Kind.DECIMAL, scale=2))
    assert [(f.attribute, f.name, f.type) for f in types["in"].fields] == [("id", "id", TEXT), ("ID", "id_2", TEXT)]
    assert target.replaced == {"lines"}


def test_a_rebuild_makes_plain_json_of_elements_that_have_become_mixed():
    target = rebuilt(columns(item(lines=LINES)), KEY, profile(item(lines={"L": [*LINES["L"], S]})))
    assert named(target.columns)["lines"] == JSON


def test_a_struct_without_room_that_turns_out_to_be_a_dictionary_becomes_one():
    before = columns(item(d={"M": {"k1": N}}))
    few, many = ({"M": {f"k{n}": N for n in range(to)}} for to in (400, 4_000))
    assert rebuilt(before, KEY, profile(item(d=few))).replaced == set()
    target = rebuilt(before, KEY, profile(item(d=many)))
    assert named(target.columns)["d"] == ColumnType(Kind.DICTIONARY, element=LONG)
    assert target.replaced == {"d"}


def test_what_is_set_inside_is_made_so_also_where_nothing_of_it_is_there():
    before = columns(
        item(
            m={"M": {"in": {"M": {"x": S}}, "y": N, "gone": N}},
            lines={"L": [{"M": {"tax": N}}]},
            d={"M": {f"k{n}": N for n in range(600)}},
        )
    )
    said = Overrides.parse(
        {
            "/m/in/x": {"name": "z"},
            "/m/gone": "decimal(38,2)",
            "/lines/*/tax": "decimal(38,2)",
            "/d/*": "string",
        }
    )
    for seen in (item(), item(m={"M": {"y": N}}, lines={"L": []}, d={"M": {}})):
        after = rebuilt(before, KEY, profile(seen), said).columns
        check_followed(after, said)
        assert named(after)["d"].element == SCALARS


def struct(**fields):
    return ColumnType(Kind.STRUCT, fields=tuple(Field(name, name, type_) for name, type_ in fields.items()))


@pytest.mark.parametrize(
    ("there", "said", "left"),
    [
        pytest.param(S, {"w": "N"}, LONG, id="a number of a text"),
        pytest.param(S, {"w": "L"}, None, id="a list of a text"),
        pytest.param(N, {"w": "NS"}, ColumnType(Kind.SET, element=LONG), id="numbers of a number"),
        pytest.param({"M": {"a": S}}, {"w": "map"}, None, id="a dictionary of a struct"),
        pytest.param({"M": {"a": S}}, {"/w/a": "N"}, struct(a=LONG), id="a number in a map"),
        pytest.param({"M": {"a": S}}, {"/w/a": "L"}, None, id="a list in a map"),
        pytest.param({"M": {"a": S, "b": N}}, {"/w/a": "L"}, struct(b=LONG), id="a list in a map with others"),
        pytest.param({"L": [S]}, {"/w/*": "N"}, ColumnType(Kind.LIST, element=LONG), id="numbers in a list"),
        pytest.param({"L": [{"M": {"a": S}}]}, {"/w/*": "map"}, None, id="dictionaries in a list"),
        pytest.param(
            {"M": {f"k{n}": S for n in range(600)}},
            {"/w/*": "N"},
            ColumnType(Kind.DICTIONARY, element=LONG),
            id="numbers in a dictionary",
        ),
        pytest.param({"L": [N, S]}, {"w": "L"}, None, id="a list of plain JSON"),
    ],
)
def test_a_type_that_is_set_while_no_value_decides_it_is_made_as_narrow_as_can_be_or_waits(there, said, left):
    before, overrides = columns(item(w=there), item(other=N)), Overrides.parse(said)
    target = rebuilt(before, KEY, profile(item(other=N)), overrides)
    check_followed(target.columns, overrides)
    assert ("w" in target.removed, named(target.columns).get("w")) == (True, left)
    # Where a sample only has seen nothing of it, all values decide what is not as narrow.
    first = rebuilt(before, KEY, profile(item(w={"NULL": True})), overrides, all_seen=False).columns
    is_narrow = not left or "L" not in said.values()
    assert named(first).get("w") == (left if is_narrow else None)


def test_of_what_is_only_empty_plain_json_is_made_under_the_same_name_once_all_is_known():
    said = Overrides.parse({"w": {"name": "foo"}})
    before = first_columns(KEY, profile(item(w={"L": [{"M": {"a": S}}]})), said)
    seen, now = profile(item(w={"L": []})), Overrides.parse({"/w/*": "map"})
    assert "foo" not in named(rebuilt(before, KEY, seen, now, all_seen=False).columns)
    assert named(rebuilt(before, KEY, seen, now).columns)["foo"] == JSON


def test_a_struct_at_its_limit_keeps_the_fields_for_whose_new_types_there_is_no_room():
    many = {f"f{n:03}": N for n in range(499)}
    before = columns(item(m={"M": {"a": {"M": many}, "b": {"M": many}}}))
    now = item(m={"M": {"a": {"M": {"f000": {"M": {"x": N}}, "f001": S}}}})
    after = named(rebuilt(before, KEY, profile(now, now)).columns)["m"]
    (a, b) = (field.type for field in after.fields)
    assert (len(a.fields), len(b.fields)) == (499, 499)
    assert [field.type for field in a.fields[:2]] == [LONG, TEXT]


def test_what_values_decide_is_made_at_once_where_a_type_is_set():
    overrides = Overrides.parse({"w": "map", "/w/*": "N"})
    target = rebuilt(columns(item(w={"M": {"a": S}})), KEY, profile(item(w={"M": {"a": N}})), overrides)
    assert named(target.columns)["w"] == ColumnType(Kind.DICTIONARY, element=LONG)


def test_a_member_that_shows_no_type_makes_no_dictionary():
    maps = [{"M": {f"k{n}": N if n % 3 else S for n in range(at, at + 5)}} for at in range(0, 60, 5)]
    before = columns(item(m={"M": {f"k{n}": N if n % 3 else S for n in range(60)}}))
    now = profile(*(item(m=one) for one in maps), item(m={"M": {"late": {"NULL": True}}}))
    assert rebuilt(before, KEY, now).replaced == set()


def test_a_dictionary_stays_one_when_what_it_holds_gets_another_type():
    before = columns(item(d={"M": {f"2024-{n}": N for n in range(600)}}))
    few = {"M": {f"2025-{n}": {"N": "1.5"} for n in range(26)}}
    assert named(rebuilt(before, KEY, profile(item(d=few))).columns)["d"] == ColumnType(
        Kind.DICTIONARY, element=ColumnType(Kind.DECIMAL, scale=1)
    )
    assert named(rebuilt(before, KEY, profile(item(d={"M": {**few["M"], "x": S}}))).columns)["d"] == JSON


def test_a_column_that_has_to_stay_is_refused_another_inside():
    before, now = columns(item(who={"M": {"country": S, "zip": N}})), profile(item(who={"M": {"country": S, "zip": N}}))
    others = ({"drop": True}, {"name": "postcode"}, "string")
    for said in (*({"/who/zip": other} for other in others), {"/who/*": "S"}):
        with pytest.raises(PartitionsKept, match="sorted by who"):
            rebuilt(before, KEY, now, Overrides.parse(said), frozenset({"who"}))
    as_it_is = Overrides.parse({"/who/zip": {"type": "bigint", "name": "zip"}})
    assert rebuilt(before, KEY, now, as_it_is, frozenset({"who"})).replaced == set()


def test_plain_json_of_what_was_empty_gets_the_type_that_is_set():
    before, now = columns(item(l={"L": []})), profile(item(l={"L": [S]}))
    assert rebuilt(before, KEY, now).replaced == set()
    said = Overrides.parse({"l": "L"})
    assert named(rebuilt(before, KEY, now, said).columns)["l"] == ColumnType(Kind.LIST, element=TEXT)


def test_a_rebuild_that_changes_the_key_says_so():
    target = rebuilt(columns(item()), KEY, profile({"pk": S, "sk": {"N": "1.5"}}))
    assert target.replaces_key


@pytest.mark.parametrize("seen", [{}, {"pk": S}, {"pk": N}, {"pk": S, "sk": S}])
def test_a_rebuilt_key_takes_the_declared_type_whatever_was_seen(seen):
    target = rebuilt(columns(item()), (KeyAttribute("pk", "N"), *KEY[1:]), profile(seen))
    assert target.columns.key[0].type == LONG
    assert target.replaces_key


def test_decimals_are_given_up_where_no_numbers_are_left_and_not_for_integers_that_leave_them_no_room():
    before = columns(item(n={"N": "0." + "0" * 31 + "1"}))
    assert named(rebuilt(before, KEY, profile(item(n=S))).columns)["n"] == TEXT
    assert named(rebuilt(before, KEY, profile(item(n={"L": [S]}))).columns)["n"].kind is Kind.LIST
    assert named(rebuilt(before, KEY, profile(item(n={"N": "2500000"}))).columns)["n"] == DIGITS
    said = Overrides.parse({"n": "decimal(38,2)"})
    assert named(rebuilt(before, KEY, profile(item(n=N)), said).columns)["n"] == ColumnType(Kind.DECIMAL, scale=2)


def test_a_rebuilt_key_keeps_a_type_that_still_holds_everything():
    wide = (KEY[0], KeyAttribute("sk", "N"))
    before = first_columns(wide, profile({"pk": S, "sk": {"N": "0.25"}}))
    target = rebuilt(before, wide, profile({"pk": S, "sk": N}))
    assert (target.columns, target.replaced) == (before, frozenset())


def test_a_column_that_has_to_stay_stays_whatever_was_seen():
    before = columns(item(a=N, b=N))
    target = rebuilt(before, KEY, profile(item(a=S, b=S)), fixed={"a"})
    assert (named(target.columns)["a"], named(target.columns)["b"]) == (LONG, TEXT)
    assert target.replaced == {"b"}


def test_a_rebuild_removes_what_is_dropped_and_gives_its_name_to_whom_it_is_said_to_be():
    before = columns(item(a=N, b=S))
    dropped = rebuilt(before, KEY, profile(item(b=S)), Overrides.parse({"a": {"drop": True}}))
    assert (list(named(dropped.columns)), dropped.replaced, dropped.removed) == (["pk", "sk", "b"], set(), {"a"})
    said = Overrides.parse({"a": {"drop": True}, "b": {"name": "a"}, "new": {"name": "b"}})
    moved = rebuilt(before, KEY, profile(item(b=S, new=S)), said)
    assert {field.attribute: field.name for field in moved.columns.attributes} == {"b": "a", "new": "b"}
    assert (moved.replaced, moved.removed) == ({"a", "b"}, {"a", "b"})
