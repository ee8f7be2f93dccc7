"""Columns that somebody has added to the table, of types that no attribute's column has: merges leave them as they are."""

from __future__ import annotations

from datetime import date

import pytest

from pipeline.errors import RebuildNeeded
from tests.spark.sample_items import N, S, item
from tests.spark.verifying import verify

pytestmark = pytest.mark.spark

_OWN = "seen_on date, hits int, share double, at timestamp, days array<date>, by_name map<string, int>"


def test_columns_of_types_that_attributes_never_have_are_left_alone_and_their_names_are_taken(shop):
    source = shop()
    source.put(1, item("a", v=N), item("b", v=N), item("gone", v=N))
    source.load(5)
    source.spark.sql(f"ALTER TABLE glue.shop.{source.name} ADD COLUMNS ({_OWN})")
    source.change("UPDATE TABLE SET seen_on = DATE'2026-11-02', hits = 7")
    source.put(6, item("a", v=S, seen_on=S, hits=N), item("c", seen_on=S))
    source.delete(7, item("gone"))
    report = source.merge(5, 25)
    assert report["counts"]["inserted"] == 1
    assert {new["column"] for new in report["new_columns"]} == {"seen_on_2", "hits_2"}
    own = {pk: (row["seen_on"], row["hits"], row["seen_on_2"]) for pk, row in source.rows().items()}
    kept = (date(2026, 11, 2), 7)
    assert own == {"a": (*kept, "x"), "b": (*kept, None), "c": (None, None, "x")}
    assert verify(source, 25)["result"] == "0 differences"
    source.maintain(25)
    source.load(30)
    assert {(row["seen_on"], row["hits"]) for row in source.rows().values()} == {(None, None)}
    source.spark.sql(f"ALTER TABLE glue.shop.{source.name} DROP COLUMN seen_on")
    source.put(31, item("b", v=N, again=S))
    source.merge(30, 50)
    assert source.rows()["b"]["again"] == "x"
    assert source.differences(50) == []


def test_a_number_that_a_column_of_few_digits_has_no_room_for_is_a_misfit_until_a_full_export_makes_room(shop):
    source = shop()
    source.put(1, item("a", map={"M": {"x": N}}, bids={"L": [{"M": {"x": N}}]}))
    source.load(5)
    own = ("paid decimal(10,2)", "map.paid decimal(10,2)", "bids.element.paid decimal(4,1)")
    for column in own:
        source.spark.sql(f"ALTER TABLE glue.shop.{source.name} ADD COLUMN {column}")
    few, many = {"N": "7.5"}, {"N": "123456789.25"}
    source.put(
        6,
        *(
            item(pk, paid=n, map={"M": {"paid": n}}, bids={"L": [{"M": {"paid": n}}]})
            for pk, n in (("b", few), ("c", many))
        ),
    )
    assert source.merge(5, 20)["counts"]["misfits"] == 3
    assert source.rows()["b"]["_misfits"] is None
    assert source.differences(20) == []
    assert verify(source, 20)["result"] == "0 differences"
    source.load(25)
    assert {row["_misfits"] for row in source.rows().values()} == {None}
    assert source.differences(25) == []


def test_a_type_that_no_attribute_has_is_refused_inside_a_struct_until_a_full_export_takes_it_out(shop):
    source = shop()
    source.put(1, item("a", map={"M": {"x": N}}, bids={"L": [{"M": {"x": N}}]}))
    source.load(5)
    put_in = ("map.on date", "bids.element.hits int", "map.days array<date>", "mine struct<on: date, text: string>")
    for column in put_in:
        source.spark.sql(f"ALTER TABLE glue.shop.{source.name} ADD COLUMN {column}")
    source.put(6, item("b", map={"M": {"x": N, "on": S}}, mine={"M": {"text": S, "on": S}}))
    with pytest.raises(RebuildNeeded, match=r"'bids' has got 'hits', of a type that no attribute's column has"):
        source.merge(5, 20)
    source.load(25)
    assert source.differences(25) == []
    source.put(26, item("c", bids={"L": [{"M": {"hits": S}}]}))
    source.merge(25, 40)
    assert source.differences(40) == []
    assert verify(source, 40)["result"] == "0 differences"
