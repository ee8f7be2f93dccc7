"""Rebuilds that were killed on the way: readers see one content or the other, whole, with every name."""

from __future__ import annotations

import json

import pytest

import spark.loading.load
from pipeline.columns.in_table.table_columns import KINDS
from pipeline.table.marker import NAMES
from spark.job import run
from tests.spark.sample_items import N_KEY, S
from tests.spark.shop import Killed, killed

pytestmark = pytest.mark.spark
#: A name that no comment can hold.
LONG_NAME = "n" * 300
INSIDE = {"L": [{"M": {LONG_NAME: S, "x": S}}]}


def test_a_rebuild_that_was_killed_leaves_every_column_what_it_was(shop, monkeypatch):
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "v": {"N": "1E100"}, LONG_NAME: {"N": "1"}})
    source.load(5)
    said = {name: json.loads(source.metadata["properties"][name]) for name in (KINDS, NAMES)}
    source.put(6, *({"pk": {"S": f"b{i}"}, "v": S, LONG_NAME: S} for i in range(3)))
    with monkeypatch.context() as patched:
        patched.setattr(spark.loading.load.Table, "publish", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            source.load(15)
    for name, known in said.items():
        assert known.items() <= json.loads(source.metadata["properties"][name]).items()
    source.merge(5, 25)
    rows = source.rows()
    assert (rows["a"]["v"], rows["b0"]["v"]) == ("1" + "0" * 100, None)
    source.load(30)
    assert source.differences(30) == []


@pytest.fixture
def not_published(shop, monkeypatch):
    """A table whose rebuild, to a column of another type, was killed once its rows were written to a branch."""
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "v": {"N": "1"}})
    source.load(5)
    source.put(6, {"pk": {"S": "a"}, "v": {"BOOL": True}})
    with monkeypatch.context() as patched:
        patched.setattr(spark.loading.load.Table, "publish", killed)
        with pytest.raises(Killed):
            source.load(15)
    return source


def test_the_next_rebuild_takes_nothing_of_what_one_that_was_killed_has_left(not_published):
    source = not_published
    source.put(16, {"pk": {"S": "a"}, "v": S})
    source.load(30)
    assert source.differences(30) == []
    assert set(source.metadata["refs"]) == {"main"}
    assert set(source.rows()["a"]) == {"pk", "v", "_write_time", "_misfits"}


def test_maintenance_takes_away_what_a_rebuild_that_was_killed_has_left(not_published):
    source = not_published
    assert len(source.metadata["refs"]) == 2
    source.maintain(5)
    assert set(source.metadata["refs"]) == {"main"}
    assert set(source.rows()["a"]) == {"pk", "v", "_write_time", "_misfits"}
    assert source.differences(5) == []


@pytest.fixture
def half_done(shop, monkeypatch):
    """A table whose key got another type by a load that was killed right after its commit, and that load's order."""
    source = shop(key=N_KEY)
    source.put(1, {"pk": S, "sk": {"N": "1"}, LONG_NAME: INSIDE})
    source.load(5)
    source.put(6, {"pk": S, "sk": {"N": "1.5"}, LONG_NAME: INSIDE})
    order = source.full(15)
    with monkeypatch.context() as patched:
        patched.setattr(spark.loading.load.Table, "_describe", killed)
        with pytest.raises(Killed):
            run(source.spark, order)
    return source, order


def test_who_repeats_a_rebuild_of_the_key_that_was_killed_after_its_commit_finishes_it(half_done):
    source, order = half_done
    assert run(source.spark, order)["outcome"] == "already_there"
    assert source.differences(15) == []


def test_a_merge_after_a_rebuild_of_the_key_that_was_killed_after_its_commit_finishes_it(half_done):
    source, _ = half_done
    source.put(16, {"pk": S, "sk": {"N": "2.5"}, LONG_NAME: INSIDE})
    source.merge(15, 35)
    assert source.differences(35) == []
    names = json.loads(source.metadata["properties"][NAMES])
    assert (sorted(names.values()), all(map(str.isdigit, names))) == ([LONG_NAME, LONG_NAME, "pk", "sk", "x"], True)
