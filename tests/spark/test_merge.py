"""Merges: windows of changes become the table's new content in one commit, each exactly once."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from operator import itemgetter

import pytest

import spark.merging.merge
from pipeline.columns.declared.overrides import Overrides
from pipeline.errors import Overlap, OverrideContradicted, RebuildNeeded
from pipeline.identity import KeyAttribute
from pipeline.instants import format_instant
from spark.job import run
from tests.spark.sample_items import ALL_TYPES, N, S, item
from tests.spark.shop import BOTH_IMAGES, NEW_ONLY, another_id, minute

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def merged(shop):
    """Three windows merged at once, listed in no order: every story an item can have."""
    source = shop()
    source.put(1, ALL_TYPES, item("a", v=N), item("b", v=N), item("c", m={"M": {"x": S}}), item("d", m={"M": {"x": S}}))
    source.put(1, item("emptied", v=N, text=S, map={"M": {"x": S}}))
    source.load(5)
    source.put(6, item("a", v={"N": "2"}), item("new"), item("comes and goes"))
    source.put(
        6, item("odd", v={"S": "text"}), item("odder", v={"S": "text"}), item("c", m=S), item("e", l={"L": [N, S]})
    )
    source.put(
        6, item("d", m={"M": {"x": S, "y": {"M": {"z": {"BOOL": True}}}}}), {**ALL_TYPES, "pk": {"S": "all again"}}
    )
    source.delete(7, item("b"))
    source.put(26, item("a", v={"N": "3"}, added=S), item("new", v={"N": "4"}), item("emptied", map={"M": {}}))
    source.delete(27, item("comes and goes"), item("all"))
    source.put(46, item("b", v={"N": "5"}), item("late"))
    order = source.windows(5, 25, 45, 65)
    first, second, third = order.exports
    return source, run(source.spark, replace(order, exports=(second, third, first)))


def test_the_table_shows_what_the_source_held(merged):
    source, _ = merged
    assert source.differences(65) == []
    assert source.state.watermark == minute(65)


def test_windows_are_folded_into_one_change_for_each_key(merged):
    _, report = merged
    assert report["counts"] == {
        "read": 17,
        "inserted": 6,
        "updated": 5,
        "deleted": 1,
        "already_there": 0,
        "unknown_deletes": 0,
        "transient": 1,
        "folded": 4,
        "misfits": 3,
    }
    assert report["continuity"] == ""


def test_the_counts_stand_in_the_commit_and_in_the_property(merged):
    source, report = merged
    assert dict(source.state.marker.counts) == report["counts"]
    (newest,) = [s for s in source.metadata["snapshots"] if s["snapshot-id"] == source.metadata["current-snapshot-id"]]
    for place in (newest["summary"], source.metadata["properties"]):
        assert (place["tidemark.watermark"], place["tidemark.count.read"]) == (format_instant(minute(65)), "17")
        assert place["tidemark.billed-bytes"] == "30000000"  # three windows, the least for each


def test_new_attributes_and_members_of_maps_become_columns_and_fields(merged):
    source, report = merged
    assert sorted(report["new_columns"], key=itemgetter("path")) == [
        {"column": "added", "path": "/added", "type": "string", "count": 1, "example": '{"pk":"a"}'},
        {"column": "l", "path": "/l", "type": "string", "count": 1, "example": '{"pk":"e"}'},
        {"column": "m.y", "path": "/m/y", "type": "struct", "count": 1, "example": '{"pk":"d"}'},
    ]
    rows = source.rows()
    assert (rows["a"]["added"], rows["d"]["m"]) == ("x", {"x": "x", "y": {"z": True}})


def test_values_that_do_not_fit_are_kept_and_reported(merged):
    _, report = merged
    assert report["misfits"] == [
        {"path": "/v", "type": "S", "count": 2, "example": '{"pk":"odd"}'},
        {"path": "/m", "type": "S", "count": 1, "example": '{"pk":"c"}'},
    ]


def test_an_attribute_that_was_removed_is_gone_and_an_item_of_keys_alone_stays(merged):
    source, _ = merged
    row = source.rows()["emptied"]
    assert {name: value for name, value in row.items() if value is not None} == {
        "pk": "emptied",
        "map": dict.fromkeys(("city", "in", "x", "zip")),
        "_write_time": minute(26),
    }


def test_a_merge_leaves_nothing_behind_but_the_table(merged):
    source, _ = merged
    assert [found.name for found in source.spark.catalog.listTables() if found.isTemporary] == []
    assert set(source.metadata["refs"]) == {"main"}
    assert [found.name for found in source.warehouse.iterdir() if not found.name.startswith(".")] == ["shop"]
    there = {found.name for found in (source.warehouse / "shop").iterdir()}
    assert [name for name in there if not re.fullmatch(r"orders\d*", name)] == [], "what is no test's own table"


def test_rows_know_when_they_were_last_changed(merged):
    source, _ = merged
    times = {name: row["_write_time"] for name, row in source.rows().items() if len(name) == 1 or name == "late"}
    last = {"a": 26, "b": 46, "c": 6, "d": 6, "e": 6, "late": 46}
    assert times == {name: minute(at) for name, at in last.items()}


def test_merging_the_same_windows_again_does_nothing(merged):
    source, _ = merged
    before = source.metadata
    again = source.windows(5, 25, 45, 65)
    with pytest.raises(Overlap):
        run(source.spark, source.windows(5, 25))
    assert run(source.spark, again)["outcome"] == "already_there"
    assert run(source.spark, another_id(again, "merge-2"))["counts"] == dict(source.state.marker.counts)
    assert source.metadata == before


@pytest.fixture
def base(shop):
    """A table with the items a, b, c."""

    def make(**options):
        source = shop(**options)
        source.put(1, item("a", v=N), item("b", v=N), item("c"))
        source.load(5)
        return source

    return make


@pytest.mark.parametrize("view", [BOTH_IMAGES, NEW_ONLY])
def test_changes_that_have_their_cells_are_merged_as_they_are_read(base, monkeypatch, view):
    source = base(view=view)
    source.put(6, item("a", v={"N": "2"}), item("new", v=N))
    source.delete(7, item("b"))
    monkeypatch.setattr("spark.merging.merge.looked_through", _never)
    counts = source.merge(5, 25)["counts"]
    assert [counts[name] for name in ("read", "inserted", "updated", "deleted")] == [3, 1, 1, 1]
    assert source.differences(25) == []
    assert source.merge(25, 45)["counts"]["read"] == 0


def test_odd_changes_are_kept_and_looked_through_before_anything_is_committed(base, monkeypatch):
    source = base()
    source.put(6, item("a", v={"S": "text"}), item("new", v=N))
    before = len(source.metadata["snapshots"])
    assert source.merge(5, 25)["counts"]["misfits"] == 1
    assert (source.differences(25), len(source.metadata["snapshots"])) == ([], before + 1)
    # The next is looked through at once: who had odd values has more of them.
    monkeypatch.setattr("spark.merging.merge.last_word", _asked_once(spark.merging.merge.last_word))
    source.put(26, item("c", v={"S": "text"}))
    assert source.merge(25, 45)["counts"]["misfits"] == 1


def _never(*_):
    raise AssertionError("nothing is to be looked through")


def _asked_once(last_word):
    """`last_word` for one commit; a second is not expected to be tried."""
    left = [last_word]
    return lambda *arguments: left.pop()(*arguments)


def test_a_delete_of_what_the_table_never_had_inserts_nothing_and_shows(base):
    source = base()
    source.put(2, item("never loaded"))  # behind the load's back: the table does not know it
    source.delete(6, item("never loaded"))
    report = source.merge(5, 25)
    assert sorted(source.rows()) == ["a", "b", "c"]
    assert report["counts"]["deleted"] == 1
    assert "run a verification" in report["continuity"]


def test_without_old_images_the_table_tells_what_each_change_was(base):
    source = base(view=NEW_ONLY)
    source.put(6, item("a", v={"N": "2"}), item("new"))
    source.delete(7, item("b"))
    source.put(2, item("unknown"))
    source.delete(8, item("unknown"))
    counts = source.merge(5, 25)["counts"]
    told = ("inserted", "updated", "deleted", "unknown_deletes")
    assert [counts[name] for name in told] == [1, 1, 1, 1]
    assert source.differences(25) == []


@pytest.mark.parametrize("names", [("json", "count"), ("tag", "pointer")])
def test_a_key_may_be_called_like_anything_that_misfits_are_told_with(shop, names):
    source = shop(key=tuple(KeyAttribute(name, "S") for name in names), view=NEW_ONLY)
    key = {name: {"S": "a"} for name in names}
    source.put(1, key | {"v": N})
    source.load(5)
    source.put(6, key | {"v": S, "new": N})
    order = source.windows(5, 25)
    with pytest.raises(OverrideContradicted, match=f"such as that of {{.{names[0]}.:.a.,.{names[1]}.:.a.}}"):
        run(source.spark, replace(order, columns=Overrides.parse({"v": "bigint"})))
    report = run(source.spark, order)
    told = [report["misfits"][0]["example"], report["new_columns"][0]["example"]]
    assert told == [json.dumps(dict.fromkeys(names, "a"), separators=(",", ":"))] * 2
    source.change("INSERT INTO TABLE SELECT * FROM TABLE")
    source.put(26, key)
    with pytest.raises(RebuildNeeded, match="several rows of one key"):
        source.merge(25, 45)


@pytest.mark.parametrize(("view", "job"), [(NEW_ONLY, "merge"), (BOTH_IMAGES, "backfill")])
def test_a_table_with_several_rows_of_a_key_asks_for_a_new_one(base, view, job):
    source = base(view=view)
    source.put(6, item("a", v={"N": "2"}), item("b", v={"N": "3"}))
    if job == "backfill":
        source.merge(5, 25)
    source.copy("a", "a")
    before = source.metadata
    with pytest.raises(RebuildNeeded, match=r"several rows of one key, of which .* met 1, such as {.pk.:.a.}"):
        source.merge(5, 25, job=job)
    assert source.metadata == before
    source.load(30)
    assert source.differences(30) == []


def test_a_backfill_repeats_a_stretch_and_leaves_the_watermark(base):
    source = base()
    source.put(6, item("a", v={"N": "2"}))
    source.delete(7, item("b"))
    source.put(26, item("a", v={"N": "3"}), item("new"))
    source.merge(5, 25, 45)
    source.lose("new")
    report = run(source.spark, source.windows(5, 45, job="backfill"))
    assert source.differences(45) == []
    counts = report["counts"]
    assert (counts["updated"], counts["inserted"], counts["unknown_deletes"]) == (1, 1, 1)
    assert (source.state.watermark, report["continuity"]) == (minute(45), "")
