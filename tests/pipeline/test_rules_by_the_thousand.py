"""What is said of thousands of columns is looked up, never gone through for each of them: a job's plan would wait for it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest

from pipeline.columns.beyond_columns import beyond_columns
from pipeline.columns.declared.overrides import Override, Overrides
from pipeline.columns.growth import first_columns
from pipeline.columns.item_sample import observed_items
from pipeline.columns.names import column_names
from pipeline.columns.override_checks import check_followed
from pipeline.columns.pins import as_said, without_dropped
from tests.pipeline.seen import KEY, columns, item, profile

FEW, MANY = 100, 400
TEXT = {"S": "x"}


def traced(run: Callable[[], object]) -> Counter[tuple[str, str]]:
    """How many calls and lines each function takes, by its name: what no other work on the machine changes."""
    found: Counter[tuple[str, str]] = Counter()
    before = sys.gettrace()

    def trace(frame, event, _):
        found[event, frame.f_code.co_name] += 1
        return trace

    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return found


def parsed(said: str | dict, count: int, where: str, **others: str) -> Overrides:
    return Overrides.parse({**{f"{where}{n}": said for n in range(count)}, **others})


def looked_beyond(count: int, where: str, typed: str | dict) -> Callable[[], object]:
    said = parsed(typed, count, where, m="struct")
    there = as_said(first_columns(KEY, profile(item(m={"M": {"b": TEXT}})), said), said)
    return lambda: beyond_columns(there, said)


def followed(count: int) -> Callable[[], object]:
    said = parsed("S", count, "a")
    there = first_columns(KEY, profile(item()), said)
    return lambda: check_followed(there, said)


def read_as_said(count: int, where: str) -> Callable[[], object]:
    said = parsed("json", count, where)
    there = first_columns(KEY, profile(item()), said)
    return lambda: as_said(there, said)


def dropped(count: int) -> Callable[[], object]:
    there = columns(item(m={"M": {f"a{n}": TEXT for n in range(count)}}))
    said = parsed({"drop": True}, count, "/m/a")
    return lambda: without_dropped(there.attributes, said)


def read_alike(count: int) -> Callable[[], object]:
    return lambda: column_names([chr(0x4E00 + n) for n in range(count)], {})


def dictionary_of_maps(count: int) -> Callable[[], object]:
    maps = {f"k{n}": {"M": {"m": {"M": {f"a{n}": TEXT, f"b{n}": TEXT}}}} for n in range(count)}
    seen = profile(item(m={"M": maps})).members["m"]
    return lambda: [seen.any_member.count, seen.any_member.members["m"].any_member.count]


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(lambda n: lambda: parsed("S", n, "/m/a"), id="settings of one map"),
        pytest.param(lambda n: lambda: parsed({"hash": True}, n, "/m/*/a"), id="settings of all maps in one"),
        pytest.param(lambda n: looked_beyond(n, "a", "S"), id="types beyond columns"),
        pytest.param(lambda n: looked_beyond(n, "/m/a", "S"), id="types beyond the fields of a map"),
        pytest.param(lambda n: read_as_said(n, "a"), id="plain JSON of a declared type"),
        pytest.param(followed, id="types held against columns"),
        pytest.param(dropped, id="fields that are dropped"),
        pytest.param(read_alike, id="names that read alike"),
        pytest.param(dictionary_of_maps, id="maps in a dictionary, each with names of its own"),
    ],
)
def test_four_times_as_many_take_four_times_the_work(work):
    few, many = (traced(work(count)).total() for count in (FEW, MANY))
    assert MANY < many < few * 5


def test_rules_are_followed_to_a_name_once_however_many_items_have_it():
    said = parsed({"drop": True}, FEW, "/m/a")
    sampled = item(m={"M": {**{f"a{n}": TEXT for n in range(FEW)}, "b": TEXT}})
    one, ten = (traced(partial(observed_items, [sampled] * n, said))["call", "below"] for n in (1, 10))
    assert one == ten > FEW


def test_the_rules_of_a_place_are_those_that_speak_of_it_in_their_order():
    said = Overrides.parse({"/a/*/c": "S", "/a/b/c": {"name": "c"}, "/a/b/*": "N", "/a/*/*": "B", "/a/b": "M"})
    places = [("a", "b", "c"), ("a", "x", "c"), ("a", "*", "c"), ("a", "b", "*"), ("a", "b"), ("a",), ("b", "b", "c")]
    found: list[list[Override]] = [said.at(place) for place in places]
    assert found == [[rule for rule in said.rules if rule.matches(place)] for place in places]
    assert [len(rules) for rules in found] == [4, 2, 2, 2, 1, 0, 0]
