"""What a sample of items shows of the types at each path; the pass over all items judges what is wrong with them."""

from __future__ import annotations

import json

import pytest

from pipeline.columns import item_sample
from pipeline.columns.decided_types import fields_of
from pipeline.columns.declared.overrides import Overrides
from pipeline.columns.item_sample import items_of, observed_items
from pipeline.columns.profile import Observed, Profile, at_least, weighed
from pipeline.columns.types import LONG, TEXT, Field

S, N = {"S": "x"}, {"N": "1"}


def lines(*items) -> list[bytes]:
    return [json.dumps({"Item": item}).encode() for item in items]


def paths(items, said=None) -> dict[tuple[str, ...], set[str]]:
    found: dict[tuple[str, ...], set[str]] = {}
    for row in observed_items(items, Overrides.parse(said or {})):
        found.setdefault(row.path, set()).add(row.tag)
    return found


def test_every_value_is_counted_where_it_is():
    item = {"a": S, "m": {"M": {"x": N, "l": {"L": [S, N, {"L": [S]}]}}}, "n": {"NS": ["1", "2.5"]}}
    assert observed_items([item, {"a": S}]) == [
        Observed((".a",), "S", 2),
        Observed((".m",), "M", 1),
        Observed((".n",), "NS", 1),
        Observed((".n", "[]"), "N", 2, 1, 1, fits_long=False),
        Observed((".m", ".l"), "L", 1),
        Observed((".m", ".x"), "N", 1, 1, 0),
        Observed((".m", ".l", "[]"), "L", 1),
        Observed((".m", ".l", "[]"), "N", 1, 1, 0),
        Observed((".m", ".l", "[]"), "S", 1),
        Observed((".m", ".l", "[]", "[]"), "S", 1),
    ]


def test_the_names_of_a_dictionary_leave_room_for_what_else_there_is():
    seen = {"M": {f"id{n}": {"M": {"at": N}} for n in range(3_000)}}
    items = [{"seen": seen, "lines": {"L": [{"M": {"sku": S}}]}}] * 2
    found = Profile.of(observed_items(items)).members
    assert len(found["seen"].members) == 1_001
    assert found["seen"].any_member.members["at"].tags == {"N": 6_000}
    made = {field.name: field.type for field in fields_of(Profile.of(observed_items(items)))}
    assert made["seen"].element.fields == (Field("at", "at", LONG),)
    assert made["lines"].element.fields == (Field("sku", "sku", TEXT),)


def test_a_name_of_which_something_is_said_is_counted_however_many_there_are():
    items = [{"m": {"M": {f"f{n}": S for n in range(1_500)}}}]
    folded = paths(items, {"/m/f1200": {"name": "special"}})
    assert (".m", ".f1200") in folded
    assert (".m", ".f1201") not in folded
    assert len(paths(items, {"m": "struct"})) == 1_501


def test_what_lies_beside_a_place_of_which_something_is_said_is_seen_however_deep():
    item = {"a": {"M": {"b": {"M": {"c": {"M": {"d": {"M": {"lat": N, "lon": N}}}}}}}}}
    deep = (".a", ".b", ".c", ".d", ".lon")
    assert deep not in paths([item])
    assert deep in paths([item], {"/a/b/c/d/lat": {"hash": True}})


@pytest.mark.parametrize(
    ("text", "integer", "fraction", "fits"),
    [
        ("0", 0, 0, True),
        ("-0.0", 0, 0, True),
        ("9223372036854775807", 19, 0, True),
        ("-9223372036854775808", 19, 0, True),
        ("9223372036854775808", 19, 0, False),
        ("0.05", 0, 2, False),
        ("12.50", 2, 1, False),
        ("1200e-2", 2, 0, True),
        ("+1.5E3", 4, 0, True),
        (".5", 0, 1, False),
        ("1E125", 126, 0, False),
        ("1e-130", 0, 130, False),
        ("9" * 38, 38, 0, False),
        ("no number", 0, 0, True),
        ("NaN", 0, 0, True),
        ("1e", 0, 0, True),
    ],
)
def test_numbers_take_the_room_of_their_value_however_they_are_spelled(text, integer, fraction, fits):
    assert observed_items([{"a": {"N": text}}]) == [Observed((".a",), "N", 1, integer, fraction, fits)]


def test_numbers_at_one_path_take_the_room_of_all():
    items = [{"a": {"N": text}} for text in ("100", "0.25", "no number")]
    assert observed_items(items) == [Observed((".a",), "N", 3, 3, 2, fits_long=False)]


def test_what_lies_deeper_than_columns_go_has_no_paths():
    inside = S
    for name in "fedcba":
        inside = {"M": {name: inside}}
    assert list(paths([{"top": inside}])) == [
        (".top",),
        (".top", ".a"),
        (".top", ".a", ".b"),
        (".top", ".a", ".b", ".c"),
    ]


def test_only_the_shallowest_and_most_frequent_are_kept(monkeypatch):
    monkeypatch.setattr(item_sample, "MOST_PATHS", 2)
    assert list(paths([{"rare": S}, {"m": {"M": {"x": S}}, "often": S}, {"often": S, "m": S, "rare": N}])) == [
        (".often",),
        (".m",),
    ]


def test_what_is_no_item_or_no_value_is_passed_over():
    read = [*lines({"a": S}), b"", b"{", b"[]", b'{"Other":{}}', b'{"Item":null}', b'{"Item":[]}', b"[" * 100_000]
    assert list(items_of(read)) == [{"a": S}]
    odd = {"a": {}, "b": {"ZZ": "x"}, "c": {"S": "x", "N": "1"}, "d": "text", "e": {"S": None}, "f": S}
    assert paths([odd]) == {(".f",): {"S"}}
    assert paths([{"a": {"M": "text"}, "b": {"L": {}}, "c": {"NS": {}}, "d": {"N": 5.0}}]) == {
        (".a",): {"M"},
        (".b",): {"L"},
        (".c",): {"NS"},
        (".d",): {"N"},
    }


def test_names_are_as_java_reads_them():
    half, damaged = b'{"Item":{"\\ud83d":{"S":"x"},"\\ud83d\\ude00":{"S":"x"}}}', b'{"Item":{"\xff":{"S":"x"}}}'
    assert set(paths(items_of([half, damaged]))) == {(".?",), (".😀",), (".\ufffd",)}


def test_numbers_of_json_itself_are_read_as_they_stand():
    (item,) = items_of([b'{"Item":{"a":{"N":12345678901234567890.10}}}'])
    assert item == {"a": {"N": "12345678901234567890.10"}}


PERSON = {"M": {"name": S, "zip": N}}


@pytest.mark.parametrize(
    ("value", "said", "left"),
    [
        (PERSON, {"a": {"drop": True}}, {}),
        (PERSON, {"/a/name": {"drop": True}}, {(".a",): {"M"}, (".a", ".zip"): {"N"}}),
        (PERSON, {"/a/*": {"drop": True}}, {(".a",): {"M"}}),
        (PERSON, {"/a/zip": {"hash": True}}, {(".a",): {"M"}, (".a", ".name"): {"S"}, (".a", ".zip"): {"S"}}),
        (PERSON, {"a": {"hash": True}}, {(".a",): {"M"}}),
        ({"L": [PERSON]}, {"a": {"hash": True}}, {(".a",): {"L"}}),
        ({"L": [PERSON]}, {"/a/*": {"drop": True}}, {(".a",): {"L"}}),
        (
            {"L": [PERSON]},
            {"/a/*/zip": {"drop": True}},
            {(".a",): {"L"}, (".a", "[]"): {"M"}, (".a", "[]", ".name"): {"S"}},
        ),
        ({"L": [N, PERSON]}, {"/a/*": {"hash": True}}, {(".a",): {"L"}, (".a", "[]"): {"S", "M"}}),
        ({"NS": ["1"]}, {"/a/*": {"drop": True}}, {(".a",): {"NULL"}}),
        (
            {"L": [{"SS": ["x"]}, {"BS": ["AA=="]}, N]},
            {"/a/*/*": {"drop": True}},
            {(".a",): {"L"}, (".a", "[]"): {"NULL", "N"}},
        ),
        ({"NS": ["1"]}, {"/a/*/b": {"drop": True}}, {(".a",): {"NS"}, (".a", "[]"): {"N"}}),
        # Refused later, for which it stays: a set is hashed itself, not its elements.
        ({"SS": ["x"]}, {"/a/*": {"hash": True}}, {(".a",): {"SS"}}),
        ({"NS": ["1"]}, {"a": {"hash": True}}, {(".a",): {"S"}}),
        (N, {"a": {"hash": True}, "/a/*": {"hash": True}}, {(".a",): {"S"}}),
        ({"NS": ["1"]}, {"a": {"hash": True}, "/a/*": {"drop": True}}, {(".a",): {"S"}}),
        ({"L": [N]}, {"a": {"hash": True}, "/a/*": {"hash": True}}, {(".a",): {"L"}, (".a", "[]"): {"S"}}),
        (PERSON, {"a": {"hash": True}, "/a/*": {"drop": True}}, {(".a",): {"M"}}),
        ({"NULL": True}, {"a": {"hash": True}}, {(".a",): {"NULL"}}),
        (N, {"b": {"drop": True}}, {(".a",): {"N"}}),
    ],
)
def test_what_is_hidden_counts_as_what_becomes_of_it(value, said, left):
    assert paths([{"a": value}], said) == left


def test_a_sample_weighs_as_all_items_do_and_nothing_counts_twice():
    path = (".v",)
    sample = [Observed(path, "N", 8, 1), Observed(path, "M", 2)]
    counted = [Observed(path, "M", 21), Observed(path, "N", 3, 20, fits_long=False), Observed((".new",), "S", 1)]
    profile = Profile.of(weighed(sample, 10.0, counted))
    assert profile.members["v"].tags == {"N": 80, "M": 21}
    assert (profile.members["v"].integer_digits, profile.members["v"].fits_long) == (20, False)
    assert profile.members["new"].tags == {"S": 1}


def test_of_two_looks_the_larger_number_stands_and_room_for_both():
    path = (".v",)
    first = [Observed(path, "N", 1, 1, 32, fits_long=False), Observed(path, "S", 2), Observed(path, "S", 3)]
    second = [Observed(path, "N", 7, 9, 1), Observed(path, "S", 4), Observed((".new",), "S", 1)]
    seen = Profile.of(at_least(first, second))
    assert (seen.members["v"].tags, seen.members["new"].tags) == ({"N": 7, "S": 5}, {"S": 1})
    assert (seen.members["v"].integer_digits, seen.members["v"].fraction_digits) == (9, 32)
    assert not seen.members["v"].fits_long


def test_of_a_number_that_two_looks_have_met_there_is_room_for_both():
    small, large = Observed((".n",), "N", 3, 1, 2), Observed((".n",), "N", 1, 30, 0, fits_long=False)
    for one, other in ((small, large), (large, small)):
        assert at_least([one], [other]) == [Observed((".n",), "N", 3, 30, 2, fits_long=False)]


def test_what_a_sample_stands_for_is_taken_off_once_from_all_that_was_counted():
    counted = [Observed((".n",), "N", 6, 1), Observed((".n",), "N", 6, 2)]
    assert [row.count for row in weighed([Observed((".n",), "N", 1)], 10, counted)] == [10, 0, 2]
