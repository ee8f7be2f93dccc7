"""Maintenance on real tables: files go together, old snapshots and lost files go, and every row stays as it was."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import timedelta

import pytest
from pyspark.sql import Row

from pipeline.columns.declared.overrides import Overrides
from pipeline.columns.protected import protected_at
from pipeline.errors import OtherTableId, Overlap, TableContended, TableGone
from pipeline.table.maintenance import COUNTED
from pipeline.table.marker import read_table_state, snapshot_at
from spark.iceberg import maintain
from tests.spark.sample_items import S, item
from tests.spark.shop import as_of, minute

pytestmark = pytest.mark.spark

DAY = 24 * 60
#: Merges of two days each, and where they end.
MERGES = 5
END = 5 + 2 * MERGES * DAY


def counted(key: str, count: int) -> dict:
    """An item with a number, and with something that the table is not to show."""
    return item(key, count={"N": str(count)}, phone={"S": "0123"})


def shown(of: dict) -> dict:
    return {name: value for name, value in of.items() if name != "phone"}


@pytest.fixture(scope="module")
def maintained(shop):
    """A table of ten days that was maintained at their end: its source, the report, its metadata before."""
    source = shop(columns=Overrides.parse({"phone": {"drop": True}}))
    source.put(1, *(counted(f"k{i}", 0) for i in range(40)))
    source.load(5)
    for start in range(5, END, 2 * DAY):
        source.put(start + 1, *(counted(f"k{i}", start) for i in range(20)))
        source.delete(start + 2, {"pk": {"S": f"k{39 - start // DAY}"}})
        source.merge(start, start + DAY, start + 2 * DAY)
    before = source.metadata
    return source, source.maintain(END), before


@pytest.fixture(scope="module")
def gone_on(maintained):
    """The table after one more window, which is merged into what maintenance has left: its source, the merge's report."""
    source, *_ = maintained
    source.put(END + 1, counted("k1", 100), counted("new", 1))
    source.delete(END + 2, {"pk": {"S": "k2"}})
    return source, source.merge(END, END + 15)


def test_small_files_go_together_and_every_row_stays(maintained):
    source, report, before = maintained
    counts, first = report["counts"], before["snapshots"][-1]["summary"]
    assert source.differences(END, shown) == []
    assert (report["outcome"], set(counts)) == ("maintained", set(COUNTED))
    summary = source.metadata["snapshots"][-1]["summary"]
    went = counts["files_rewritten"] - counts["files_written"]
    assert int(first["total-data-files"]) - went == int(summary["total-data-files"])
    assert counts["files_rewritten"] > 5 * counts["files_written"] > 0
    assert counts["bytes_rewritten"] > 0
    assert int(first["total-delete-files"]) == counts["delete_files_removed"] > 0
    assert summary["total-delete-files"] == "0"


def test_its_commits_say_whose_they_are_and_what_the_table_says_of_itself_stays(maintained):
    source, report, before = maintained
    known, now = {snapshot["snapshot-id"] for snapshot in before["snapshots"]}, source.metadata
    made = [s["summary"] for s in now["snapshots"] if s["snapshot-id"] not in known]
    assert len(made) == 3
    assert {(one["operation"], one["tidemark.job-id"]) for one in made} == {("replace", report["job_id"])}
    assert [one for one in made if "tidemark.watermark" in one] == []
    assert (source.state.marker, source.state.maintained) == (read_table_state(before).marker, minute(END))
    assert snapshot_at(now, minute(END)) == report["snapshot_id"]
    assert protected_at(now, minute(END)) == protected_at(before, minute(END)) != ""


def test_a_week_back_can_still_be_looked_at_and_what_is_older_is_gone(maintained):
    source, report, before = maintained
    marked = [(s["snapshot-id"], s["summary"].get("tidemark.watermark")) for s in source.metadata["snapshots"]]
    # The merges ended two days apart: the newest that is older than a week is eight days old.
    assert marked[0][1] == as_of(minute(END) - timedelta(days=8))
    assert report["counts"]["snapshots_expired"] == len(before["snapshots"]) - (len(marked) - 3) > 0
    rows = source.spark.read.option("snapshot-id", marked[0][0]).table(f"glue.shop.{source.name}")
    assert rows.count() == len(source.items(END - 8 * DAY))


def test_where_the_order_keeps_three_days_more_of_what_is_older_goes(maintained):
    source, *_ = maintained
    report = source.maintain(END, snapshot_days=3)
    oldest = source.metadata["snapshots"][0]["summary"]["tidemark.watermark"]
    # Of merges two days apart, the newest that is older than three days is four days old; those of six and eight went.
    assert oldest == as_of(minute(END) - timedelta(days=4))
    assert report["counts"]["snapshots_expired"] == 2


def test_only_files_that_no_snapshot_knows_and_that_are_old_go(maintained):
    source, *_ = maintained
    lost, young = (source.table_folder / "data" / name for name in ("lost.parquet", "young.parquet"))
    for file in (lost, young):
        file.write_bytes(b"of a job that died")
    long_ago = time.time() - 4 * DAY * 60
    for file in source.table_folder.rglob("*"):
        if file != young:
            os.utime(file, (long_ago, long_ago))
    counts = source.maintain(END)["counts"]
    assert counts == {**dict.fromkeys(COUNTED, 0), "orphans_removed": 1}
    assert (lost.exists(), young.exists()) == (False, True)
    assert source.differences(END, shown) == []


def test_merges_go_on_from_a_maintained_table(gone_on):
    source, report = gone_on
    assert report["continuity"] == ""
    assert (report["counts"]["updated"], report["counts"]["inserted"], report["counts"]["deleted"]) == (1, 1, 1)
    assert source.differences(END + 15, shown) == []


def test_delete_files_whose_rows_are_still_there_to_hide_stay(gone_on):
    source, _ = gone_on
    before = source.metadata["snapshots"][-1]["summary"]
    assert int(before["total-delete-files"]) > 0
    assert source.maintain(END + 15)["counts"]["delete_files_removed"] == 0
    assert source.metadata["snapshots"][-1]["summary"]["total-delete-files"] == before["total-delete-files"]
    assert source.differences(END + 15, shown) == []


def test_a_table_that_is_elsewhere_or_of_another_source_is_left_alone(gone_on, shop):
    source, _ = gone_on
    before = source.metadata
    with pytest.raises(Overlap):
        source.maintain(END - 15)
    other = source.maintenance(END - 15)
    with pytest.raises(OtherTableId):
        source.run(replace(other, source=replace(other.source, id="another")))
    assert source.metadata == before
    with pytest.raises(TableGone, match="does not exist any more, so there is nothing to maintain"):
        shop().maintain(5)


@pytest.mark.parametrize("step", ["_expired", "_size", "_written_together", "_dangling"])
def test_what_died_between_is_done_by_the_next(gone_on, monkeypatch, step):
    source, _ = gone_on
    order = source.maintenance(END + 15)
    with monkeypatch.context() as dying:
        dying.setattr(maintain, step, lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            source.run(order)
    assert source.report(order)["error"] == "JobFailed"
    assert source.differences(END + 15, shown) == []
    report = source.run(order)
    assert source.report(order) == report
    assert source.differences(END + 15, shown) == []


def test_what_ends_late_says_nothing_wrong_of_a_table_that_has_gone_on(gone_on, monkeypatch):
    source, _ = gone_on
    source.put(END + 16, counted("k3", 7))
    window, dangling = source.windows(END + 15, END + 30), maintain._dangling

    def meanwhile(*of):
        source.run(window)
        return dangling(*of)

    monkeypatch.setattr(maintain, "_dangling", meanwhile)
    source.maintain(END + 15)
    assert source.state.watermark == minute(END + 30)
    assert source.differences(END + 30, shown) == []


def test_delete_files_stay_where_somebody_has_given_the_table_other_partitions(shop):
    source = shop()
    source.put(1, *(item(f"k{i}", state={"S": "a/b"}) for i in range(3)), item("none"))
    source.load(5)
    source.change("ALTER table TABLE ADD PARTITION FIELD state")
    source.put(6, item("k0", state={"S": "c/d"}), item("none", v={"S": "x"}))
    source.merge(5, 20)
    source.maintain(20)
    assert source.differences(20) == []


def test_delete_files_go_where_somebody_has_added_buckets_of_a_column_that_may_be_null(shop):
    source = shop()
    source.put(1, *(item(f"k{i}", state=S) for i in range(8)))
    source.load(5)
    source.change("ALTER table TABLE ADD PARTITION FIELD bucket(3, state)")
    for at in range(5, 95, 15):
        with_and_without = (item(f"k{i}", **({"state": S} if i % 2 else {}), w={"N": str(at)}) for i in range(8))
        source.put(at + 1, *with_and_without)
        source.merge(at, at + 15)
    assert source.maintain(95)["counts"]["delete_files_removed"] > 0
    assert source.differences(95) == []


def test_a_table_whose_partitions_somebody_has_dropped_is_maintained_once_nothing_knows_of_them(shop):
    source = shop()
    source.put(1, *(item(f"k{i}") for i in range(8)))
    source.load(5)
    source.change("ALTER table TABLE DROP PARTITION FIELD pk_bucket")
    source.change("CALL glue.system.rewrite_data_files(table => 'TABLE', options => map('rewrite-all', 'true'))")
    for at in range(5, 80, 15):
        source.put(at + 1, *(item(f"k{i}", w={"N": str(at)}) for i in range(4)))
        source.merge(at, at + 15)
    source.change("CALL glue.system.rewrite_manifests(table => 'TABLE', use_caching => false)")
    source.merge(80, 95)
    all_but_the_newest = "older_than => TIMESTAMP '2100-01-01 00:00:00', clean_expired_metadata => true"
    source.change(f"CALL glue.system.expire_snapshots(table => 'TABLE', {all_but_the_newest})")
    assert [spec["fields"] for spec in source.metadata["partition-specs"]] == [[]]
    assert source.maintain(95)["counts"]["delete_files_removed"] > 0
    assert source.differences(95) == []


def test_who_meets_another_writer_says_so_and_the_table_stays(maintained, monkeypatch):
    source, *_ = maintained
    before = source.state.watermark
    gone = Row(file_path="file:/of/a/table/that/lost/it.parquet", partition=Row(pk_bucket=0))
    monkeypatch.setattr(maintain, "_dangling", lambda *_: [gone])
    snapshots = source.metadata["snapshots"]
    with pytest.raises(TableContended):
        source.maintain(END + 30)
    assert source.metadata["snapshots"] == snapshots
    assert source.state.watermark == before
    assert source.differences(END + 30, shown) == []
