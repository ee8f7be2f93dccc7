"""What the data, or the table's rows, contradict of what the user says is refused by name, and the table stays."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pipeline.columns import field_counts
from pipeline.columns.in_table.table_columns import columns_of
from pipeline.columns.pointers import step
from pipeline.columns.types import JSON
from pipeline.errors import OverrideContradicted, RebuildNeeded, UnreadableLine
from tests.spark.overriding import carry_out, hashed
from tests.spark.sample_items import N, S, item
from tests.spark.shop import minute
from tests.spark.tampering import rewrite

pytestmark = pytest.mark.spark


def test_values_that_a_declared_type_excludes_are_refused_and_the_table_stays(shop):
    source = shop()
    source.put(1, item("a", v={"N": "1.5"}, h={"M": {}}), item("b", v=N))
    for columns, words in (
        ({"v": "bigint"}, ["columns['/v'] declares the type bigint", "of type N: 1, such as", '{"pk":"a"}']),
        ({"h": {"hash": True}}, ["columns['/h'] sets hash", "such a place: 1", '{"pk":"a"}', "/h/*"]),
    ):
        with pytest.raises(OverrideContradicted) as refused:
            carry_out(source, source.full(5), **columns)
        assert [word for word in words if word not in str(refused.value)] == []
        assert not source.state.exists
    carry_out(source, source.full(5), v="decimal(38,1)")
    source.put(6, item("c", v=S))
    order = source.windows(5, 25)
    with pytest.raises(OverrideContradicted, match="values of type S: 1, such as"):
        carry_out(source, order, v="decimal(38,1)")
    assert source.state.watermark == minute(5)
    assert carry_out(source, order)["counts"]["misfits"] == 1  # the type taken back


def test_plain_json_takes_no_other_type_than_the_declared_one(shop):
    source, said = shop(), {"a": "L", "/m/b": "map"}
    mixed, maps = {"L": [S, N]}, {"M": {"x": S, "y": N}}
    source.put(1, item("a", a=mixed, m={"M": {"b": maps}}), item("b"))
    carry_out(source, source.full(5), **said)
    types = columns_of(source.metadata, source.source.key).types
    assert (types["a"], types["m"].fields[0].type) == (JSON, JSON)
    for at, (word, odd) in enumerate((("L", {"a": {"SS": ["x"]}}), ("map", {"a": mixed, "m": {"M": {"b": mixed}}}))):
        source.put(6 + at, item("b", **odd))
        order = source.windows(5, 25 + at)
        with pytest.raises(OverrideContradicted, match=f"declares the type {word}, "):
            carry_out(source, order, **said)
    with pytest.raises(OverrideContradicted, match=r"declares the type map, .* of type L: 1"):
        carry_out(source, source.full(40), **said)
    assert source.state.watermark == minute(5)
    assert carry_out(source, order)["counts"]["misfits"] == 0  # the type taken back


def test_what_is_declared_of_plain_json_moves_no_cell_of_a_wide_table(shop):
    source, said = shop(), {"a": "L"}
    mixed, texts = {"L": [S, N]}, {f"t{n:02}": {"S": str(n)} for n in range(45)}
    source.put(1, item("x", a=mixed, b=mixed, c={"SS": ["y"]}, **texts))
    carry_out(source, source.full(5), **said)
    assert source.differences(5) == []
    source.put(6, item("x", a=mixed, b={"L": [N, S]}, **texts), item("z", b=mixed, **texts))
    assert carry_out(source, source.windows(5, 25), **said)["counts"]["misfits"] == 0
    assert source.differences(25) == []


@pytest.mark.parametrize(
    ("job", "others", "odd", "rule"),
    [
        pytest.param(
            "load", {"M": {"no": {"S": "y"}}}, {"M": {"card": {"M": {"no": N}}}}, "/v/card", id="in JSON text"
        ),
        pytest.param("load", {"L": [S]}, {"SS": ["x", "y"]}, "/v/*", id="a set for its elements"),
        pytest.param("merge", {"S": "x"}, {"M": {"card": {"L": [N]}}}, "/v/card", id="in a misfit"),
        pytest.param("merge", {"L": [S]}, {"NS": ["1"]}, "/v/*", id="a set for its elements, in a window"),
        pytest.param("merge", {"S": "x"}, {"L": [S, {"M": {"card": {"L": [N]}}}]}, "/v/*/card", id="in a list"),
    ],
)
def test_a_hash_is_contradicted_wherever_the_map_or_list_stands(shop, job, others, odd, rule):
    said = {rule: {"hash": True}, **({"v": "json"} if "M" in others else {})}
    source = shop()
    source.put(1, item("a", v=others), item("b", v=others), item("odd", v=others if job == "merge" else odd))
    words = re.escape(f"columns[{rule!r}] sets hash") + '.*such a place: 1, such as that of {"pk":"odd"}'
    if job == "merge":
        carry_out(source, source.full(5), **said)
        source.put(6, item("odd", v=odd))
    state, order = source.state, source.full(5) if job == "load" else source.windows(5, 25)
    with pytest.raises(OverrideContradicted, match=words):
        carry_out(source, order, **said)
    assert source.state == state


def test_what_is_dropped_of_lists_is_dropped_of_sets_and_an_index_reaches_nothing_and_is_refused(shop):
    source, elements = shop(), {"/v/*": {"drop": True}, "/sets/*": {"drop": True}}
    hidden = {"S": "hide me"}
    source.put(1, item("a", v={"L": [S]}), item("c", w={"L": [N, {"M": {"no": hidden}}]}))
    source.put(1, item("b", v={"SS": ["hide me"]}, sets={"SS": ["hide me"]}))
    index = r"columns\['/w/1/no'\] speaks of an index in a list; items that hold a list at such a place: 1, such as"
    for hides in ("drop", "hash"):
        with pytest.raises(OverrideContradicted, match=index):
            carry_out(source, source.full(5), **elements, **{"/w/1/no": {hides: True}})
        assert not source.state.exists
    carry_out(source, source.full(5), **elements)
    rows = source.rows()
    assert [(rows[pk]["v"], rows[pk]["_misfits"]) for pk in "ab"] == [("[]", None), (None, None)]
    assert "hide me" not in str(rows["b"])


@pytest.mark.parametrize(
    ("hides", "name"),
    [("drop", "plain"), ("hash", "\U0001f600"), ("drop", 'a \U0001f600 \U00010000/~"'), ("hash", "ü\n")],
)
def test_what_is_hidden_in_a_map_is_found_in_lists_in_lists_however_it_is_spelled(shop, hides, name):
    source, said = shop(), {"/who/" + step(name): {hides: True}}
    source.put(1, item("a", who={"M": {name: S, "x": S}}), item("odd", who={"L": [{"L": [{"M": {name: S}}]}]}))
    with pytest.raises(OverrideContradicted, match=r'speaks of what is in a map; .*"odd"'):
        carry_out(source, source.full(5), **said)
    source.put(6, item("odd", who={"L": [{"L": [{"M": {name + "2": S}}]}]}))
    assert carry_out(source, source.full(15), **said)["outcome"] == "committed"


def test_a_name_with_a_line_end_is_not_the_same_without(shop):
    source = shop()
    source.put(1, item("a", **{"age": N, "age\n": N, "zip\n": N}))
    carry_out(source, source.full(5), age="bigint")
    source.put(6, item("b", **{"age": N, "age\n": S, "zip\n": S}))
    assert carry_out(source, source.windows(5, 25), age="bigint")["counts"]["misfits"] == 2
    source.put(26, item("c", zip=S))
    assert carry_out(source, source.windows(25, 45), age="bigint", zip={"drop": True})["counts"]["inserted"] == 1


def test_a_verification_refuses_what_a_hash_is_contradicted_by(shop):
    source = shop()
    source.put(1, item("a", v=S))
    carry_out(source, source.full(5), v={"hash": True})
    order = replace(source.full(5), job="verify")
    rewrite(source, order, lambda lines: [line.replace('"v":{"S":"x"}', '"v":{"L":[]}') for line in lines])
    with pytest.raises(OverrideContradicted, match=r"such a place: 1, such as that of {.pk.:.a.}"):
        carry_out(source, order, v={"hash": True})


_HIDDEN = {"plain": {"hash": True}, "/map/x": {"hash": True}, "/list/*": {"hash": True}}


@pytest.fixture(scope="module")
def hiding(shop):
    """A table with something hidden at several places, of which an item has come since that is yet to be made odd."""
    source = shop()
    source.put(1, item("a", plain=S, map={"M": {"x": S}}, list={"L": [S]}))
    carry_out(source, source.full(5), **_HIDDEN)
    source.put(6, item("odd", plain={"S": "of plain"}, map={"S": "of map"}, list={"L": [{"S": "of list"}]}))
    return source


@pytest.mark.parametrize(
    ("place", "no_value", "job"),
    [
        pytest.param("plain", '{"S":"bare","N":"1"}', "load", id="two types"),
        pytest.param("map", '{"M":{"x":{"S":"y"}},"S":"bare"}', "merge", id="two types around it"),
        pytest.param("map", '{"M":"bare"}', "load", id="a map that is a text"),
        pytest.param("list", '{"L":"bare"}', "merge", id="a list that is a text"),
    ],
)
def test_what_is_no_value_is_refused_where_values_are_hidden_and_shown_by_no_refusal(hiding, place, no_value, job):
    before, order = hiding.rows(), hiding.full(25) if job == "load" else hiding.windows(5, 25)
    value = f'{{"S":"of {place}"}}' if place != "list" else '{"L":[{"S":"of list"}]}'
    rewrite(hiding, order, lambda lines: [line.replace(value, no_value) for line in lines])
    with pytest.raises(UnreadableLine) as refused:
        carry_out(hiding, order, **_HIDDEN)
    assert hiding.rows() == before
    assert "bare" not in f"{refused.value}{hiding.report(order)}"


def test_what_only_misfits_hold_is_hidden_by_a_rebuild_as_well(shop, monkeypatch):
    monkeypatch.setattr(field_counts, "MOST_FIELDS", 1)
    source = shop()
    source.put(1, item("a", v={"M": {"x": N}}))
    source.load(5)
    source.put(6, item("b", v={"M": {"zip": S}}))
    assert source.merge(5, 25)["counts"]["misfits"] == 1
    source.put(26, item("c"))
    order, rows = source.windows(25, 45), source.rows()
    for path in ("/v/zip", "/v/zip/inside"):
        with pytest.raises(RebuildNeeded, match=f"drop is set for {path}"):
            carry_out(source, order, **{path: {"drop": True}})
    assert source.rows() == rows
    assert carry_out(source, order, **{"/v/zip2": {"drop": True}})["counts"]["inserted"] == 1


def test_a_hash_that_a_window_contradicts_leaves_no_trace_in_the_table(shop):
    source = shop()
    source.put(1, item("a", v=N))
    source.load(5)
    source.put(6, item("b", h={"M": {"x": S}}))
    order = source.windows(5, 25)
    schemas = len(source.metadata["schemas"])
    with pytest.raises(OverrideContradicted):
        carry_out(source, order, h={"hash": True})
    assert len(source.metadata["schemas"]) == schemas
    assert carry_out(source, order, **{"/h/*": {"hash": True}})["counts"]["inserted"] == 1
    assert hashed('{"S":"x"}') in str(source.rows())


def test_after_a_rollback_past_a_hash_nothing_is_hashed_beside_what_is_clear(shop):
    source = shop()
    source.put(1, item("a", email=S))
    source.load(5)
    loaded = source.metadata["current-snapshot-id"]
    carry_out(source, source.full(15), email={"hash": True})
    source.roll_back(loaded)
    source.put(6, item("b", email=S))
    with pytest.raises(RebuildNeeded, match="hash is set for /email"):
        carry_out(source, source.windows(5, 25), email={"hash": True})
    assert len(source.rows()) == 1


def test_elements_of_sets_that_the_table_shows_can_be_dropped_by_a_full_export(shop):
    source, elements = shop(), {"/v/*": {"drop": True}, "/m/*/*": {"drop": True}}
    source.put(1, item("a", v={"SS": ["hide me"]}, m={"M": {"tags": {"NS": ["4711"]}, "left": S}}))
    source.load(5)
    source.put(6, item("b", v={"SS": ["hide me"]}, m={"M": {"tags": {"NS": ["4711"]}}}))
    with pytest.raises(RebuildNeeded, match=r"drop is set for /(v|m/\*)/\*, of which the table may hold values"):
        carry_out(source, source.windows(5, 25), **elements)
    carry_out(source, source.full(25), **elements)
    source.put(26, item("c", v={"SS": ["hide me"]}, m={"M": {"tags": {"NS": ["4711"]}, "left": S}}))
    assert carry_out(source, source.windows(25, 45), **elements)["counts"]["misfits"] == 0
    shown = {pk: (row["v"], row["m"], row["_misfits"]) for pk, row in source.rows().items()}
    left, gone = {"left": "x", "tags": None}, {"left": None, "tags": None}
    assert shown == {"a": (None, left, None), "b": (None, gone, None), "c": (None, left, None)}
