"""The table is what the source was, whatever people put into DynamoDB; and the comparison that says so misses nothing."""

from __future__ import annotations

import pytest

from spark.expressions import wide_items
from tests.spark.oracle.handled import HandledLife
from tests.spark.oracle.life import Life
from tests.spark.oracle.seeded_bugs import BUGS

pytestmark = pytest.mark.spark


def test_hundreds_of_items_of_any_shape_are_in_the_table_what_they_were_in_the_source(shop):
    # An item's life is a case. `make fuzz` goes through as many tables as one likes, and wider ones.
    lived = Life(2, shop, items=280, attributes=12).live()
    assert list(lived.differences) == []
    assert lived.items > 200


def test_items_of_any_shape_stay_what_they_were_where_values_are_hidden_and_cells_are_packed(shop, monkeypatch):
    monkeypatch.setattr(wide_items, "WIDE", 0)
    life = Life(273, shop, items=120, attributes=12)
    # Of few seeds something is hidden in so few attributes; others would follow a table of which nothing is said.
    assert {rule.kind for rule in life.wishes.columns.protections} == {"drop", "hash"}
    lived = life.live()
    assert list(lived.differences) == []
    assert lived.items > 80


def test_a_table_stays_whole_among_people_whose_hands_are_on_it_and_jobs_that_die(shop):
    lives = [HandledLife(seed, shop, items=12, attributes=8, rounds=3) for seed in (2044, 2069)]
    assert [list(life.live().differences) for life in lives] == [[], []]
    # Of other seeds something else comes to pass.
    story = " ".join(step for life in lives for step in life.story)
    for event in (
        *(
            "dies before publish",
            "dies after settle",
            "rewrite_data_files",
            "DROP COLUMN",
            "refused: the table",
            "refused: drop",
        ),
        *("RENAME COLUMN `_misfits` TO", "ADD COLUMN", "back to", "made anew with the key"),
    ):
        assert event in story


@pytest.fixture(scope="module")
def followed(shop):
    """A table after its load, with a window of changes that any seeded bug shows in."""
    s = shop()
    stays = {"note": {"S": "old"}, "price": {"N": "12.345"}}
    s.put(1, *({"pk": {"S": name}, **stays} for name in ("loses a note", "changes twice", "goes", "stays")))
    s.load(5)
    s.put(6, {"pk": {"S": "loses a note"}, "price": {"N": "1.005"}})
    s.put(7, {"pk": {"S": "changes twice"}, "note": {"S": "first"}, "price": {"N": "1"}})
    s.put(22, {"pk": {"S": "changes twice"}, "note": {"S": "second"}, "price": {"N": "2"}})
    s.delete(8, {"pk": {"S": "goes"}})
    s.put(9, {"pk": {"S": "comes and goes"}, **stays})
    s.delete(23, {"pk": {"S": "comes and goes"}})
    return s, s.metadata["current-snapshot-id"]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_a_seeded_bug_is_found(followed, bug):
    s, loaded = followed
    try:
        with bug():
            s.merge(5, 20, 35)
        assert s.differences(35) != []
    finally:
        s.roll_back(loaded)
    assert s.differences(5) == []


def test_without_a_bug_there_is_nothing_to_find(followed):
    s, _ = followed
    s.merge(5, 20, 35)
    assert s.differences(35) == []
