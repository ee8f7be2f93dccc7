"""Types that are set for what is inside maps and lists: for any of it, for one of many, and for plain JSON."""

from __future__ import annotations

import pytest

from pipeline.columns.growth import first_columns
from pipeline.columns.overrides import Overrides
from pipeline.columns.pins import as_said, check_followed
from pipeline.columns.rebuild import rebuilt
from pipeline.columns.types import LONG, SCALARS, ColumnType, Kind
from tests.pipeline.seen import KEY, N, S, columns, item, named, profile


@pytest.mark.parametrize("also", [{"drop": True}, {"name": "foo"}, {"hash": True}, "string"])
@pytest.mark.parametrize("name", ["k1", "unseen"])
def test_what_is_set_for_any_name_of_a_dictionary_is_set_beside_what_is_said_of_one(also, name):
    values = {"M": {f"k{n}": N for n in range(600)}}
    said = Overrides.parse({"/d/*": "string", f"/d/{name}": also})
    for found in (
        first_columns(KEY, profile(item(d=values)), said),
        rebuilt(columns(item(d=values)), KEY, profile(item()), said).columns,
    ):
        check_followed(found, said)
        assert named(found)["d"] == ColumnType(Kind.DICTIONARY, element=SCALARS)


def test_values_that_contradict_what_is_set_for_elements_find_no_plain_json_to_hide_in():
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
