"""How columns change, where a table's content is replaced, that are as large as they may be, or have to stay."""

from __future__ import annotations

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.columns.growth import first_columns
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.rebuild import rebuilt
from pipeline.columns.types import JSON, LONG, ColumnType, Kind
from tests.pipeline.seen import KEY, N, S, columns, item, named, profile

DECIMAL = ColumnType(Kind.DECIMAL, scale=1)
STRUCT = Overrides.parse({"m": "struct"})


def of_fields(count: int, value=N, name: str = "f{:04}", **others) -> dict:
    return item(m={"M": {**{name.format(n): value for n in range(count)}, **others}})


def declared_struct(*items: dict) -> Columns:
    return first_columns(KEY, profile(*items), STRUCT)


def test_the_last_room_is_for_the_field_of_the_most_values():
    full, more = ({"M": {f"g{n}": N for n in range(count)}} for count in (297, 2))
    before = columns(of_fields(400, a=N, b=N, c=full, d=full))
    now = profile(item(m={"M": {"a": more, "b": more}}), item(m={"M": {"b": more}}))
    found = {field.name: field.type for field in named(rebuilt(before, KEY, now).columns)["m"].fields}
    assert (len(found), found["a"], found["b"].kind) == (404, LONG, Kind.STRUCT)


def test_what_is_declared_to_be_a_struct_is_mended_also_where_it_is_full():
    before, now = declared_struct(of_fields(1_000)), profile(item(m={"M": {"f0000": {"M": {"x": N}}}}))
    fields = named(rebuilt(before, KEY, now, STRUCT).columns)["m"].fields
    assert (len(fields), fields[0].type.kind) == (1_000, Kind.STRUCT)


def test_a_declared_struct_is_decided_anew_where_its_type_would_be_too_long_for_glue():
    before = declared_struct(of_fields(1_000, name="f{:0115}"))
    now = profile(item(m={"M": {f"f{n:0115}": {"M": {"y" * 200: N}} for n in range(20)}}))
    assert len(named(rebuilt(before, KEY, now, STRUCT).columns)["m"].fields) == 20


def test_a_struct_that_is_no_longer_declared_stays_one_and_is_mended_inside():
    before = declared_struct(of_fields(600, name="f{:0199}"))
    now = profile(item(m={"M": {f"f{0:0199}": {"N": "1.5"}}}))
    fields = named(rebuilt(before, KEY, now).columns)["m"].fields
    assert (len(fields), fields[0].type) == (600, DECIMAL)


@pytest.mark.parametrize(
    ("there", "now"),
    [
        pytest.param([of_fields(600)], of_fields(600), id="no other names"),
        pytest.param([of_fields(600)], of_fields(600, late={"NULL": True}), id="one that shows no type"),
        pytest.param([of_fields(999, odd=S)], of_fields(999, odd=S, late=S), id="no dictionary could hold all"),
    ],
)
def test_a_struct_of_as_many_names_as_a_dictionary_stays_what_it_is(there, now):
    assert rebuilt(declared_struct(*there), KEY, profile(now)).replaced == set()


def test_decimals_are_not_given_up_for_larger_numbers_either_where_a_number_is_declared():
    before = columns(item(n={"N": "0." + "0" * 31 + "1"}))
    now = rebuilt(before, KEY, profile(item(n={"N": "2500000.75"})), Overrides.parse({"n": "N"}))
    assert named(now.columns)["n"].kind is Kind.DIGITS


def test_plain_json_that_the_table_is_sorted_by_stays_where_a_list_is_declared():
    before = columns(item(a={"L": [S, N]}))
    for all_seen in (True, False):
        said = Overrides.parse({"a": "L"})
        target = rebuilt(before, KEY, profile(item()), said, frozenset({"a"}), all_seen=all_seen)
        assert (target.columns, target.removed) == (before, set())


def test_what_is_declared_to_be_plain_json_is_decided_also_by_a_sample():
    before, said = columns(item(a=S)), Overrides.parse({"a": "json"})
    target = rebuilt(before, KEY, profile(item(a={"L": [S]})), said, all_seen=False)
    assert (named(target.columns)["a"], target.replaced) == (JSON, {"a"})


def test_what_is_declared_to_be_a_struct_and_has_no_room_for_its_fields_becomes_no_dictionary():
    assert named(declared_struct(of_fields(600, name="f{:0999}")))["m"] == JSON


def test_a_field_that_is_dropped_does_not_come_back_by_what_is_said_of_all():
    before = columns(item(m={"M": {"a": S, "gone": S}}))
    said = Overrides.parse({"/m/*": "S", "/m/gone": {"drop": True}})
    found = named(rebuilt(before, KEY, profile(item(m={"M": {"a": S}})), said).columns)["m"]
    assert [field.name for field in found.fields] == ["a"]
