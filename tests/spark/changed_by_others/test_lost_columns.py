"""Tables that have lost columns under their rows, by a rollback or somebody's hand: nothing is merged over what is gone."""

from __future__ import annotations

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.errors import KeyMismatch, RebuildNeeded
from pipeline.identity import KeyAttribute
from tests.spark.sample_items import N_KEY, S, item
from tests.spark.shop import minute
from tests.spark.verifying import verify_order

pytestmark = pytest.mark.spark


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
    # Written anew with the columns of now, its files would have lost the value.
    with pytest.raises(RebuildNeeded, match="lacks v"):
        source.maintain(5)
    # Nor do values come back by what somebody commits on top, with the columns of now.
    source.change("DELETE FROM TABLE WHERE pk = 'nobody' OR pk = 'a'")
    with pytest.raises(RebuildNeeded, match="lacks v"):
        source.merge(5, 25)
    assert source.state.watermark == minute(5)
    source.load(25)
    source.put(26, {"pk": {"S": "c"}, "v": {"N": "2"}})
    source.merge(25, 40)
    assert source.differences(40) == []


def test_after_a_rollback_past_a_rebuild_of_the_key_a_new_table_is_asked_for(shop):
    source = shop(key=N_KEY)
    source.put(1, {"pk": S, "sk": {"N": "1"}})
    source.load(5)
    loaded = source.metadata["current-snapshot-id"]
    source.put(6, {"pk": S, "sk": {"N": "1.5"}})
    source.load(15)
    source.change("CALL glue.system.set_current_snapshot('TABLE', THAT)", THAT=str(loaded))
    # The new column has the id of the old one, and another type.
    with pytest.raises(RebuildNeeded, match="lacks sk"):
        source.merge(5, 25)
    source.load(25)
    assert source.differences(25) == []


def test_after_a_column_was_dropped_and_the_files_were_written_anew_nothing_is_merged(shop):
    source = shop()
    source.put(1, item("a", v=S), item("b", v=S))
    source.load(5)
    source.spark.sql(f"ALTER TABLE glue.shop.{source.name} DROP COLUMN v")
    source.change("CALL glue.system.rewrite_data_files(table => 'TABLE', options => map('rewrite-all', 'true'))")
    source.put(6, item("a", v=S))
    with pytest.raises(RebuildNeeded, match="lacks v"):
        source.merge(5, 25)
    with pytest.raises(RebuildNeeded, match="lacks v"):
        source.maintain(5)
    source.load(25)
    assert source.differences(25) == []


def test_after_a_rollback_past_a_rebuild_in_which_the_keys_columns_exchanged_their_names_no_key_is_turned_round(shop):
    source = shop(key=(KeyAttribute("pk", "S"), KeyAttribute("sk", "S")))
    source.put(1, *({"pk": {"S": f"p{i}"}, "sk": {"S": f"s{i}"}} for i in range(3)))
    source.load(5)
    loaded = source.metadata["current-snapshot-id"]
    source.columns = Overrides.parse({"pk": {"name": "sk"}, "sk": {"name": "pk"}})
    source.load(15)
    source.put(16, {"pk": {"S": "p1"}, "sk": {"S": "s1"}, "v": S})
    source.change("CALL glue.system.set_current_snapshot('TABLE', THAT)", THAT=str(loaded))
    with pytest.raises(RebuildNeeded, match="other columns held /pk, /sk then"):
        source.merge(5, 25)
    with pytest.raises(RebuildNeeded, match="other columns held /pk, /sk then"):
        source.maintain(5)
    source.load(25)
    assert source.differences(25) == []


def test_without_the_products_own_columns_nothing_is_merged_until_a_full_export_brings_them_back(shop):
    source = shop()
    source.put(1, *(item(f"k{i}", v=S) for i in range(4)), item("odd", v={"M": {"x": S}}))
    source.load(5)
    columns = source.spark.table(f"glue.shop.{source.name}").columns
    for at, how in ((5, "RENAME COLUMN {0} TO {0}_then"), (25, "DROP COLUMN {0}")):
        for own in ("_write_time", "_misfits"):
            source.spark.sql(f"ALTER TABLE glue.shop.{source.name} {how.format(own)}")
        source.put(at + 1, item("k1", w=S))
        with pytest.raises(RebuildNeeded, match="lacks _write_time, _misfits"):
            source.merge(at, at + 20)
        with pytest.raises(RebuildNeeded, match="lacks _write_time, _misfits"):
            source.run(verify_order(source, at))
        source.load(at + 20)
        assert source.differences(at + 20) == []
        assert set(source.rows()["odd"]) == {*columns, "w"}
    source.put(46, item("k2", v={"M": {"x": S}}))
    source.merge(45, 65)
    assert source.differences(65) == []


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        pytest.param(("RENAME v TO x", "RENAME _misfits TO v", "RENAME x TO _misfits"), RebuildNeeded, id="exchanged"),
        pytest.param(("DROP _write_time", "RENAME v TO _write_time"), RebuildNeeded, id="taken by an attribute's"),
        pytest.param(("RENAME pk TO `pk#new`",), KeyMismatch, id="the key called as replacements are"),
    ],
)
def test_a_full_export_mends_names_that_are_the_products_own_to_give(shop, changes, refused):
    source = shop()
    source.put(1, item("a", v=S), item("odd", v={"M": {"x": S}}))
    source.load(5)
    for change in changes:
        source.spark.sql(f"ALTER TABLE glue.shop.{source.name} {change.replace(' ', ' COLUMN ', 1)}")
    source.put(6, item("b", v=S))
    with pytest.raises(refused):
        source.merge(5, 20)
    source.load(20)
    source.put(21, item("c", v={"M": {"x": S}}))
    source.merge(20, 35)
    assert source.differences(35) == []
    assert set(source.rows()["a"]) == {"pk", "v", "_write_time", "_misfits"}
