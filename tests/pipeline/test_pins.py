"""Types and names that the user sets win over the data; what the table has otherwise needs a rebuild."""

from __future__ import annotations

import pytest

from pipeline.columns.declared.overrides import NO_OVERRIDES, Overrides
from pipeline.columns.growth import first_columns, grown
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.item_sample import observed_items
from pipeline.columns.override_checks import check_followed
from pipeline.columns.profile import Profile
from pipeline.columns.rebuild import rebuilt
from pipeline.columns.types import BYTES, DIGITS, FLAG, JSON, LONG, SCALARS, TEXT, ColumnType, Field, Kind
from pipeline.errors import OverrideContradicted, RebuildNeeded
from pipeline.identity import KeyAttribute

KEY = (KeyAttribute("pk", "S"),)
S, N = {"S": "x"}, {"N": "1"}
PERSON = {"M": {"name": S, "age": N}}


def profile(*items) -> Profile:
    return Profile.of(observed_items({"pk": S, **item} for item in items))


def said(**columns) -> Overrides:
    return Overrides.parse(columns)


def columns(*items, overrides=NO_OVERRIDES) -> Columns:
    return first_columns(KEY, profile(*items), overrides)


def types(found: Columns) -> dict[str, ColumnType]:
    return {field.name: field.type for field in found.attributes}


@pytest.mark.parametrize(
    ("word", "value", "expected"),
    [
        ("S", N, TEXT),
        ("N", {"N": "9" * 40}, DIGITS),
        ("N", N, LONG),
        ("bigint", {"N": "1.5"}, LONG),
        ("decimal(38,4)", N, ColumnType(Kind.DECIMAL, scale=4)),
        ("string", N, SCALARS),
        ("json", PERSON, JSON),
        ("BOOL", S, FLAG),
        ("B", S, BYTES),
        ("SS", S, ColumnType(Kind.SET, element=TEXT)),
        ("NS", {"NS": ["1.5"]}, ColumnType(Kind.SET, element=ColumnType(Kind.DECIMAL, scale=1))),
        ("L", {"L": [S]}, ColumnType(Kind.LIST, element=TEXT)),
        ("map", {"M": {"a": N}}, ColumnType(Kind.DICTIONARY, element=LONG)),
    ],
)
def test_a_declared_type_is_the_columns_type(word, value, expected):
    assert types(columns({"a": value}, overrides=said(a=word))) == {"a": expected}


def test_a_map_of_many_names_stays_a_struct_where_the_user_says_so():
    wide = {"M": {f"f{i}": N for i in range(600)}}
    assert types(columns({"a": wide}))["a"].kind is Kind.DICTIONARY
    assert types(columns({"a": wide}, overrides=said(a="struct")))["a"].kind is Kind.STRUCT


def test_a_column_is_there_from_the_first_load_on_where_the_type_leaves_no_choice():
    assert types(columns({}, overrides=said(a="S", b="N", c="decimal(38,2)"))) == {
        "a": TEXT,
        "c": ColumnType(Kind.DECIMAL, scale=2),
    }


def test_types_and_names_reach_into_maps_and_lists():
    overrides = Overrides.parse({"/who/age": {"type": "string", "name": "years"}, "/all/*/age": "decimal(38,1)"})
    found = types(columns({"who": PERSON, "all": {"L": [PERSON]}}, overrides=overrides))
    assert {f.name: f.type for f in found["who"].fields} == {"years": SCALARS, "name": TEXT}
    assert {f.name: f.type for f in found["all"].element.fields}["age"] == ColumnType(Kind.DECIMAL, scale=1)


def test_a_declared_name_makes_others_give_way():
    found = columns({"a": S, "b": N}, overrides=said(b={"name": "a"}))
    assert {field.attribute: field.name for field in found.attributes} == {"a": "a_2", "b": "a"}


def test_the_key_can_be_named():
    assert columns({}, overrides=said(pk={"name": "customer"})).key[0].name == "customer"


def test_new_columns_are_named_and_typed_as_the_user_says():
    overrides = said(b={"type": "string", "name": "beta"})
    after = grown(columns({"a": S}), profile({"b": N}), overrides)
    assert types(after) == {"a": TEXT, "beta": SCALARS}


def test_a_name_that_is_anothers_column_is_refused():
    with pytest.raises(OverrideContradicted, match="'a'"):
        grown(columns({"a": S}), profile({"b": N}), said(b={"name": "a"}))


@pytest.mark.parametrize("path", ["a", "/m/a"])
def test_a_name_that_is_anothers_column_in_files_is_refused(path):
    there, seen = columns({"1": S, "m": {"M": {"1": S}}}), profile({"a": S, "m": {"M": {"a": S}}})
    overrides = said(**{path: {"name": "_1"}})
    for change in (lambda: grown(there, seen, overrides), lambda: rebuilt(there, KEY, seen, overrides)):
        with pytest.raises(OverrideContradicted, match="'1' and '_1' of the attributes '1' and 'a'"):
            change()
    assert "1_2" in types(columns({"1": S, "a": S}, overrides=said(a={"name": "_1"})))


def test_of_columns_that_are_one_in_files_another_name_makes_a_new_table():
    stuck = Columns((Field("pk", "pk", TEXT),), (Field("1", "1", TEXT), Field("a", "_1", TEXT)))
    with pytest.raises(RebuildNeeded, match="'1' and '_1' are one in Parquet files"):
        check_followed(stuck, said(a={"name": "a"}))
    with pytest.raises(OverrideContradicted, match="'1' and '_1' of the attributes '1' and 'a'"):
        rebuilt(stuck, KEY, profile({"1": S, "a": S}))
    target = rebuilt(stuck, KEY, profile({"1": S, "a": S}), said(a={"name": "a"}))
    assert (target.replaces_key, types(target.columns)) == (True, {"1": TEXT, "a": TEXT})


def test_of_columns_that_differ_by_case_only_a_full_export_names_one_anew():
    inside = (Field("total", "Price", TEXT), Field("price", "price", TEXT))
    there = Columns((Field("pk", "pk", TEXT),), (Field("m", "m", ColumnType(Kind.STRUCT, fields=inside)), *inside))
    check_followed(there, said())  # some readers cannot tell them apart, but rows are whole
    seen = profile({"total": S, "price": S, "m": {"M": {"total": S, "price": S}}})
    target = rebuilt(there, KEY, seen, said())
    assert (target.replaces_key, target.removed) == (False, {"m", "Price"})
    assert {field.attribute: field.name for field in target.columns.attributes} == {
        "m": "m",
        "total": "total",
        "price": "price",
    }


def test_a_name_of_the_tables_partitions_is_refused():
    with pytest.raises(OverrideContradicted, match="'pk_bucket' of the attribute 'a'"):
        columns({"a": S}, overrides=said(a={"name": "pk_bucket"}))
    before = columns({"id_bucket": S})
    with pytest.raises(OverrideContradicted, match="'id_bucket' of the attribute 'id_bucket'"):
        rebuilt(before, KEY, profile({"id_bucket": S}), said(pk={"name": "id"}))
    assert types(rebuilt(before, KEY, profile({"id_bucket": S})).columns) == {"id_bucket": TEXT}


def test_a_rebuild_gives_columns_the_names_and_types_that_were_declared_since():
    before = columns({"a": S, "b": N, "c": N})
    target = rebuilt(before, KEY, profile({"a": S, "b": N, "c": N}), said(a={"name": "alpha"}, b="string"))
    assert types(target.columns) == {"alpha": TEXT, "b": SCALARS, "c": LONG}
    assert (target.replaced, target.removed) == ({"alpha", "b"}, {"a", "b"})
    assert [field.name for field in target.written.attributes] == ["alpha#new", "b#new", "c"]


def test_a_rebuild_swaps_names():
    target = rebuilt(columns({"a": S, "b": N}), KEY, profile({}), said(a={"name": "b"}, b={"name": "a"}))
    assert {field.attribute: field.name for field in target.columns.attributes} == {"a": "b", "b": "a"}
    assert (target.replaced, target.removed) == ({"a", "b"}, {"a", "b"})


def test_a_rebuild_of_a_renamed_key_replaces_the_table():
    target = rebuilt(columns({}), KEY, profile({}), said(pk={"name": "customer"}))
    assert (target.replaces_key, target.columns.key[0].name) == (True, "customer")


def test_a_rebuild_that_follows_already_replaces_nothing():
    overrides = Overrides.parse({"/who/age": {"type": "string", "name": "years"}, "n": "N"})
    before = columns({"who": PERSON, "n": {"N": "1.5"}}, overrides=overrides)
    grown_since = {"M": {**PERSON["M"], "new": S}}
    assert rebuilt(before, KEY, profile({"who": grown_since, "n": N}), overrides).replaced == frozenset()


@pytest.mark.parametrize(
    "overrides",
    [
        *(said(a="S"), said(a={"name": "x"}), said(a={"hash": True}), said(pk={"name": "x"})),
        Overrides.parse({"/m/age": "string"}),
    ],
)
def test_types_and_names_that_the_table_was_not_loaded_with_need_a_rebuild(overrides):
    with pytest.raises(RebuildNeeded, match="columns"):
        check_followed(columns({"a": N, "m": PERSON}), overrides)


def test_of_a_hash_that_the_column_is_too_narrow_for_the_refusal_says_why():
    with pytest.raises(RebuildNeeded, match=r"columns\['/a'\] sets hash, which is text; the column is long"):
        check_followed(columns({"a": N}), said(a={"hash": True}))


DICTIONARY = {"M": {f"k{n}": N for n in range(600)}}


@pytest.mark.parametrize(
    ("word", "value", "follows"),
    [
        *(("N", {"N": "9" * 40}, True), ("N", {"N": "1.5"}, True), ("N", S, False)),
        *(("NS", {"NS": ["1"]}, True), ("NS", {"SS": ["x"]}, False)),
        *(("L", {"L": [S, N]}, True), ("L", {"L": [S]}, True), ("L", {"SS": ["x"]}, False)),
        *(("M", PERSON, True), ("M", DICTIONARY, True), ("M", {"L": [S]}, False)),
        *(("struct", PERSON, True), ("struct", DICTIONARY, False)),
        *(("map", DICTIONARY, True), ("map", PERSON, False)),
    ],
)
def test_where_a_declared_type_leaves_a_choice_only_its_own_kinds_of_columns_follow_it(word, value, follows):
    there = columns({"a": value})
    if follows:
        assert check_followed(there, said(a=word)) is None
    else:
        with pytest.raises(RebuildNeeded, match=f"declares the type {word}; the column is "):
            check_followed(there, said(a=word))


def test_whoever_has_renamed_a_column_of_which_the_name_is_set_may_name_it_so_again():
    renamed = Columns((Field("pk", "pk", TEXT),), (Field("a", "mine", TEXT),))
    with pytest.raises(RebuildNeeded, match="sets the name 'x'; the column is 'mine'") as refused:
        check_followed(renamed, said(a={"name": "x"}))
    assert refused.value.remedy.startswith("If somebody has renamed the column, name it x again.")


def test_what_the_table_has_or_lacks_altogether_needs_no_rebuild():
    overrides = Overrides.parse({"a": "N", "new": "S", "/m/age": {"name": "age"}, "/m/new": "B", "/l/*": "bigint"})
    assert check_followed(columns({"a": {"N": "1.5"}, "m": PERSON, "l": {"L": [N]}}), overrides) is None


@pytest.mark.parametrize(("path", "hides"), [("/l/0", "drop"), ("/l/name", "drop"), ("/m/tags/*", "hash")])
def test_a_path_that_never_reaches_anything_is_refused_before_anybody_trusts_it(path, hides):
    item = {"l": {"L": [PERSON]}, "m": {"M": {"tags": {"SS": ["a"]}, "0": S}}}
    overrides = Overrides.parse({path: {hides: True}, "/m/0": {"drop": True}})
    for decide in (
        lambda: columns(item, overrides=overrides),
        lambda: check_followed(columns(item), overrides),
        lambda: grown(columns(), profile(item), overrides),
        lambda: rebuilt(columns(), KEY, profile(item), overrides),
    ):
        with pytest.raises(OverrideContradicted, match=path.replace("*", r"\*")):
            decide()
    # Among what no sample has there may be what it reaches.
    assert first_columns(KEY, profile(item), overrides, all_seen=False)
    assert rebuilt(columns(), KEY, profile(item), overrides, all_seen=False)


def test_what_is_declared_for_one_name_of_a_dictionary_is_not_declared_for_all():
    for one, expected in ((S, Kind.JSON), (N, Kind.DICTIONARY)):
        found = columns({"m": {"M": {**DICTIONARY["M"], "one": one}}}, overrides=Overrides.parse({"/m/one": "string"}))
        assert types(found)["m"].kind is expected
    assert types(columns({"m": DICTIONARY}, overrides=Overrides.parse({"/m/*": "string"})))["m"].element == SCALARS


def test_a_type_that_is_declared_for_any_name_is_that_of_each_field():
    before = columns({"m": {"M": {"a": S, "b": N}}})
    with pytest.raises(RebuildNeeded, match="the column is long"):
        check_followed(before, Overrides.parse({"/m/*": "S"}))
