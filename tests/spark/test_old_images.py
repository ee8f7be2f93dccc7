"""Old images are compared with the rows that they should be: what is missing, too much or other is told, nothing else."""

from __future__ import annotations

import json

import pytest

from spark.expressions import wide_items
from tests.spark.large import always_filtered
from tests.spark.overriding import carry_out, hashed
from tests.spark.sample_items import ALL_TYPES, N, S, item
from tests.spark.shop import NEW_ONLY

pytestmark = pytest.mark.spark

#: Values of which some are misfits, some plain JSON, some come in another order each time.
RICH = {
    "odd": {"M": {"x": N}},
    "mixed": {"L": [S, N, {"M": {"b": {"SS": ["y", "x"]}, "a": {"NULL": True}}}]},
    "slots": {"NS": ["7", "23"]},
    "ship": {"M": {"city": S, "more": {"M": {"deep": {"L": [S]}}}}},
}


def compared(report):
    """What a report says of old images: equal, different, without a row, and rows without one."""
    names = ("images_equal", "images_different", "images_without_row", "rows_without_image")
    return [report["counts"].get(name) for name in names]


@pytest.fixture
def source(shop):
    """A table with items of all kinds, loaded; each of them is about to be changed."""
    s = shop(compare_old_images=True)
    s.put(1, ALL_TYPES, *(item(name, v=N, **RICH) for name in "abcdef"), *(item(f"n{i}", odd=S) for i in range(9)))
    s.load(5)
    s.put(6, ALL_TYPES | {"new": S}, *(item(name, v=S, note=S) for name in "abcde"), item("inserted"))
    s.delete(7, item("f"))
    return s


def test_a_table_that_held_what_the_source_held_is_not_spoken_of(source, monkeypatch):
    monkeypatch.setattr(wide_items, "WIDE", 0)  # as items of very many attributes are typed; others are below
    report = source.merge(5, 25)
    assert (compared(report), report["continuity"], report["differences"]) == ([7, 0, 0, 0], "", [])
    # Once more, of rows that now hold misfits, in two windows: before a stretch counts what was before its first.
    source.put(26, *(item(name, v=N, **RICH) for name in "abc"))
    source.put(46, *(item(name, v=S) for name in "abc"))
    source.delete(47, item("inserted"))
    report = source.merge(25, 45, 65)
    assert (compared(report), report["continuity"]) == ([4, 0, 0, 0], "")
    assert source.differences(65) == []


def test_every_row_that_was_not_what_an_old_image_says_is_told(source):
    source.lose("a")
    source.copy("n0", "inserted")
    source.change("UPDATE TABLE SET v = 7 WHERE pk IN ('b', 'f')")
    source.change("UPDATE TABLE SET _misfits = NULL WHERE pk = 'c'")
    source.change("UPDATE TABLE SET slots = array(23, 7) WHERE pk = 'd'")  # a set has no order
    source.change("UPDATE TABLE SET v = 7 WHERE pk = 'n1'")  # no window does
    with always_filtered():  # as into a large table; into small ones below
        report = source.merge(5, 25)
    assert compared(report) == [3, 3, 1, 1]
    said = "3 differ from the table's row and 1 has no row; 1 row has no old image"
    assert said in report["continuity"]
    told = {
        shown["key"]: (shown["found"], [value["path"] for value in shown["values"]]) for shown in report["differences"]
    }
    assert told == {
        '{"pk":"a"}': ("only_in_source", sorted(f"/{name}" for name in ("pk", "v", *RICH))),
        '{"pk":"b"}': ("different", ["/v"]),
        '{"pk":"c"}': ("different", ["/odd"]),
        '{"pk":"f"}': ("different", ["/v"]),
        '{"pk":"inserted"}': ("only_in_table", ["/odd", "/pk"]),
    }
    # What it changes is right again; the rest a verification finds.
    assert [found.partition(" ")[0] for found in source.differences(25)] == ["n1"]


def test_a_row_lost_and_a_row_invented_cancel_in_the_sums_and_not_here(shop):
    for compares in (False, True):
        source = shop(compare_old_images=compares)
        source.put(1, item("a", v=N), item("b", v=N))
        source.load(5)
        source.lose("a")
        source.copy("b", "ghost")
        source.put(6, item("a", v={"N": "2"}), item("ghost", v=N))
        report = source.merge(5, 25)
        assert bool(report["continuity"]) is compares
        assert compared(report) == ([0, 0, 1, 1] if compares else [None] * 4)


def test_of_several_windows_at_once_each_row_is_held_against_what_was_before_the_first(shop):
    source = shop(compare_old_images=True)
    source.put(1, *(item(name, v=N) for name in ("away", "back", "lost", "lost away", "lost back", "same")))
    source.load(5)
    source.put(6, *(item(name, v=N) for name in ("came", "came back", "came away", "ghost", "ghost away")))
    source.delete(7, *map(item, ("came back", "away", "back", "lost away", "lost back")))
    source.put(26, *(item(name, v={"N": "2"}) for name in ("came back", "back", "lost", "lost back", "same")))
    source.delete(46, item("came away"), item("ghost away"), item("came back"))
    source.put(47, item("lost", v={"N": "3"}), item("came back", v={"N": "3"}))
    for name in ("lost", "lost away", "lost back"):
        source.lose(name)
    for name in ("ghost", "ghost away"):
        source.copy("same", name)
    report = source.merge(5, 25, 45, 65)
    assert compared(report) == [3, 0, 3, 2]
    # Three that are lost could not be removed or replaced; two that were invented were, against all images.
    assert "7 rows should have been written and 6 removed or replaced; Iceberg counted 7 and 5." in report["continuity"]
    assert source.differences(65) == []


def test_a_row_beyond_the_first_of_its_key_has_no_image_of_its_own(shop):
    source = shop(compare_old_images=True)
    source.put(1, *(item(name, v=N) for name in "abc"))
    source.load(5)
    # So that the sums say nothing.
    source.spark.sql(f"ALTER TABLE glue.shop.{source.name} SET TBLPROPERTIES ('write.merge.mode' = 'copy-on-write')")
    source.copy("a", "a")
    source.copy("b", "b")
    source.put(6, item("a", v={"N": "2"}), item("c", v={"N": "2"}))
    source.delete(6, item("b"))
    report = source.merge(5, 25)
    assert compared(report) == [5, 0, 0, 2]
    assert report["continuity"].startswith("2 rows have no old image.")
    assert [(shown["key"], shown["found"]) for shown in report["differences"]] == [
        ('{"pk":"a"}', "surplus"),
        ('{"pk":"b"}', "surplus"),
    ]


def test_what_is_dropped_and_hashed_is_compared_as_the_table_has_it(shop):
    source = shop(compare_old_images=True)
    said = {"mail": {"hash": True}, "/who/zip": {"drop": True}, "/who/name": {"hash": True}}
    mail, who = {"S": "Ada@x.org"}, {"M": {"name": {"S": "Ada"}, "zip": {"S": "1000"}, "age": N}}
    source.put(1, item("a", mail=mail, who=who), item("b", mail=mail, who=who))
    carry_out(source, source.full(5), **said)
    source.change("UPDATE TABLE SET mail = 'else' WHERE pk = 'b'")
    source.put(6, item("a"), item("b"))
    report = carry_out(source, source.windows(5, 25), **said)
    assert compared(report) == [1, 1, 0, 0]
    shown = json.dumps({"S": hashed('{"S":"Ada@x.org"}')}, separators=(",", ":"))
    assert report["differences"][0]["values"] == [{"path": "/mail", "source": shown, "table": '"else"'}]
    assert [word for word in ("Ada", "1000") if word in json.dumps(report)] == []


@pytest.mark.parametrize("job", ["merge", "backfill"])
def test_images_of_another_instant_or_none_at_all_are_not_compared(shop, job):
    source = shop(compare_old_images=True, **({"view": NEW_ONLY} if job == "merge" else {}))
    source.put(1, item("a", v=N))
    source.load(5)
    source.put(6, item("a", v={"N": "2"}))
    if job == "backfill":
        assert compared(source.merge(5, 25)) == [1, 0, 0, 0]
    report = source.merge(5, 25, job=job)
    assert (compared(report), report["continuity"]) == ([None] * 4, "")
