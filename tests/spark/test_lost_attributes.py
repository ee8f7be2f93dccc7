"""What items no longer have is told: which attributes, and fields of structs; how many items, the key of one."""

from __future__ import annotations

import pytest

from pipeline.columns.declared.overrides import Overrides
from spark.expressions import lost_names
from spark.merging import lost_attributes
from tests.spark.overriding import SECRET
from tests.spark.sample_items import N, S, item
from tests.spark.shop import NEW_ONLY

pytestmark = pytest.mark.spark

NULL = {"NULL": True}


def loaded(shop, **more):
    source = shop(**more)
    source.put(1, *(item(pk, v=N, note=S, empty=NULL) for pk in "abcdefg"), item("c", v=N, note=S, **{"a/b": S}))
    source.load(5)
    source.put(6, item("a", v=N), item("b", v=S, note=S), item("c", v=N, note=NULL), item("new", v=N))
    source.put(7, item("d", v=N), item("e", v=N))
    source.put(22, item("d", v=N, note=N), item("f"), item("g", v=N))
    source.delete(23, item("g"))
    return source


@pytest.mark.parametrize(("compares", "by_one_task"), [(False, lost_attributes.RECORDS), (True, 0)])
@pytest.mark.parametrize("odd", [N, S], ids=["all as it was", "something odd"])
def test_what_items_had_before_a_stretch_and_have_no_more_is_told(shop, monkeypatch, odd, compares, by_one_task):
    monkeypatch.setattr(lost_attributes, "RECORDS", by_one_task)
    source = loaded(shop, compare_old_images=compares)
    source.put(8, item("b", v=odd, note=S))
    report = source.merge(5, 20, 35)
    # Of `c` the note is NULL now; of `d` it came back, as a number; `f` has lost everything, `g` is gone as a whole.
    assert report["removed_attributes"] == [
        {"path": "/empty", "count": 5, "example": '{"pk":"a"}'},
        {"path": "/note", "count": 3, "example": '{"pk":"a"}'},
        {"path": "/a~1b", "count": 1, "example": '{"pk":"c"}'},
        {"path": "/v", "count": 1, "example": '{"pk":"f"}'},
    ]
    assert source.differences(35) == []
    assert source.merge(35, 50)["removed_attributes"] == []


def test_what_is_dropped_is_told_of_nowhere_and_a_hash_is_there(shop):
    said = Overrides.parse({"note": {"drop": True}, "v": {"hash": True}})
    report = loaded(shop, columns=said, secret=SECRET).merge(5, 20, 35)
    assert [one["path"] for one in report["removed_attributes"]] == ["/empty", "/a~1b", "/v"]


def test_without_old_images_nothing_is_told_of_it(shop):
    assert loaded(shop, view=NEW_ONLY).merge(5, 20, 35)["removed_attributes"] == []


# Names that Spark would take for its own, that would end a quoted name or a path, and more than are looked for one by one.
@pytest.mark.parametrize(
    "names", [("_corrupt_record", "`x"), ("*", " it's?", "\ta"), ("*",), (" a", "a"), tuple("abcdefgh")]
)
def test_fields_of_structs_are_told_of(shop, names):
    def who(pk, inner, **fields):
        lines = {"L": [{"M": {"sku": S, **fields}}]}
        return item(pk, lines=lines, **{name: {"M": {"in": {"M": inner}, **fields}} for name in names})

    source = shop()
    source.put(1, who("a", {"x": N, "y": S}, z=S), who("b", {"x": N, "y": NULL}, z=S), who("c", {"x": N, "y": S}, z=S))
    source.load(5)
    source.put(6, who("a", {"x": N}, z=S), who("b", {"x": N, "y": S}), who("c", {"y": S}, z=N))
    assert source.merge(5, 20)["removed_attributes"] == [
        {"path": f"/{name}/{field}", "count": 1, "example": f'{{"pk":"{pk}"}}'}
        for name in sorted(names)
        for field, pk in (("in/x", "c"), ("in/y", "a"), ("z", "b"))
    ] + [{"path": "/lines/*/z", "count": 1, "example": '{"pk":"b"}'}]
    assert source.differences(20) == []


def maps(*each):
    return {"L": [{"M": one} for one in each]}


# By a path, by a struct of their own (Spark takes no such name in a path), and with more of them by one for all.
@pytest.mark.parametrize("names", [("lines",), ("it's?",), tuple("abcdefgh")])
def test_in_a_list_is_lost_what_no_element_has_any_more(shop, names):
    def order(pk, lines):
        return item(pk, **dict.fromkeys(names, lines))

    both, deep = {"sku": S, "tax": N}, {"sku": S, "at": {"M": {"x": N, "y": N}}, "each": maps({"b": N})}
    source = shop()
    source.put(1, *(order(pk, maps(both, deep)) for pk in "abcdefg"))
    source.load(5)
    source.put(
        6,
        order("a", maps({"sku": S}, deep)),  # the tax is gone
        order("b", maps(deep, both)),  # only another order
        order("c", maps({**deep, "at": {"M": {"y": N}}, "each": maps({"b": N}, {})}, both)),
        # Of levels that are not there nothing is gone.
        order("d", {"L": [{"M": {**both, "at": S, "each": {"L": []}}}, {"NULL": True}, S]}),
        order("e", {"L": []}),
        order("f", maps({})),
    )
    source.put(7, item("g"))
    told = {one["path"]: (one["count"], one["example"]) for one in source.merge(5, 20)["removed_attributes"]}
    a, c, f, g = (f'{{"pk":"{pk}"}}' for pk in "acfg")
    inside = {"*/tax": (2, a), "*/at/x": (1, c), "*/sku": (1, f), "*/at": (1, f), "*/each": (1, f)}
    expected = {f"/{name}/{path}": found for name in names for path, found in inside.items()}
    assert told == expected | {f"/{name}": (1, g) for name in names}
    assert source.differences(20) == []


# As of few fields, and as of more, of which those alike are asked at once.
@pytest.mark.parametrize("few", [lost_names._FEW, 0])
def test_in_dictionaries_and_lists_of_lists_as_well(shop, monkeypatch, few):
    monkeypatch.setattr(lost_names, "_FEW", few)
    drops = {"/hidden/*/secret": {"drop": True}, "/told/*/eur": {"drop": True}, "/named/y/eur": {"drop": True}}
    types = {"/prices": {"type": "map"}, "/named": {"type": "map"}}
    source = shop(columns=Overrides.parse(drops | types))
    full = {"net": N, "eur": N, "secret": N}
    source.put(
        1,
        item("a", prices={"M": {"x": {"M": full}, "y": {"M": full}}}, rows={"L": [maps(full), maps(full, full)]}),
        item(
            "b", hidden=maps(full), shown=maps(full), **{name: {"M": {"x": {"M": full}}} for name in ("told", "named")}
        ),
    )
    source.load(5)
    left = {"net": N}
    source.put(
        6,
        item("a", prices={"M": {"z": {"M": left}}}, rows={"L": [maps(left)]}),
        item(
            "b", hidden=maps(left), shown=maps(left), **{name: {"M": {"x": {"M": left}}} for name in ("told", "named")}
        ),
    )
    # What is dropped under one name of a dictionary is told under none: all its names are one.
    assert sorted(one["path"] for one in source.merge(5, 20)["removed_attributes"]) == [
        "/hidden/*/eur",
        "/named/*/secret",
        *("/prices/*/eur", "/prices/*/secret"),
        *("/rows/*/*/eur", "/rows/*/*/secret"),
        *("/shown/*/eur", "/shown/*/secret"),
        "/told/x/secret",
    ]


def test_names_of_a_dictionary_are_data_and_not_told_of(shop):
    source = shop(columns=Overrides.parse({"/prices": {"type": "map"}}))
    source.put(1, item("a", prices={"M": {"eur": N, "usd": N}}))
    source.load(5)
    source.put(6, item("a", prices={"M": {"eur": N}}))
    assert source.merge(5, 20)["removed_attributes"] == []


def test_what_is_dropped_inside_is_told_of_nowhere_and_all_else_around_it_is(shop):
    said = {
        "/who/zip": {"drop": True},
        "/all/*": {"drop": True},
        "/prices": {"type": "map"},
        "/prices/x": {"drop": True},
        "/rates": {"type": "map"},
        "/rates/x/*": {"drop": True},
    }
    source = shop(columns=Overrides.parse(said))
    full, left = {"eur": N, "usd": N}, {"eur": N}
    prices, fewer = ({"M": {"x": {"M": x}, "y": {"M": left}}} for x in (full, left))
    more = {"all": {"M": {"a": S}}, "prices": prices, "rates": prices}
    source.put(1, *(item(pk, who={"M": {"zip": S, "city": S}}, **more) for pk in "abc"))
    source.load(5)
    more = {"all": {"M": {}}, "prices": fewer, "rates": fewer}
    source.put(6, item("a", who={"M": {}}, **more), item("b", who={"M": {"city": S}}, **more), item("c", **more))
    assert source.merge(5, 20)["removed_attributes"] == [
        {"path": "/who", "count": 1, "example": '{"pk":"c"}'},
        {"path": "/who/city", "count": 1, "example": '{"pk":"a"}'},
    ]


def test_a_map_that_is_gone_or_another_type_now_is_not_gone_through(shop):
    source = shop()
    source.put(1, *(item(pk, who={"M": {"city": S}}) for pk in "abc"))
    source.load(5)
    source.put(6, item("a"), item("b", who=S), item("c", who=NULL))
    told = source.merge(5, 20)["removed_attributes"]
    assert told == [{"path": "/who", "count": 1, "example": '{"pk":"a"}'}]
    assert source.differences(20) == []
