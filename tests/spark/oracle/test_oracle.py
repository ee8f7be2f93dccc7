"""The table is what the source was, whatever people put into DynamoDB; and the comparison that says so misses nothing."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from local.aws.pitr.oddities import ODDITIES
from spark.merging import changes
from tests.spark.oracle.handled import HandledLife
from tests.spark.oracle.life import FIRST, Life
from tests.spark.oracle.needless import needless_after_merge
from tests.spark.oracle.scale import ALL, as_large, large_in
from tests.spark.oracle.seeded_bugs import BLINDNESS, BUGS
from tests.spark.shop import BOTH_IMAGES, NEW_ONLY

pytestmark = pytest.mark.spark
#: A life of hundreds of items, one of a table in which much is hidden, and small ones; they have together what a table may be.
_OF_HUNDREDS, _HIDING, _SMALL = 375, 1065, (204, 530, 821, 1284)
_SEEDS = (_OF_HUNDREDS, _HIDING, *_SMALL)
#: Those of them in which differences are planted that the verification has to find. Each takes seconds; `make fuzz` has more.
_TAMPERED_WITH = (204, 821)
#: Tables in whose windows every bug shows: of other seeds one has no text, or deletes nothing.
_WITH_BUGS = (91, 103, 127)
_WINDOWS = (5, 20, 35, 50)
_TO_PLANT_IN = 91


def test_hundreds_of_items_of_any_shape_are_in_the_table_what_they_were_in_the_source(shop):
    # An item's life is a case. `make fuzz` goes through as many tables as one likes, and wider ones.
    with as_large(large_in(_OF_HUNDREDS)):
        lived = Life(_OF_HUNDREDS, shop, items=280, attributes=10, is_tampered_with=False).live()
    assert list(lived.differences) == []
    assert lived.items > 200


def test_items_of_any_shape_stay_what_they_were_where_values_are_hidden_and_cells_are_packed(shop):
    life = Life(_HIDING, shop, items=120, attributes=10)
    # Of few seeds something is hidden in so few attributes; others would follow a table of which nothing is said.
    assert {rule.kind for rule in life.wishes.columns.protections} == {"drop", "hash"}
    with as_large(large_in(_HIDING) | {"attributes"}):
        lived = life.live()
    assert list(lived.differences) == []
    assert lived.items > 80


@pytest.mark.parametrize("seed", _SMALL)
def test_a_small_random_table_is_what_its_source_was_after_all_that_happens_to_it(shop, seed):
    with as_large(large_in(seed)):
        lived = Life(seed, shop, items=40, attributes=10, is_tampered_with=seed in _TAMPERED_WITH).live()
    assert list(lived.differences) == []
    assert lived.items > 25


def test_those_seeds_have_together_what_a_table_may_be(shop):
    lives = [Life(seed, shop, items=40, attributes=10) for seed in _SEEDS]
    keys = [[part.type for part in life.shop.key] for life in lives]
    assert {(len(key), key[0]) for key in keys} == {(count, type_) for count in (1, 2) for type_ in "SNB"}
    assert {life.shop.view for life in lives} == {BOTH_IMAGES, NEW_ONLY}
    assert {name for life in lives for name in life.shop.oddities} == {*ODDITIES}
    rules = [rule for life in lives for rule in life.wishes.columns.rules]
    assert {word for rule in rules for word in rule.said} == {"type", "name", "drop", "hash"}
    assert {len(rule.path) > 1 for rule in rules} == {False, True}
    assert frozenset().union(*map(large_in, _SEEDS)) == ALL
    # An odd one is maintained, an even one read as one of very many attributes is.
    assert {seed % 2 for seed, life in zip(_SEEDS, lives, strict=True) if not life.wishes.columns.rules} == {0, 1}


def test_a_table_stays_whole_among_people_whose_hands_are_on_it_and_jobs_that_die(shop):
    small = {"items": 12, "attributes": 8, "rounds": 3}
    lives = [HandledLife(seed, shop, **small, is_tampered_with=seed == 2044) for seed in (2044, 2069)]
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
        assert found_after_merge(s) != []
    finally:
        s.roll_back(loaded)
    assert s.differences(5) == []


def test_without_a_bug_there_is_nothing_to_find(followed):
    s, _ = followed
    s.merge(5, 20, 35)
    assert found_after_merge(s) == []


def found_after_merge(s):
    return s.differences(35) + needless_after_merge(s, 5, 35, ("pk", "note", "price"))


@pytest.fixture(scope="module", params=_WITH_BUGS)
def random_life(request, shop):
    """A random table after its load, with three windows of whatever comes, and what the table was before them."""
    life = Life(request.param, shop, items=24, attributes=8)
    assert life.begun() == []
    life.change(_WINDOWS)
    return life, life.shop.metadata["current-snapshot-id"]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_a_seeded_bug_is_found_in_a_random_table(random_life, bug):
    life, loaded = random_life
    try:
        with bug():
            found = life.merged(_WINDOWS)
        # The merge says itself of some that something is wrong; here the comparison has to find it.
        assert [one for one in found if one.startswith("after the merge")] != []
    finally:
        life.shop.roll_back(loaded)


def test_without_a_bug_there_is_nothing_to_find_in_a_random_table(random_life):
    life, _ = random_life
    assert life.merged(_WINDOWS) == []


def test_a_report_that_tells_of_other_losses_is_found_in_a_random_table(random_life):
    life, loaded = random_life
    told = changes.lost
    try:
        with patch.object(changes, "lost", lambda old, new, *more: told(new, old, *more)):
            found = life.merged(_WINDOWS)
        assert any("items have lost it" in one for one in found) is (life.shop.view == BOTH_IMAGES)
    finally:
        life.shop.roll_back(loaded)


@pytest.fixture(scope="module")
def loaded_life(shop):
    """A random table after its load, of enough rows for something of every kind to be planted."""
    life = Life(_TO_PLANT_IN, shop, items=80, attributes=10)
    assert life.begun() == []
    return life


@pytest.mark.parametrize("bug", BLINDNESS, ids=lambda bug: bug.__name__)
def test_what_a_verification_does_not_see_is_found_by_what_is_planted(loaded_life, bug):
    with bug():
        assert loaded_life.wrongly_verified(FIRST) != []


def test_a_verification_that_sees_everything_finds_what_is_planted_and_nothing_else(loaded_life):
    assert loaded_life.wrongly_verified(FIRST) == []
