"""Rebuilds: a later full export replaces content and types at once; names and ids of columns stay."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import spark.load
from pipeline.column_types import Kind
from pipeline.errors import KeyDoesNotFit, OverrideContradicted, RebuildNeeded
from pipeline.marker import NAMES
from pipeline.overrides import Overrides
from pipeline.table_columns import KINDS
from spark.job import run
from tests.spark.sample_items import N_KEY, S
from tests.spark.shop import minute

pytestmark = pytest.mark.spark


def test_a_rebuild_replaces_content_and_types_and_keeps_names(shop):
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "Amount": {"N": "1"}, "gone": S}, {"pk": {"S": "b"}, "m": {"M": {"x": S}}})
    source.load(5)
    source.put(6, {"pk": {"S": "a"}, "Amount": {"N": "1.5"}, "amount": S, "m": {"M": {"x": S, "y": S}}})
    source.delete(6, {"pk": {"S": "b"}})
    before = source.metadata["schemas"][-1]
    report = source.load(30)
    assert source.differences(30) == []
    assert [(new["column"], new["path"]) for new in report["new_columns"]] == [("m.y", "/m/y"), ("amount_2", "/amount")]
    ids = {f["name"]: f["id"] for f in before["fields"]}
    after = next(s for s in source.metadata["schemas"] if s["schema-id"] == source.metadata["current-schema-id"])
    assert {f["name"]: f["type"] for f in after["fields"]}["amount"] == "decimal(38, 1)"
    assert [f["name"] for f in after["fields"] if "#" in f["name"]] == []
    assert {f["name"]: f["id"] for f in after["fields"]}["gone"] == ids["gone"]
    assert source.state.watermark == minute(30)


def test_after_a_rollback_past_a_rebuild_no_value_is_merged_away(shop):
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "v": {"N": "1"}})
    source.load(5)
    loaded = source.metadata["current-snapshot-id"]
    source.put(6, {"pk": {"S": "b"}, "v": {"N": "1.5"}})
    source.load(15)
    source.roll_back(loaded)
    with pytest.raises(RebuildNeeded, match="lacks v"):
        source.merge(5, 25)
    assert source.state.watermark == minute(5)
    source.load(25)
    source.put(26, {"pk": {"S": "c"}, "v": {"N": "2"}})
    source.merge(25, 40)
    assert source.differences(40) == []


def test_a_refused_rebuild_leaves_the_columns_as_they_were(shop):
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "v": {"N": "1"}})
    source.load(5)
    names = [field["name"] for field in source.metadata["schemas"][-1]["fields"]]
    source.put(6, {"pk": {"S": "a"}, "v": S, "new": S, "h": {"M": {}}})
    order = replace(source.full(15), columns=Overrides.parse({"h": {"hash": True}}))
    with pytest.raises(OverrideContradicted):
        run(source.spark, order, "a secret of thirty-two characters")
    now = next(s for s in source.metadata["schemas"] if s["schema-id"] == source.metadata["current-schema-id"])
    assert [field["name"] for field in now["fields"]] == names
    assert source.differences(5) == []
    source.merge(5, 25)
    assert source.differences(25) == []


def test_a_rebuild_that_was_killed_leaves_every_column_what_it_was(shop, monkeypatch):
    source = shop()
    long_name = "n" * 300
    source.put(1, {"pk": {"S": "a"}, "v": {"N": "1E100"}, long_name: {"N": "1"}})
    source.load(5)
    said = {name: json.loads(source.metadata["properties"][name]) for name in (KINDS, NAMES)}
    source.put(6, *({"pk": {"S": f"b{i}"}, "v": S, long_name: S} for i in range(3)))
    with monkeypatch.context() as killed:
        killed.setattr(spark.load.Table, "publish", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            source.load(15)
    for name, known in said.items():
        assert known.items() <= json.loads(source.metadata["properties"][name]).items()
    source.merge(5, 25)
    rows = source.rows()
    assert (rows["a"]["v"], rows["b0"]["v"]) == ("1" + "0" * 100, None)
    source.load(30)
    assert source.differences(30) == []


def test_columns_of_any_type_are_replaced(shop):
    source = shop()
    years, places = {"M": {"2024": {"N": "1"}, "1e2": S, "12l": S}}, {"L": [{"M": {"5d": S}}]}
    source.put(1, {"pk": {"S": "a"}, "years": years, "places": places, "names": {"SS": ["x"]}, "raw": {"B": "AQ=="}})
    source.load(5)
    source.put(6, {"pk": {"S": "a"}, "years": S, "places": S, "names": S, "raw": {"N": "1"}})
    source.load(30)
    assert source.differences(30) == []


def test_readers_see_the_old_content_until_a_rebuild_is_published(shop):
    source = shop()
    source.put(1, {"pk": {"S": "a"}})
    source.load(5)
    source.put(6, {"pk": {"S": "b"}})
    source.spark.sql(f"ALTER TABLE glue.shop.{source.name} ADD PARTITION FIELD truncate(2, pk)")
    seen = []
    publish = spark.load.Table.publish

    def watched(table, *arguments):
        seen.extend(source.rows())
        publish(table, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark.load.Table, "publish", watched)
        source.load(30)
    assert seen == ["a"]
    assert sorted(source.rows()) == ["a", "b"]
    layout = {spec["spec-id"]: spec["fields"] for spec in source.metadata["partition-specs"]}
    transforms = [field["transform"] for field in layout[source.metadata["default-spec-id"]]]
    assert transforms == ["bucket[4]", "truncate[2]"]  # what a person has added stays


def test_a_key_that_outgrew_its_column_is_refused_until_a_rebuild_makes_room(shop):
    source = shop(key=N_KEY)
    source.put(1, {"pk": S, "sk": {"N": "1"}, "a": {"L": [S, {"N": "1"}]}})
    source.load(5)
    source.put(6, {"pk": S, "sk": {"N": "1.5"}, "a": {"L": [S, {"N": "1"}]}})
    before = source.metadata
    with pytest.raises(KeyDoesNotFit):
        source.merge(5, 25)
    assert source.metadata == before
    source.load(30)
    assert source.differences(30) == []
    source.put(31, {"pk": S, "sk": {"N": "2.5"}, "a": {"L": [{"N": "2"}]}})
    assert source.merge(30, 50)["counts"]["inserted"] == 1
    assert source.differences(50) == []
    assert Kind.JSON.value in source.metadata["properties"]["tidemark.kinds"]
