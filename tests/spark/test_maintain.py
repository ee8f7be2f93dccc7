"""Maintenance on real tables: files go together, old snapshots and lost files go, and every row stays as it was."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import timedelta

import pytest
from pyspark.sql import Row

from pipeline.errors import OtherTableId, Overlap, TableContended, WatermarkMissing
from pipeline.maintenance import COUNTED
from pipeline.overrides import Overrides
from pipeline.protected import protected_at
from spark import maintain
from tests.spark.sample_items import item
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


def test_its_commits_say_where_the_table_is_and_what_its_rows_were_made_without(maintained):
    source, report, before = maintained
    known, now = {snapshot["snapshot-id"] for snapshot in before["snapshots"]}, source.metadata
    made = [s["summary"] for s in now["snapshots"] if s["snapshot-id"] not in known]
    assert len(made) == 3
    assert {(one["tidemark.watermark"], one["tidemark.job"]) for one in made} == {(as_of(minute(END)), "maintain")}
    assert {one["operation"] for one in made} == {"replace"}
    assert (source.state.watermark, source.state.maintained) == (minute(END), minute(END))
    assert report["job_id"] in source.state.job_ids
    assert protected_at(now, minute(END)) == protected_at(before, minute(END)) != ""


def test_a_week_back_can_still_be_looked_at_and_what_is_older_is_gone(maintained):
    source, report, before = maintained
    marked = [(s["snapshot-id"], s["summary"]["tidemark.watermark"]) for s in source.metadata["snapshots"]]
    # The merges ended two days apart: the newest that is older than a week is eight days old.
    assert marked[0][1] == as_of(minute(END) - timedelta(days=8))
    assert report["counts"]["snapshots_expired"] == len(before["snapshots"]) - (len(marked) - 3) > 0
    rows = source.spark.read.option("snapshot-id", marked[0][0]).table(f"glue.shop.{source.name}")
    assert rows.count() == len(source.items(END - 8 * DAY))


def test_only_files_that_no_snapshot_knows_and_that_are_old_go(maintained):
    source, *_ = maintained
    lost, young = (source.table_folder / "data" / name for name in ("lost.parquet", "young.parquet"))
    for file in (lost, young):
        file.write_bytes(b"of a job that died")
    long_ago = time.time() - 4 * DAY * 60
    for file in source.table_folder.rglob("*"):
        if file != young:
            os.utime(file, (long_ago, long_ago))
    source.change("ALTER table TABLE CREATE BRANCH load_of_a_job_that_died")
    counts = source.maintain(END)["counts"]
    assert counts == {**dict.fromkeys(COUNTED, 0), "orphans_removed": 1}
    assert (lost.exists(), young.exists()) == (False, True)
    assert list(source.metadata["refs"]) == ["main"]
    assert source.differences(END, shown) == []


def test_merges_go_on_from_a_maintained_table(maintained):
    source, *_ = maintained
    source.put(END + 1, counted("k1", 100), counted("new", 1))
    source.delete(END + 2, {"pk": {"S": "k2"}})
    report = source.merge(END, END + 15)
    assert report["continuity"] == ""
    assert (report["counts"]["updated"], report["counts"]["inserted"], report["counts"]["deleted"]) == (1, 1, 1)
    assert source.differences(END + 15, shown) == []


def test_delete_files_whose_rows_are_still_there_to_hide_stay(maintained):
    source, *_ = maintained
    before = source.metadata["snapshots"][-1]["summary"]
    assert int(before["total-delete-files"]) > 0
    assert source.maintain(END + 15)["counts"]["delete_files_removed"] == 0
    assert source.metadata["snapshots"][-1]["summary"]["total-delete-files"] == before["total-delete-files"]
    assert source.differences(END + 15, shown) == []


def test_a_table_that_is_elsewhere_or_of_another_source_is_left_alone(maintained, shop):
    source, *_ = maintained
    before = source.metadata
    with pytest.raises(Overlap):
        source.maintain(END)
    other = source.maintenance(END + 15)
    with pytest.raises(OtherTableId):
        source.run(replace(other, source=replace(other.source, id="another")))
    assert source.metadata == before
    with pytest.raises(WatermarkMissing, match="there is nothing to maintain"):
        shop().maintain(5)


def test_what_died_between_is_done_by_the_next(maintained, monkeypatch):
    source, *_ = maintained
    order = source.maintenance(END + 15, snapshot_days=3)
    with monkeypatch.context() as dying:
        dying.setattr(maintain, "_expired", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            source.run(order)
    assert source.report(order)["error"] == "JobFailed"
    report = source.run(order)
    assert report["counts"]["snapshots_expired"] > 0
    assert source.report(order) == report
    assert source.differences(END + 15, shown) == []


def test_who_meets_another_writer_says_so_and_the_table_stays(maintained, monkeypatch):
    source, *_ = maintained
    gone = Row(file_path="file:/of/a/table/that/lost/it.parquet", partition=Row(pk_bucket=0))
    monkeypatch.setattr(maintain, "_dangling", lambda *_: [gone])
    snapshots = source.metadata["snapshots"]
    with pytest.raises(TableContended):
        source.maintain(END + 15)
    assert source.metadata["snapshots"] == snapshots
    assert source.differences(END + 15, shown) == []
