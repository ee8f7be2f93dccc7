"""How columns come to be and grow, and how the table's metadata tells of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pipeline.column_growth import first_columns, grown, rebuilt
from pipeline.column_profile import Observed, Profile, steps_of
from pipeline.column_types import DIGITS, JSON, LONG, MOST_FIELDS, SCALARS, TEXT, ColumnType, Field, Kind, field_count
from pipeline.identity import KeyAttribute
from pipeline.item_sample import observed_items
from pipeline.table_columns import (
    Columns,
    column_kinds,
    columns_of,
    exact_names,
    exact_names_by_path,
    resolved,
    tells_by_path,
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


def test_the_key_comes_first_in_its_own_order():
    assert [field.name for field in columns(item(a=S), item(b=N)).all] == ["pk", "sk", "a", "b"]


def test_an_empty_source_table_has_its_key():
    assert named(first_columns(KEY, Profile())) == {"pk": TEXT, "sk": LONG}


def test_a_number_key_is_as_wide_as_its_values():
    assert columns({"pk": S, "sk": {"N": "1.5"}}).key[1].type == ColumnType(Kind.DECIMAL, scale=1)


def test_an_attribute_that_reads_like_the_key_gets_another_name():
    names = {field.attribute: field.name for field in columns(item(PK=S)).all}
    assert names == {"PK": "pk", "pk": "pk_2", "sk": "sk"}


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
    assert {field.attribute: len(field.name) for field in found.all} == dict(zip(names, (243, 245, 255), strict=True))
    assert len({field.name for field in found.all} | found.partitions) == 4


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


def test_growing_changes_no_type():
    before = columns(item(a=S, n=N))
    assert grown(before, profile({"a": N, "n": {"N": "1.5"}, "pk": N})) == before


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


def test_a_rebuild_that_changes_the_key_says_so():
    target = rebuilt(columns(item()), KEY, profile({"pk": S, "sk": {"N": "1.5"}}))
    assert target.replaces_key


@pytest.mark.parametrize("seen", [{}, {"pk": S}, {"pk": N}, {"pk": S, "sk": S}])
def test_a_rebuilt_key_takes_the_declared_type_whatever_was_seen(seen):
    target = rebuilt(columns(item()), (KeyAttribute("pk", "N"), *KEY[1:]), profile(seen))
    assert target.columns.key[0].type == LONG
    assert target.replaces_key


@pytest.mark.parametrize(
    ("pointer", "path"),
    [
        ("/l/0/z", (".l", "[]", ".z")),
        ("/m/0", (".m", ".0")),
        ("/new/0", (".new", ".0")),
        ("/a~1b/c~0d", (".a/b", ".c~d")),
    ],
)
def test_an_index_is_told_from_a_name_by_the_column(pointer, path):
    found = columns(item(m={"M": {"x": S}}, l={"L": [{"M": {"x": S}}]}))
    assert resolved(steps_of(pointer), found) == path


LONG_NAME = "n" * 300
SCHEMA = {
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "pk", "type": "string", "doc": "pk"},
        {"id": 2, "name": "sk", "type": "decimal(38, 2)", "doc": "sk"},
        {"id": 3, "name": "n", "type": "string", "doc": "nnn…"},
        {"id": 4, "name": "l", "type": {"type": "list", "element-id": 7, "element": "string"}, "doc": "L"},
        {
            "id": 5,
            "name": "m",
            "doc": "M",
            "type": {"type": "struct", "fields": [{"id": 8, "name": "j", "type": "string", "doc": "J"}]},
        },
        {"id": 6, "name": "_write_time", "type": "timestamptz"},
        {"id": 9, "name": "n#new", "type": "string"},
    ],
}


def test_columns_come_back_from_the_metadata_as_they_were():
    was = Columns(
        (Field("pk", "pk", TEXT), Field("sk", "sk", ColumnType(Kind.DECIMAL, scale=2))),
        (
            Field(LONG_NAME, "n", DIGITS),
            Field("L", "l", ColumnType(Kind.SET, element=SCALARS)),
            Field("M", "m", ColumnType(Kind.STRUCT, fields=(Field("J", "j", JSON),))),
        ),
    )
    properties = {**exact_names(SCHEMA, was.all), **column_kinds(was.all)}
    assert json.loads(properties["tidemark.names"]) == {"3": LONG_NAME}
    metadata = {"schemas": [SCHEMA], "current-schema-id": 0, "properties": properties}
    assert columns_of(metadata, KEY) == was
    by_path = exact_names_by_path(was.all)
    assert json.loads(by_path["tidemark.names"]) == {"/n": LONG_NAME}
    assert columns_of({**metadata, "properties": {**properties, **by_path}}, KEY) == was
    assert [tells_by_path(told["tidemark.names"]) for told in (properties, by_path)] == [False, True]
    specs = [{"fields": [{"name": "pk_bucket"}]}, {"fields": [{"name": "pk_bucket"}, {"name": "sk"}]}]
    assert columns_of({**metadata, "partition-specs": specs}, KEY) == replace(was, partitions=frozenset({"pk_bucket"}))


def test_the_columns_of_an_earlier_schema_are_read_whatever_has_become_of_them_since():
    properties = column_kinds((Field("L", "l", JSON), Field("M", "m", JSON)))
    was = columns_of({"schemas": [SCHEMA], "current-schema-id": 0, "properties": properties}, KEY)
    assert [field.type.kind for field in was.attributes] == [Kind.TEXT, Kind.LIST, Kind.STRUCT]
