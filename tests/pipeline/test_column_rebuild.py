"""How columns change where a table's content is replaced."""

from __future__ import annotations

import pytest

from pipeline.column_growth import first_columns, grown
from pipeline.column_profile import Profile
from pipeline.column_rebuild import rebuilt
from pipeline.column_types import JSON, LONG, TEXT, ColumnType, Kind
from pipeline.identity import KeyAttribute
from pipeline.item_sample import observed_items
from pipeline.overrides import Overrides
from pipeline.table_columns import (
    Columns,
)

KEY = (KeyAttribute("pk", "S"), KeyAttribute("sk", "N"))
S, N = {"S": "x"}, {"N": "1"}


def profile(*items) -> Profile:
    return Profile.of(observed_items(items))


def item(**attributes):
    return {"pk": S, "sk": N, **attributes}


def columns(*items) -> Columns:
    return first_columns(KEY, profile(*items))


def named(found: Columns) -> dict[str, ColumnType]:
    return {field.name: field.type for field in found.all}


def test_a_rebuild_keeps_types_that_still_hold_everything():
    before = columns(item(mixed=S), item(mixed=N))
    target = rebuilt(before, KEY, profile(item(mixed=S)))
    assert (target.columns, target.replaced) == (before, frozenset())


def test_a_rebuild_changes_types_that_no_longer_do_and_keeps_their_names():
    before = columns(item(Amount=N, other=S))
    target = rebuilt(before, KEY, profile(item(Amount={"N": "1.5"}), item(other=S)))
    assert named(target.columns)["amount"] == ColumnType(Kind.DECIMAL, scale=1)
    assert target.replaced == {"amount"}
    assert [field.name for field in target.written.attributes] == ["amount#new", "other"]


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
