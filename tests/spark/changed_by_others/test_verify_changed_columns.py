"""Verify a table whose columns are no longer those that its rows were written with: what readers have lost is told."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.errors import RebuildNeeded
from spark.job import run
from tests.spark.sample_items import N_KEY, item
from tests.spark.verifying import differences, verify

pytestmark = pytest.mark.spark


def shown(report):
    """What a report shows: the key, and each place with both values."""
    return {
        json.loads(row["key"])["pk"]: {value["path"]: (value["source"], value["table"]) for value in row["values"]}
        for row in report["differences"]
    }


def alter(s, how):
    """Somebody changes the columns."""
    s.spark.sql(f"ALTER TABLE glue.shop.{s.name} {how}")


def test_values_of_columns_that_somebody_has_dropped_are_differences_and_other_names_are_none(shop):
    s = shop()
    city = {"M": {"city": {"S": "Oslo"}, "zip": {"S": "1"}}}
    s.put(1, item("a", raw={"S": "x"}, ship=city), item("b", ship=city, total={"N": "2"}), item("c", raw={"S": "y"}))
    s.put(1, item("d", only={"M": {"one": {"S": "z"}}}), item("e", only={"M": {}}))
    s.put(1, *(item(f"k{n}", total={"N": str(n)}) for n in range(20)))
    s.load(5)
    alter(s, "RENAME COLUMN total TO amount")
    assert verify(s, 5)["counts"]["equal"] == 25
    alter(s, "DROP COLUMN raw")
    alter(s, "DROP COLUMN ship.zip")
    alter(s, "DROP COLUMN only.one")

    report = differences(s, 5)

    assert (report["counts"]["equal"], report["counts"]["different"]) == (20, 5)
    assert shown(report) == {
        "a": {"/raw": ('{"S":"x"}', None), "/ship/zip": ('{"S":"1"}', None)},
        "b": {"/ship/zip": ('{"S":"1"}', None)},
        "c": {"/raw": ('{"S":"y"}', None)},
        "d": {"/only": ('{"M":{"one":{"S":"z"}}}', None), "/only/one": ('{"S":"z"}', None)},
        "e": {"/only": ('{"M":{}}', None)},
    }


def test_columns_that_somebody_has_renamed_hold_what_they_held_and_take_more_of_it(shop):
    s, mixed = shop(), {"L": [{"S": "x"}, {"N": "1"}]}

    def of(key, n):
        inside = {"M": {"set": {"SS": ["x", f"y{n}"]}}}
        odd = {"L": [{"S": "x"}, {"M": {"n": {"N": str(n)}}}]}
        return item(key, tags={"NS": ["1", str(n)]}, odd=odd, any=mixed, big={"N": f"{n}E100"}, ship=inside)

    s.put(1, of("a", 2), of("b", 3))
    s.load(5)
    for column in ("tags", "odd", "any", "big", "ship.set"):
        alter(s, f"RENAME COLUMN {column} TO {column.rpartition('.')[2]}_renamed")
    alter(s, "RENAME COLUMN pk TO key")
    s.put(6, of("b", 4), of("c", 5) | {"new": {"S": "x"}})
    # Another name is no news, for a merge and for a full export.
    report = s.merge(5, 20)
    assert [new["path"] for new in report["new_columns"]] == ["/new"]
    assert s.differences(20) == []
    assert verify(s, 20)["counts"]["equal"] == 3
    assert [row["_misfits"] for row in s.rows().values()] == [None, None, None]
    alter(s, "RENAME COLUMN new TO newer")
    report = s.load(20)
    assert (report["new_columns"], report["changed_columns"]) == ([], [])
    assert s.differences(20) == []


def test_after_a_rollback_past_other_names_and_types_all_that_shows_empty_is_a_difference(shop):
    s = shop()
    s.put(1, item("a", v={"N": "1"}, w={"S": "x"}, same={"S": "z"}), item("b", same={"S": "z"}))
    s.load(5)
    loaded = s.metadata["current-snapshot-id"]
    s.put(6, item("c", v={"N": "1.5"}))
    run(s.spark, replace(s.full(15), columns=Overrides.parse({"w": {"name": "w_renamed"}})))
    s.roll_back(loaded)

    report = differences(s, 5)

    assert shown(report) == {"a": {"/v": ('{"N":"1"}', None), "/w": ('{"S":"x"}', None)}}
    assert (report["counts"]["equal"], report["counts"]["rows"]) == (1, 2)


def test_after_a_rollback_past_another_type_of_the_key_a_new_table_is_asked_for(shop):
    s = shop(key=N_KEY)
    s.put(1, item("a", sk={"N": "1"}))
    s.load(5)
    loaded = s.metadata["current-snapshot-id"]
    s.put(6, item("a", sk={"N": "1.5"}))
    s.load(15)
    s.change("CALL glue.system.set_current_snapshot('TABLE', THAT)", THAT=str(loaded))
    with pytest.raises(RebuildNeeded, match="lacks sk"):
        verify(s, 5)
