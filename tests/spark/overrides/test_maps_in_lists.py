"""What a rule names in a map, where the maps stand in a list, or one map in the place of a list: refused by name."""

from __future__ import annotations

import json
import re

import pytest

import spark.loading.sampling
from pipeline.errors import OverrideContradicted
from tests.spark.overriding import carry_out, hashed
from tests.spark.sample_items import ALL_TYPES, N, S, item

pytestmark = pytest.mark.spark


def test_what_is_hidden_in_a_map_is_not_shown_by_a_list_of_maps(shop):
    source, said = shop(), {"/w/no": {"drop": True}}
    source.put(1, item("a", w={"M": {"no": S, "x": S}}), item("odd", w={"L": [{"M": {"no": {"S": "hide me"}}}]}))
    words = r"columns\['/w/no'\] speaks of what is in a map; items that hold it in a list at such a place: 1, .*\"odd\""
    with pytest.raises(OverrideContradicted, match=words):
        carry_out(source, source.full(5), **said)
    assert not source.state.exists
    carry_out(source, source.full(5), **said, **{"/w/*/no": {"drop": True}})
    assert "hide me" not in str(source.rows())
    lists = [{"L": [{"M": {"x": S}}]}, {"L": [{"M": {"no": {"NULL": True}}}]}, {"L": [{"L": [N, {"S": "no"}]}]}]
    source.delete(6, {"pk": {"S": "odd"}})
    source.put(6, *(item(f"plain{n}", w=one) for n, one in enumerate(lists)))
    carry_out(source, source.full(25), **said)  # nothing in the lists is to be hidden
    source.put(26, item("deep", w={"L": [{"L": [{"M": {"no": S}}]}]}))
    with pytest.raises(OverrideContradicted, match='"deep"'):
        carry_out(source, source.windows(25, 45), **said)


def in_map(name: str, value: dict) -> dict:
    return {"M": {name: value}}


def in_list(*values: dict) -> dict:
    return {"L": list(values)}


def test_what_is_hidden_in_a_map_in_a_map_is_not_shown_by_a_list_at_either_level(shop):
    inner = in_map("no", {"S": "hide me"})
    source, rule, first_list = shop(), {"/w/in/no": {"drop": True}}, {"/w/*/in/no": {"drop": True}}
    source.put(1, item("a", w=in_map("in", inner)), item("plain", w=in_list(in_map("in", S), in_map("x", inner))))
    carry_out(source, source.full(5), **rule)
    for n, (odd, said) in enumerate(
        (
            (in_list(in_map("in", inner)), rule),
            (in_list(in_map("in", in_list(inner))), rule),
            (in_map("in", in_list(inner)), rule),
            # Who speaks of the first list has said nothing of the second.
            (in_map("in", in_list(inner)), rule | first_list),
        )
    ):
        source.put(6 + n, item("odd", w=odd))
        with pytest.raises(OverrideContradicted, match=r"'/w/in/no'\] speaks of what is in a map; .*\"odd\""):
            carry_out(source, source.full(25 + n), **said)
    assert set(source.rows()) == {"a", "plain"}
    source.put(35, item("odd", w=in_list(in_map("in", inner))))
    both = {path: {"hash": True} for path in (*rule, *first_list)}
    assert carry_out(source, source.full(40), **both)["outcome"] == "committed"
    assert "hide me" not in str([source.rows()[pk] for pk in ("a", "odd")])


def test_a_member_that_is_called_like_a_type_is_told_from_the_type(shop):
    called = ("S", "L", "M")
    source, said = shop(), {f"/w/{name}": {"drop": True} for name in called}
    names = ("text", "count", "raw", "flag", "nothing", "texts", "numbers", "raws", "list", "map")
    of_each = [ALL_TYPES[name] for name in names]
    inside = [{"M": {"x": value}} for value in of_each]
    texts = [{"S": name} for name in called] + [{"S": f'"{name}":{{"S":"x"}}'} for name in called]
    source.put(1, item("plain", w={"L": [{"L": [*of_each, *inside, *texts]}]}))
    carry_out(source, source.full(5), **said)
    for n, name in enumerate(called):
        source.put(6 + n, item("odd", w={"L": [{"L": [{"M": {name: S}}]}]}))
        with pytest.raises(OverrideContradicted, match=rf"'/w/{name}'.*such a place: 1, .*\"odd\""):
            carry_out(source, source.windows(5, 25), **said)
    source.put(20, *(item(f"m{n}", w={"L": [{"L": [{"M": {"M": one}}]}]}) for n, one in enumerate(of_each)))
    source.delete(20, {"pk": {"S": "odd"}})
    with pytest.raises(OverrideContradicted, match=rf"'/w/M'.*such a place: {len(of_each)}, "):
        carry_out(source, source.windows(5, 25), **said)


def test_what_is_hidden_in_the_maps_of_a_list_is_not_shown_by_one_map_in_its_place(shop):
    one = in_map("no", {"S": "hide me"})
    source, said = shop(), {"/w/*/no": {"hash": True}, "/d/*/*/no": {"drop": True}}
    # A dictionary may have a name that its maps have, too.
    source.put(1, item("a", w=in_list(one), d=in_list(in_list(one))), item("b", w=in_map("no", one)))
    source.put(1, item("c", w=in_map("no", {"NULL": True}), d=in_list(in_map("no", one))))
    carry_out(source, source.full(5), **said)
    for n, (rule, odd) in enumerate({"/w/*/no": {"w": one}, "/d/*/*/no": {"d": in_list(one)}}.items()):
        source.put(6 + n, item("odd", **odd))
        words = re.escape(f"columns[{rule!r}] speaks of") + '.* outside of those.* such a place: 1, .*"odd"'
        with pytest.raises(OverrideContradicted, match=words):
            carry_out(source, source.windows(5, 25 + n), **said)
    source.put(8, item("odd", w=one))
    source.delete(8, {"pk": {"S": "b"}})
    assert carry_out(source, source.full(30), **said, **{"/w/no": {"hash": True}})["outcome"] == "committed"
    assert "hide me" not in str(source.rows())


def test_what_is_hidden_in_lists_under_any_name_is_hidden_in_those_under_a_name_of_which_more_is_said(shop):
    source, inner = shop(), in_map("no", {"S": "hide me"})
    said = {"/w/*/no": {"hash": True}, "/w/*/*/no": {"hash": True}, "/w/in/no": {"hash": True, "name": "number"}}
    source.put(1, item("a", w=in_map("in", inner)), item("b", w=in_map("in", in_list(inner))))
    assert carry_out(source, source.full(5), **said)["outcome"] == "committed"
    assert "hide me" not in str(source.rows())


def test_what_is_hidden_in_all_that_a_list_holds_says_nothing_of_scalars_beside(shop):
    source, said = shop(), {"/w/*/*": {"drop": True}}
    source.put(1, item("a", w=in_list(S, in_map("x", {"S": "hide me"}), in_list({"S": "hide me"}))))
    source.put(1, item("b", w=in_map("y", N)))
    carry_out(source, source.full(5), **said)
    rows = str(source.rows())
    assert ("hide me" in rows, S["S"] in rows) == (False, True)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_path_into_lists_is_refused_where_no_item_has_one_and_not_where_no_sample_has(shop, monkeypatch, is_there):
    monkeypatch.setattr(spark.loading.sampling, "MOST_ITEMS", 2)
    source, rare = shop(), item("rare", tags={"L": [{"M": {"x": S}}]})
    source.put(1, *(item(f"k{i}", tags={"SS": ["a"]}) for i in range(20)), *([rare] if is_there else []))
    said = {"/tags/*/x": {"hash": True}}
    if is_there:
        carry_out(source, source.full(5), **said)
        assert source.rows()["rare"]["tags"] == json.dumps([{"x": hashed('{"S":"x"}')}], separators=(",", ":"))
    else:
        with pytest.raises(OverrideContradicted, match="speaks of elements of a set"):
            carry_out(source, source.full(5), **said)
        assert not source.state.exists
