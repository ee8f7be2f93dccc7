"""How columns come to be and grow."""

from __future__ import annotations

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.columns.field_counts import MOST_FIELDS, field_count
from pipeline.columns.growth import first_columns, grown
from pipeline.columns.misfit_paths import resolved
from pipeline.columns.override_checks import check_followed
from pipeline.columns.profile import Observed, Profile
from pipeline.columns.types import BYTES, LONG, SCALARS, TEXT, ColumnType, Field, Kind
from pipeline.identity import KeyAttribute
from tests.pipeline.seen import KEY, N, S, columns, item, named, profile, steps_of


def test_the_key_comes_first_in_its_own_order():
    assert [field.name for field in columns(item(a=S), item(b=N)).all] == ["pk", "sk", "a", "b"]


def test_an_empty_source_table_has_its_key():
    assert named(first_columns(KEY, Profile())) == {"pk": TEXT, "sk": LONG}


def test_a_number_key_is_as_wide_as_its_values():
    assert columns({"pk": S, "sk": {"N": "1.5"}}).key[1].type == ColumnType(Kind.DECIMAL, scale=1)


def test_an_attribute_that_reads_like_the_key_gets_another_name():
    names = {field.attribute: field.name for field in columns(item(PK=S, SK=S)).all}
    assert names == {"PK": "pk_2", "pk": "pk", "SK": "sk_2", "sk": "sk"}


def test_attributes_that_come_later_and_read_like_the_key_or_a_column_of_our_own_get_other_names():
    later = grown(columns(item()), profile({"PK": S, "_misfits": S}))
    assert {field.attribute: field.name for field in later.attributes} == {"PK": "pk_2", "_misfits": "_misfits_2"}


def test_a_key_that_is_called_as_a_column_of_our_own_gets_another_name():
    found = first_columns((KeyAttribute("_misfits", "S"), KeyAttribute("_write_time", "N")), Profile())
    assert [field.name for field in found.key] == ["_misfits_2", "_write_time_2"]


def test_of_a_key_that_reads_alike_or_like_the_partitions_the_partition_key_has_the_plain_name():
    for other, name in {"PK": "pk_2", "pk_bucket": "pk_bucket_2"}.items():
        found = first_columns((KeyAttribute("pk", "S"), KeyAttribute(other, "S")), profile({"pk": S, other: S}))
        assert [field.name for field in found.all] == ["pk", name]


def test_an_attribute_that_reads_like_the_partitions_gets_another_name():
    first = columns(item(pk_bucket=S, sk_bucket=S))
    assert {field.attribute: field.name for field in first.attributes} == {
        "pk_bucket": "pk_bucket_2",
        "sk_bucket": "sk_bucket",
    }
    later = grown(columns(item()), profile({"PK_bucket": S}))
    assert [field.name for field in later.attributes] == ["pk_bucket_2"]


def test_the_partition_key_leaves_room_for_the_name_of_its_folders():
    names = ["k" * 255, "K" * 243, "k" * 255 + "_bucket"]
    found = first_columns((KeyAttribute(names[0], "S"),), profile(dict.fromkeys(names, S)))
    assert {field.attribute: len(field.name) for field in found.all} == dict(zip(names, (243, 245, 251), strict=True))
    assert len({field.name for field in found.all} | found.taken) == 4


def test_new_attributes_become_columns_at_the_end():
    before = columns(item(a=S))
    after = grown(before, profile({"b": N, "A": S}))
    assert after.all[: len(before.all)] == before.all
    assert {field.attribute: field.name for field in after.all[len(before.all) :]} == {"b": "b", "A": "a_2"}


def test_new_members_of_maps_become_fields_however_deep():
    before = columns(item(m={"M": {"in": {"M": {"x": S}}}}, l={"L": [{"M": {"x": S}}]}))
    pointers = ["/m/in/y", "/l/0/z", "/l/17/z"]
    seen = Profile.of(Observed(resolved(steps_of(pointer), before), "N", 1) for pointer in pointers)
    after = {field.name: field.type for field in grown(before, seen).all}
    (inner,) = after["m"].fields
    assert [field.name for field in inner.type.fields] == ["x", "y"]
    assert [field.name for field in after["l"].element.fields] == ["x", "z"]


def test_a_struct_grows_to_so_many_fields_with_those_inside_them_counted():
    def inside(name, maps, fields):
        maps_of = {f"{name}{m}": {"M": {f"{name}{m}_{f}": N for f in range(fields)}} for m in range(maps)}
        return {"m": {"M": {"first": {"M": {"x": S}}, **maps_of}}}

    before = columns(item(**inside("a", 20, 40)))
    after = grown(before, profile(inside("b", 40, 40)))
    assert field_count(named(before)["m"]) == 2 + 20 * 41
    assert field_count(named(after)["m"]) == 2 + (20 + 4) * 41
    assert grown(after, profile(inside("c", 40, 40))) == after
    last = grown(after, profile({"m": {"M": {"first": {"M": {f"y{n}": N for n in range(40)}}}}}))
    assert field_count(named(last)["m"]) == MOST_FIELDS


def _long_names(first, last):
    return {f"{n:04}".rjust(250, "u"): N for n in range(first, last)}


def _text(type_):
    """A type's text as Glue is told it."""
    fields = ",".join(f"{field.name}:{_text(field.type)}" for field in type_.fields)
    return f"struct<{fields}>" if type_.fields else f"{type_.kind.value}<{type_.element and _text(type_.element)}>"


@pytest.mark.parametrize("said", [{}, {"m": "struct"}])
def test_a_column_has_no_more_fields_than_glue_takes_characters_for_its_type(said):
    overrides = Overrides.parse(said)
    parts = {f"p{n}": {"M": _long_names(n * 130, n * 130 + 130)} for n in range(5)}
    made = first_columns(KEY, profile(item(m={"M": parts})), overrides)
    check_followed(made, overrides)
    first = named(made)["m"]
    before = columns(item(m={"M": {"a": {"M": _long_names(0, 300)}}}))
    more = item(m={"M": {"a": {"M": _long_names(300, 600)}, "b": {"M": _long_names(600, 900)}}})
    after = named(grown(before, profile(more), overrides))["m"]
    assert field_count(after) > field_count(named(before)["m"])
    assert max(len(_text(first)), len(_text(after))) < 131_072


def test_of_short_names_a_struct_that_is_set_has_more_fields_than_others():
    many = profile(item(m={"M": {f"m{n}": {"M": {f"f{n}": N for n in range(200)}} for n in range(6)}}))
    assert named(first_columns(KEY, many))["m"].kind is Kind.DICTIONARY
    assert field_count(named(first_columns(KEY, many, Overrides.parse({"m": "struct"})))["m"]) == 6 * 201


def test_for_what_something_is_said_of_there_is_room_before_what_is_frequent():
    before = columns(item(m={"M": {f"f{n:03}": {"M": {"x": N}} for n in range(499)}}))
    seen = [item(m={"M": {f"h{n}": S for n in range(5)}})] * 2
    after = grown(before, profile(*seen, item(m={"M": {"zip": S}})), Overrides.parse({"/m/zip": "S"}))
    assert [field.name for field in named(after)["m"].fields][-2:] == ["h0", "zip"]


def test_growing_changes_no_type():
    before = columns(item(a=S, n=N))
    assert grown(before, profile({"a": N, "n": {"N": "1.5"}, "pk": N})) == before


@pytest.mark.parametrize("elements", [[S, N], [], [N]])
def test_a_type_that_is_set_for_elements_is_that_of_all(elements):
    said = Overrides.parse({"/l/*": "string", "d": "map", "/d/*": "string"})
    found = profile(item(l={"L": elements}, d={"M": {f"k{i}": one for i, one in enumerate(elements)}}))
    made = named(first_columns(KEY, found, said))
    assert made["l"] == ColumnType(Kind.LIST, element=SCALARS)
    assert made["d"] == ColumnType(Kind.DICTIONARY, element=SCALARS)


def test_of_too_many_attributes_those_of_which_something_is_said_and_the_frequent_ones_get_columns():
    rare = [item(**{f"a{n}": N for n in range(at, at + 1_000)}) for at in range(0, 6_000, 1_000)]
    said = Overrides.parse({"zz": "S"})
    made = named(first_columns(KEY, profile(*rare, item(status=S), item(status=S), item(zz=S)), said))
    assert len(made) == 2 + 5_000
    assert {"status", "zz"} <= made.keys()
    after = grown(columns(*rare[:4]), profile(*rare[4:], item(status=S), item(status=S)))
    assert len(after.attributes) == 5_000
    assert "status" in named(after)


def test_what_one_member_of_a_map_grows_by_leaves_less_room_for_the_next():
    before = columns(item(m={"M": {"a": {"M": {"x": N}}, "b": {"M": {"x": N}}}}))
    many = {"M": {f"f{n:03}": N for n in range(MOST_FIELDS // 2 + 50)}}
    after = named(grown(before, profile(item(m={"M": {"a": many, "b": many}}))))["m"]
    a, b = (len(field.type.fields) for field in after.fields)
    assert (a, field_count(after)) == (MOST_FIELDS // 2 + 51, MOST_FIELDS)
    assert b < a


@pytest.mark.parametrize(("type_", "made"), [("S", TEXT), ("B", BYTES), ("N", LONG)])
def test_a_key_of_which_nothing_was_seen_has_the_type_that_is_declared(type_, made):
    found = first_columns((KeyAttribute("id", type_),), profile())
    assert found.key == (Field("id", "id", made),)
