"""Types of columns, from what was seen."""

from __future__ import annotations

import pytest

from pipeline.columns.decided_types import column_type, holds
from pipeline.columns.item_sample import observed_items
from pipeline.columns.profile import Profile
from pipeline.columns.types import BYTES, DIGITS, FLAG, JSON, LONG, SCALARS, TEXT, ColumnType, Field, Kind


def seen(*values) -> Profile:
    """A profile of one attribute that had these values."""
    return Profile.of(observed_items({"a": value} for value in values)).members["a"]


def decimal(scale: int) -> ColumnType:
    return ColumnType(Kind.DECIMAL, scale=scale)


def list_of(element: ColumnType) -> ColumnType:
    return ColumnType(Kind.LIST, element=element)


def set_of(element: ColumnType) -> ColumnType:
    return ColumnType(Kind.SET, element=element)


def dictionary_of(element: ColumnType) -> ColumnType:
    return ColumnType(Kind.DICTIONARY, element=element)


def struct(**fields: ColumnType) -> ColumnType:
    return ColumnType(Kind.STRUCT, fields=tuple(Field(name, name, type_) for name, type_ in fields.items()))


S, N, NULL = {"S": "x"}, {"N": "1"}, {"NULL": True}
MAP = {"M": {"x": S}}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([S], TEXT, id="text"),
        pytest.param([{"B": b"x"}], BYTES, id="binary"),
        pytest.param([{"BOOL": True}], FLAG, id="boolean"),
        pytest.param([NULL], None, id="nothing but NULL is no column"),
        pytest.param([NULL, S, NULL], TEXT, id="NULL first and a type later"),
        pytest.param([N, {"N": "-9223372036854775808"}], LONG, id="integers that fit"),
        pytest.param([N, {"N": "9223372036854775808"}], decimal(0), id="an integer one too large"),
        pytest.param([N, {"N": "12.25"}], decimal(2), id="decimals"),
        pytest.param([{"N": "1" * 30}, {"N": "0." + "1" * 8}], decimal(8), id="38 digits in all"),
        pytest.param([{"N": "1" * 31}, {"N": "0." + "1" * 8}], DIGITS, id="39 digits in all"),
        pytest.param([{"N": "1" + "0" * 125}], DIGITS, id="too large for any decimal"),
        pytest.param([S, N, {"BOOL": True}], SCALARS, id="several scalar types"),
        pytest.param([S, N, {"BOOL": True}, {"B": b"x"}], SCALARS, id="all scalar types"),
        pytest.param([{"SS": ["a"]}], set_of(TEXT), id="a set of texts"),
        pytest.param([{"NS": ["1", "2.5"]}], set_of(decimal(1)), id="a set of numbers"),
        pytest.param([{"BS": [b"x"]}], set_of(BYTES), id="a set of binaries"),
        pytest.param([{"L": [N, NULL]}, {"L": []}], list_of(LONG), id="a list of one type"),
        pytest.param([{"L": [S, N]}], JSON, id="a list of several types"),
        pytest.param([{"L": []}], JSON, id="a list that was always empty blocks no later one"),
        pytest.param([{"L": [{"L": [S, N]}]}], JSON, id="a list of lists of several types"),
        pytest.param([{"L": [MAP]}], list_of(struct(x=TEXT)), id="a list of maps"),
        pytest.param([MAP, {"M": {"y": N}}, {"M": {}}], struct(x=TEXT, y=LONG), id="a map"),
        pytest.param([{"M": {}}], JSON, id="a map that was always empty blocks no later one"),
        pytest.param([{"M": {"x": NULL}}], JSON, id="a map of nothing but NULL"),
        pytest.param([MAP, {"L": [S]}], JSON, id="several container types"),
        pytest.param([MAP, MAP, S], struct(x=TEXT), id="mostly maps"),
        pytest.param([MAP, S], struct(x=TEXT), id="as many maps"),
        pytest.param([MAP, S, N], SCALARS, id="mostly scalars"),
    ],
)
def test_a_type_is_decided_from_everything_seen(values, expected):
    assert column_type(seen(*values)) == expected


@pytest.mark.parametrize(
    ("different", "in_each", "expected"),
    [
        pytest.param(500, 500, Kind.STRUCT, id="many names"),
        pytest.param(501, 501, Kind.DICTIONARY, id="one too many"),
        pytest.param(50, 1, Kind.STRUCT, id="fewer, of which a map holds few"),
        pytest.param(51, 1, Kind.DICTIONARY, id="one too many of these"),
        pytest.param(52, 13, Kind.STRUCT, id="as many, of which a map holds a quarter"),
        pytest.param(60, 12, Kind.DICTIONARY, id="as many, of which a map holds less"),
    ],
)
def test_a_map_is_a_dictionary_from_as_many_names_as_the_manual_says(different, in_each, expected):
    maps = [{"M": {f"n{i + n}": N for n in range(in_each)}} for i in range(0, different, in_each)]
    assert column_type(seen(*maps)).kind is expected


def test_a_map_of_many_different_members_is_a_dictionary():
    sparse = [{"M": {f"user{i}": N, f"user{i + 1}": N}} for i in range(60)]
    assert column_type(seen(*sparse)) == dictionary_of(LONG)


def test_a_map_of_many_members_that_are_always_there_is_a_struct():
    wide = {"M": {f"field{i}": N for i in range(60)}}
    assert column_type(seen(wide, wide)).kind is Kind.STRUCT


def test_a_single_map_of_thousands_of_members_is_a_dictionary():
    assert column_type(seen({"M": {f"user{i}": S for i in range(2_000)}})) == dictionary_of(TEXT)


@pytest.mark.parametrize(("kinds", "expected"), [([N], Kind.DICTIONARY), ([N, S], Kind.JSON)])
def test_maps_in_maps_with_more_fields_than_a_table_can_have_are_no_struct(kinds, expected):
    maps = [{"M": {f"of {m}, {f}": kinds[f % len(kinds)] for f in range(50)}} for m in range(21)]
    assert column_type(seen({"M": {str(m): value for m, value in enumerate(maps)}})).kind is expected
    assert column_type(seen({"M": {str(m): value for m, value in enumerate(maps[:19])}})).kind is Kind.STRUCT


def test_a_dictionary_of_several_types_is_plain_json():
    mixed = {"M": {f"user{i}": S if i % 2 else N for i in range(2_000)}}
    assert column_type(seen(mixed)) == JSON


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        (LONG, {"N": "1.5"}, False),
        (decimal(2), {"N": "1.5"}, True),
        (decimal(2), {"N": "1.55"}, True),
        (decimal(2), {"N": "1.555"}, False),
        (decimal(2), {"N": "1" * 36}, True),
        (decimal(2), {"N": "1" * 37}, False),
        (TEXT, N, False),
        (SCALARS, N, True),
        (SCALARS, MAP, False),
        (JSON, MAP, True),
        (JSON, S, False),
        (list_of(LONG), {"L": [N, NULL]}, True),
        (list_of(LONG), {"L": []}, True),
        (list_of(LONG), {"L": [S]}, False),
        (set_of(LONG), {"NS": ["1.5"]}, False),
        (set_of(LONG), {"SS": ["1"]}, False),
        (struct(x=TEXT), {"M": {"x": N}}, False),
        (struct(x=TEXT), {"M": {"new": N}}, True),
        (dictionary_of(LONG), {"M": {"a": N}}, True),
        (dictionary_of(LONG), {"M": {"a": S}}, False),
        (TEXT, NULL, True),
    ],
)
def test_whether_a_type_holds_what_was_seen(type_, value, expected):
    assert holds(type_, seen(value)) is expected


@pytest.mark.parametrize("values", [[S], [N], [{"NS": ["1"]}], [{"L": [MAP]}], [MAP, {"M": {"y": {"L": [N]}}}]])
def test_a_decided_type_holds_what_it_was_decided_from(values):
    profile = seen(*values)
    assert holds(column_type(profile), profile)
