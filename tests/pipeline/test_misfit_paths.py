"""Where misfits lie, and which of them lead to no column."""

from __future__ import annotations

import re

import pytest

from pipeline.columns.growth import grown
from pipeline.columns.misfit_paths import element_places, placed, resolved, without_column
from pipeline.columns.profile import Observed, Profile
from tests.pipeline.seen import N, S, columns, item, steps_of


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


def test_what_is_inside_a_value_that_its_column_does_not_take_makes_no_field():
    before = columns(item(l={"L": [{"M": {"x": S}}]}, d={"M": {f"k{n}": {"L": [S]} for n in range(600)}}))
    seen = [
        Observed((".l",), "M", 1, found_at=1),
        Observed((".l", ".a"), "M", 1, found_at=1),
        Observed((".l", ".a", ".oops"), "S", 1, found_at=1),
        Observed((".l", ".0", ".y"), "M", 1, found_at=3),
        Observed((".l", ".0", ".y", ".z"), "S", 1, found_at=3),
        Observed((".new",), "M", 1, found_at=1),
        Observed((".new", ".in"), "S", 1, found_at=1),
        Observed((".d", ".k"), "M", 1, found_at=2),
        Observed((".d", ".k", ".in"), "S", 1, found_at=2),
    ]
    left = without_column(seen, before)
    assert [row.path for row in left] == [seen[at].path for at in (0, 3, 4, 5, 6, 7)]
    after = {f.name: f.type for f in grown(before, Profile.of(placed(left, before))).all}
    assert [field.name for field in after["l"].element.fields] == ["x", "y"]
    assert [field.name for field in after["new"].fields] == ["in"]
    assert after["d"] == {f.name: f.type for f in before.all}["d"]


def test_a_field_that_is_new_in_the_maps_of_a_dictionary_becomes_one_of_each():
    before = columns(item(d={"M": {f"k{n}": {"M": {"x": S}} for n in range(600)}}))
    rows = [Observed((".d", f".k{n}", ".y"), "N", 1, found_at=3) for n in range(2)]
    (d,) = grown(before, Profile.of(placed(without_column(rows, before), before))).attributes
    assert [field.name for field in d.type.element.fields] == ["x", "y"]


def test_the_steps_inside_a_misfit_stay_what_they_are_whatever_its_column_holds():
    found = columns(item(l={"L": [{"L": [S]}]}))
    inside = [Observed((".l", ".a"), "S", 1, found_at=1), Observed((".l", ".0", ".a"), "S", 1, found_at=2)]
    assert [row.path for row in placed(inside, found)] == [(".l", ".a"), (".l", "[]", ".a")]


def test_indices_and_names_that_are_data_are_told_from_those_of_fields():
    names = {"M": {f"k{n}": {"M": {"in": {"M": {f"d{n}": N for n in range(600)}}}} for n in range(600)}}
    found = columns(
        item(
            d=names,
            m={"M": {"a.b": {"M": {f"x{n}": S for n in range(600)}}}},
            l={"L": [{"M": {"1": S}}]},
            **{"c(d": {"L": [{"M": {"x": S}}]}},
        )
    )
    patterns = element_places(found)
    for pointer, told in {
        "/d/k1": "/d/*",
        "/d/k1/in/d7/0": "/d/*/in/*/0",
        "/m/a.b/x7": "/m/a.b/*",
        "/m/axb/x7": "/m/axb/x7",
        "/l/0": "/l/*",
        "/l/17/1": "/l/*/1",
        "/m/2024": "/m/2024",
        "/c(d/0": "/c(d/*",
    }.items():
        folded = pointer
        for pattern in patterns:
            folded = re.sub(f"^({pattern})/[^/]+", r"\1/*", folded)
        assert folded == told
