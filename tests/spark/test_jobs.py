"""The jobs on real Spark and real Iceberg: what the source held is what an independent reader finds, whatever it held."""

from __future__ import annotations

from dataclasses import replace

import pytest

from local.aws.pitr.oddities import ODDITIES
from pipeline.errors import Gap, KeyDoesNotFit, OtherTableId, Overlap
from pipeline.identity import KeyAttribute
from spark.job import run

pytestmark = pytest.mark.spark

RICH = {
    "pk": {"S": "a"},
    "text": {"S": 'quotes " \\ and ` and 🙂'},
    "whole": {"N": "12345678901"},
    "money": {"N": "12.50"},
    "huge": {"N": "1" + "0" * 125},
    "tiny": {"N": "0." + "0" * 129 + "1"},
    "digits": {"N": "12345678901234567890123456789012345678"},
    "raw": {"B": b"\x00\x01\xff"},
    "flag": {"BOOL": False},
    "nothing": {"NULL": True},
    "names": {"SS": ["b", "a"]},
    "numbers": {"NS": ["1", "2.50"]},
    "seals": {"BS": [b"\x00", b"\x01"]},
    "ship.to": {"M": {"Zip-Code": {"S": "04711"}, "lines": {"L": [{"S": "x"}, {"S": "y"}]}}},
    "mixed": {"L": [{"S": "x"}, {"N": "1.10"}, {"M": {"deep": {"BS": [b"\x02"]}}}]},
    "Case": {"S": "upper"},
    "case": {"S": "lower"},
    "_misfits": {"S": "a name of ours"},
    "1; DROP TABLE orders --": {"S": "a name with SQL in it"},
}


def item(pk, **attributes):
    return {"pk": {"S": pk}, **attributes}


def test_every_type_and_odd_name_survives_load_and_merge(shop):
    s = shop()
    s.put(1, RICH, item("b"))
    s.load(5)
    assert s.differences(5) == []

    s.put(6, {**RICH, "pk": {"S": "c"}}, item("b", flag={"BOOL": True}), item("a"))
    report = s.merge(5, 20)

    assert s.differences(20) == []
    assert {n: c for n, c in report["counts"].items() if c} == {"read": 3, "inserted": 1, "updated": 2}


def test_values_that_do_not_fit_are_kept_beside_and_counted(shop):
    s = shop()
    s.put(1, *(item(f"k{i}", total={"N": str(i)}, address={"M": {"city": {"S": "Oslo"}}}) for i in range(5)))
    s.load(5)
    s.put(6, item("k1", total={"S": "about ten"}), item("k2", total={"N": "0.5"}, address={"S": "none"}))
    report = s.merge(5, 20)
    assert s.differences(20) == []
    assert report["counts"]["misfits"] == 3


def test_new_attributes_and_nested_fields_become_columns(shop):
    s = shop()
    s.put(1, item("a", address={"M": {"city": {"S": "Oslo"}}}))
    s.load(5)
    s.put(6, item("b", address={"M": {"city": {"S": "Kyoto"}, "zip": {"N": "7"}}}, gift={"BOOL": True}))
    report = s.merge(5, 20)
    assert s.differences(20) == []
    assert (report["new_columns"], report["counts"]["misfits"]) == (["gift"], 0)


def test_several_windows_are_folded_into_one_net_change_per_key(shop):
    s = shop()
    s.put(1, item("kept", n={"N": "1"}), item("gone"))
    s.load(5)
    s.put(6, item("kept", n={"N": "2"}), item("passing"))
    s.delete(21, item("passing"), item("gone"))
    s.put(22, item("kept", n={"N": "3"}))
    report = s.merge(5, 20, 40)
    assert s.differences(40) == []
    counted = {n: c for n, c in report["counts"].items() if c}
    assert counted == {"read": 5, "updated": 1, "deleted": 1, "transient": 1, "folded": 2}
    assert report["continuity"] == ""


def test_an_attribute_that_was_removed_is_gone_and_an_item_of_keys_alone_stays(shop):
    s = shop()
    s.put(1, item("a", note={"S": "x"}, more={"S": "y"}))
    s.load(5)
    s.put(6, item("a"))
    s.merge(5, 20)
    assert s.differences(20) == []


def test_a_deletion_of_an_unknown_key_inserts_nothing_and_is_told(shop):
    s = shop(view="NEW_IMAGE")
    s.put(1, item("a"), item("b"))
    s.load(5)
    s.delete(6, item("a"))
    order = s.windows(5, 20)
    run(s.spark, order)
    again = run(s.spark, replace(s.windows(5, 20, job="backfill"), job_id="again"))
    assert s.differences(20) == []
    assert again["counts"]["unknown_deletes"] == 1


def test_the_same_order_again_does_nothing(shop):
    s = shop()
    s.put(1, item("a"))
    s.load(5)
    s.put(6, item("b"))
    order = s.windows(5, 20)
    first = run(s.spark, order)
    again = run(s.spark, order)
    assert (first["outcome"], again["outcome"]) == ("committed", "already_there")
    assert again["snapshot_id"] == first["snapshot_id"]


def test_a_backfill_of_what_the_table_shows_rewrites_no_row(shop):
    s = shop()
    s.put(1, item("a"))
    s.load(5)
    s.put(6, item("b"), item("c"))
    s.merge(5, 20)
    report = run(s.spark, s.windows(5, 20, job="backfill"))
    assert report["counts"]["already_there"] == 2
    assert report["counts"]["inserted"] + report["counts"]["updated"] == 0
    assert s.differences(20) == []


def test_an_empty_source_and_an_empty_window_move_the_watermark(shop):
    s = shop()
    assert s.load(5)["counts"]["read"] == 0
    assert s.merge(5, 20)["counts"]["read"] == 0
    s.put(21, item("first", n={"N": "1"}))
    s.merge(20, 40)
    assert s.differences(40) == []


def test_number_keys_are_one_key_by_value(shop):
    s = shop(key=(KeyAttribute("id", "N"),))
    s.put(1, {"id": {"N": "1"}, "v": {"S": "old"}}, {"id": {"N": "-20"}})
    s.load(5)
    s.put(6, {"id": {"N": "1.0"}, "v": {"S": "new"}})
    s.merge(5, 20)
    assert s.differences(20) == []


def test_a_number_key_that_does_not_fit_its_column_is_refused_and_a_full_load_makes_room(shop):
    s = shop(key=(KeyAttribute("id", "N"),))
    s.put(1, {"id": {"N": "1"}})
    s.load(5)
    s.put(6, {"id": {"N": "1.5"}})
    with pytest.raises(KeyDoesNotFit):
        s.merge(5, 20)
    assert s.differences(5) == []
    s.load(20)
    assert s.differences(20) == []


@pytest.mark.parametrize(("bounds", "error"), [((21, 40), Gap), ((4, 20), Overlap)])
def test_windows_that_do_not_meet_the_watermark_are_refused_and_nothing_changes(shop, bounds, error):
    s = shop()
    s.put(1, item("a"))
    s.load(5)
    s.put(6, item("b"))
    with pytest.raises(error):
        s.merge(*bounds)
    assert s.differences(5) == []


def test_changes_of_a_source_created_anew_are_refused(shop):
    s = shop()
    s.put(1, item("a"))
    s.load(5)
    order = s.windows(5, 20)
    with pytest.raises(OtherTableId):
        run(s.spark, replace(order, source=replace(order.source, id="another")))


# Together the two would make a record without images the newest of its key.
@pytest.mark.parametrize("left_out", ["duplicate_key", "timestamp_outside_window"])
def test_every_peculiarity_of_real_exports_is_borne(shop, left_out):
    s = shop(oddities=tuple(name for name in ODDITIES if name != left_out))
    s.put(1, item("a", v={"S": "x"}), item("b"))
    s.load(5)
    s.put(6, item("a", v={"S": "y"}), item("c"))
    s.delete(7, item("b"))
    s.merge(5, 20)
    assert s.differences(20) == []
