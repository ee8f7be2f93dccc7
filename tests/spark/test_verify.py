"""Verify on real Spark and real Iceberg: every difference is found, and nothing that only looks like one."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from pipeline.errors import (
    CountMismatch,
    Gap,
    KeyMismatch,
    OtherTableId,
    Overlap,
    TableGone,
)
from spark.exports.reading import read_exports
from spark.iceberg.table import Table
from spark.job import run
from spark.verifying.verify import Verification, compared_pairs
from tests.spark import tampering
from tests.spark.sample_items import N_KEY, item
from tests.spark.session import plans_in_full
from tests.spark.verifying import differences, tamper, verify, verify_order

pytestmark = pytest.mark.spark


RICH = item(
    "rich",
    total={"N": "12.50"},
    count={"N": "3"},
    odd={"S": "ten"},
    raw={"B": b"\x00\xff"},
    paid={"BOOL": True},
    tags={"SS": ["b", "a", "ä"]},
    slots={"NS": ["7", "23"]},
    ship={"M": {"city": {"S": "Oslo"}, "lines": {"L": [{"S": "x"}, {"S": "y"}]}, "codes": {"SS": ["q", "p"]}}},
    mixed={"L": [{"S": "1"}, {"N": "1"}, {"M": {"b": {"SS": ["z", "y"]}, "a": {"NULL": True}, "c": {"B": b"\x01"}}}]},
)


#: What somebody has done to a copy of the rich item's row, and the places that a verification must name.
TAMPERED = {
    "a nested value": ({"ship": "named_struct('city', 'Quito', 'codes', ship.codes, 'lines', ship.lines)"}, ["/ship"]),
    "another number": ({"total": "12.6"}, ["/total"]),
    "a rounded one": ({"total": "round(total)"}, ["/total"]),
    "a dropped value": ({"count": "NULL"}, ["/count"]),
    "an invented one": ({"note": "'x'"}, ["/note"]),
    "other bytes": ({"raw": "X'00'"}, ["/raw"]),
    "a flag": ({"paid": "false"}, ["/paid"]),
    "a lost element": ({"tags": "array('a', 'b')"}, ["/tags"]),
    "a list's order": (
        {"ship": "named_struct('city', ship.city, 'codes', ship.codes, 'lines', array('y', 'x'))"},
        ["/ship"],
    ),
    "a type in plain JSON": ({"mixed": """'[1,"1",{"b":["z","y"],"c":"AQ=="}]'"""}, ["/mixed"]),
    "a set in plain JSON": ({"mixed": """'["1",1,{"b":["z","x"],"c":"AQ=="}]'"""}, ["/mixed"]),
    "text behind JSON": ({"mixed": "mixed||'[2]'", "_misfits": """map('/odd', '{"S":"ten"} x')"""}, ["/mixed", "/odd"]),
    "a changed misfit": ({"_misfits": """map('/odd', '{"S":"nine"}')"""}, ["/odd"]),
    "a lost misfit": ({"_misfits": "NULL"}, ["/odd"]),
    "a wrong type": ({"_misfits": "NULL", "odd": "array(10)"}, ["/odd"]),
    "an invented misfit": ({"_misfits": """map_concat(_misfits, map('/ship/zip', '{"S":"1"}'))"""}, ["/ship/zip"]),
    "a value kept twice": ({"_misfits": """map_concat(_misfits, map('/total', '{"N":"12.5"}'))"""}, ["/total"]),
}
#: What somebody has done that leaves the meaning as it was.
REWRITTEN = {
    "a set's order": {"tags": "array('ä', 'a', 'b')"},
    "a set's order inside": {"ship": "named_struct('city', ship.city, 'codes', array('p', 'q'), 'lines', ship.lines)"},
    "plain JSON's order": {"mixed": """'["1",1.0,{"c":"AQ==","b":["y","z"]}]'"""},
    "the last change": {"_write_time": "current_timestamp()"},
    "a value beside its column": {
        "total": "NULL",
        "_misfits": """map_concat(_misfits, map('/total', '{"N":"12.500"}'))""",
    },
    "a map beside its column": {
        "ship": "NULL",
        "_misfits": """map_concat(_misfits, map('/ship', '{"M":{"lines":{"L":[{"S":"x"},{"S":"y"}]},
            "codes":{"SS":["p","q"]},"city":{"S":"Oslo"}}}'))""",
    },
    "an element beside its column": {
        "ship": "named_struct('city', ship.city, 'codes', ship.codes, 'lines', array('x', NULL))",
        "_misfits": """map_concat(_misfits, map('/ship/lines/1', '{"S":"y"}'))""",
    },
    "a mixed list beside its column": {
        "mixed": "NULL",
        "_misfits": """map_concat(_misfits, map('/mixed', '{"L":[{"S":"1"},{"N":"1"},
            {"M":{"c":{"B":"AQ=="},"b":{"SS":["y","z"]}}}]}'))""",
    },
}


@pytest.fixture(scope="module")
def loaded(shop):
    """A table with a copy of the rich item for everything that somebody may do to its row."""
    s = shop()
    s.put(1, *({**RICH, "pk": {"S": pk}} for pk in ["gone", "twice", *TAMPERED, *REWRITTEN]))
    s.put(1, *(item(f"k{n}", odd={"L": [{"N": str(n)}]}, note={"S": "x"}) for n in range(100)))
    s.load(5)
    return s


def test_a_table_that_shows_what_the_source_held_is_verified_and_left_alone(loaded):
    before = loaded.metadata
    report = verify(loaded, 5)
    assert (report["outcome"], report["result"], report["differences"]) == ("verified", "0 differences", [])
    assert report["counts"] == {
        **dict.fromkeys(["items", "rows", "equal"], 127),
        **dict.fromkeys(["only_in_source", "only_in_table", "different", "surplus"], 0),
    }
    assert report["watermark"] == "2026-11-01T12:05:00Z"
    assert loaded.metadata == before


def test_every_difference_is_found_and_nothing_that_only_looks_like_one(loaded):
    s, before = loaded, loaded.metadata["current-snapshot-id"]
    tamper(s, {**{pk: change for pk, (change, _) in TAMPERED.items()}, **REWRITTEN})
    s.copy("gone", "ghost")
    s.copy("twice", "twice")
    s.lose("gone")

    report = differences(s, 5)

    s.change("CALL glue.system.rollback_to_snapshot('TABLE', SNAPSHOT)", SNAPSHOT=str(before))
    assert report["counts"] == {
        **{"items": 127, "rows": 128, "equal": 127 - len(TAMPERED)},  # "twice" is equal twice
        **{"only_in_source": 1, "only_in_table": 1, "different": len(TAMPERED), "surplus": 1},
    }
    assert (report["error"], report["result"]) == ("VerificationFailed", f"{len(TAMPERED) + 3} differences")
    shown = {json.loads(row["key"])["pk"]: row for row in report["differences"]}
    assert {pk: [value["path"] for value in shown[pk]["values"]] for pk in TAMPERED} == {
        pk: paths for pk, (_, paths) in TAMPERED.items()
    }
    assert [shown[pk]["found"] for pk in ("gone", "ghost", "twice")] == ["only_in_source", "only_in_table", "surplus"]
    held = {value["path"]: (value["source"], value["table"]) for value in shown["gone"]["values"]}
    assert (held.keys(), held["/total"]) == ({f"/{name}" for name in RICH}, ('{"N":"12.5"}', None))
    held = {value["path"]: (value["source"], value["table"]) for value in shown["ghost"]["values"]}
    assert (held.keys(), held["/total"]) == ({f"/{name}" for name in RICH}, (None, "12.5"))
    assert held["/odd"] == (None, '{"S":"ten"}')
    # Of two rows that are alike each value stands there once.
    held = [value for value in shown["twice"]["values"] if value["path"] != "/pk"]
    assert held == [value for value in shown["ghost"]["values"] if value["path"] != "/pk"]
    assert shown["another number"]["values"] == [{"path": "/total", "source": '{"N":"12.5"}', "table": "12.6"}]
    assert '{"pk":"a flag"} different: /paid' in report["message"]
    assert "12.6" not in report["message"]


def test_a_later_commit_does_not_matter(shop):
    s = shop()
    s.put(1, item("a", n={"N": "1"}))
    s.load(5)
    early = verify_order(s, 5)
    s.put(6, item("a", n={"N": "2"}, late={"S": "x"}), item("b"))
    s.merge(5, 20)
    assert run(s.spark, early)["counts"]["equal"] == 1
    assert verify(s, 20)["counts"]["equal"] == 2


def test_a_field_that_somebody_has_renamed_is_verified_by_what_it_holds(shop):
    s = shop(compare_old_images=True)
    s.put(1, item("a", ship={"M": {"city": {"S": "Oslo"}, "codes": {"SS": ["a", "b"]}}}))
    s.load(5)
    s.spark.sql(f"ALTER TABLE glue.shop.{s.name} RENAME COLUMN ship.city TO `it's`")
    assert verify(s, 5)["counts"]["equal"] == 1
    s.put(6, item("a", ship={"M": {"city": {"S": "Bergen"}, "codes": {"SS": ["b", "a"]}}}))
    assert s.merge(5, 20)["counts"]["images_equal"] == 1
    s.change("UPDATE TABLE SET ship.`it's` = 'Rome'")
    assert differences(s, 20)["counts"]["different"] == 1


@pytest.mark.parametrize(("at", "error"), [(21, Gap), (4, Overlap)])
def test_an_instant_that_the_table_was_never_at_is_refused(loaded, at, error):
    with pytest.raises(error):
        verify(loaded, at)


def test_another_source_and_a_table_that_is_not_there_are_refused(loaded, shop):
    order = verify_order(loaded, 5)
    with pytest.raises(OtherTableId):
        run(loaded.spark, replace(order, source=replace(order.source, id="another")))
    with pytest.raises(TableGone, match="does not exist any more, so there is nothing to verify"):
        verify(shop(), 5)


def test_rows_are_not_looked_for_by_a_part_of_their_key(shop):
    s = shop(key=N_KEY)
    s.put(1, *(item("a", sk={"N": str(n)}) for n in range(2)))
    s.load(5)
    order = verify_order(s, 5)
    assert run(s.spark, order)["result"] == "0 differences"
    with pytest.raises(KeyMismatch, match="are not found by the key pk:S"):
        run(s.spark, replace(order, source=replace(order.source, key=N_KEY[:1])))


def test_an_export_that_holds_more_than_it_says_is_not_blamed_on_the_table(shop):
    s = shop()
    s.put(1, *(item(f"k{n}") for n in range(20)))
    s.load(5)
    order = verify_order(s, 5)
    tampering.count_wrong(s, order, by=-1)
    with pytest.raises(CountMismatch, match=r"json\.gz holds"):
        run(s.spark, order)


def test_an_empty_source_is_verified_too(shop):
    s = shop()
    s.load(5)
    assert verify(s, 5)["counts"]["items"] == 0


def test_the_table_and_the_items_are_shuffled_once_each_and_joined_once(loaded):

    s = loaded
    order = verify_order(s, 5)
    table, newest = Table(s.spark, order), s.metadata["current-snapshot-id"]
    (export,) = read_exports(s.spark, order)
    this = Verification(s.spark, order, export, table.rows_at(newest), table.columns())
    pairs = compared_pairs(this)
    with plans_in_full(s.spark):
        plan = pairs._jdf.queryExecution().executedPlan().toString()
    operators = re.findall(r"^[ :+-]*(\w+)", plan, flags=re.MULTILINE)
    assert (operators.count("Exchange"), operators.count("SortMergeJoin")) == (2, 1)
    assert "Python" not in plan
