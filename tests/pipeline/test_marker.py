"""The marker in the table's metadata: found among the ancestors of main, and in the property only when they are gone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import WatermarkNotCommitted
from pipeline.instants import EPOCH
from pipeline.mails.digest import digest_due
from pipeline.planning.rounds import committed
from pipeline.table.maintenance import is_due
from pipeline.table.marker import (
    JOB_ID,
    LOADING,
    NO_TABLE,
    WATERMARK,
    Commit,
    Marker,
    TableState,
    commit_of,
    had_misfits,
    read_table_state,
    snapshot_at,
)
from pipeline.table.snapshots import row_count
from tests.pipeline.snapshots import COMPACTION, FIRST, PROPERTY, SECOND, TWO, expired, metadata
from tests.pipeline.world import at


def test_the_newest_commit_tells_the_watermark_and_every_commit_its_job():
    assert read_table_state(TWO) == TableState(True, SECOND, frozenset({"job-1", "job-2"}))


def test_it_tells_when_the_newest_of_the_commits_was_made_whatever_lies_on_top_of_it():
    found = metadata(FIRST.to_properties(), SECOND.to_properties(), COMPACTION)
    for snapshot in found["snapshots"]:
        snapshot["timestamp-ms"] = 1_000 * snapshot["snapshot-id"]
    assert read_table_state(found).committed_at == EPOCH + timedelta(seconds=2)
    assert read_table_state({**expired(found, 2), "properties": PROPERTY}).committed_at is None


def test_the_commits_are_there_newest_first_without_those_of_others():
    found = read_table_state(metadata(FIRST.to_properties(), COMPACTION, SECOND.to_properties()))
    assert [commit.marker.job_id for commit in found.commits] == ["job-2", "job-1"]


def test_compaction_on_top_hides_nothing():
    compacted = metadata(FIRST.to_properties(), SECOND.to_properties(), COMPACTION, COMPACTION)
    assert read_table_state(compacted) == read_table_state(TWO)


def test_a_rollback_brings_the_older_watermark_back_and_forgets_the_later_job():
    rolled_back = metadata(FIRST.to_properties(), SECOND.to_properties(), current=1)
    assert read_table_state(rolled_back) == TableState(True, FIRST, frozenset({"job-1"}))


def test_a_rollback_wins_over_the_property_that_stayed_as_it_was():
    rolled_back = {**metadata(FIRST.to_properties(), SECOND.to_properties(), current=1), "properties": PROPERTY}
    assert read_table_state(rolled_back).watermark == at("10:00")


def test_other_branches_play_no_part():
    branched = metadata(FIRST.to_properties(), SECOND.to_properties(), current=1)
    branched["refs"]["audit"] = {"snapshot-id": 2, "type": "branch"}
    assert read_table_state(branched).watermark == at("10:00")


def test_a_file_from_before_there_were_branches_is_read_by_its_current_snapshot():
    plain = {name: value for name, value in TWO.items() if name != "refs"}
    assert read_table_state(plain) == read_table_state(TWO)


def test_the_newest_snapshot_of_main_says_how_many_rows_there_are():
    newest = {"snapshot-id": 2, "parent-snapshot-id": 1, "summary": {"total-records": "70"}}
    oldest = {"snapshot-id": 1, "summary": {"total-records": "900"}}
    loading = {"snapshot-id": 3, "parent-snapshot-id": 2, "summary": {"total-records": "800"}}
    refs = {"main": {"snapshot-id": 2}, "load_1": {"snapshot-id": 3}}
    assert row_count({"snapshots": [oldest, newest, loading], "refs": refs}) == 70
    assert row_count({"snapshots": [], "current-snapshot-id": -1}) == 0


def test_expired_ancestors_leave_what_is_left():
    assert read_table_state(expired(TWO, 1)) == TableState(True, SECOND, frozenset({"job-2"}))


def test_a_table_that_somebody_wrote_anew_has_no_watermark_although_the_property_stayed():
    rewritten = {**metadata({"operation": "append"}), "properties": PROPERTY}
    assert read_table_state(rewritten) == TableState(exists=True)
    emptied = {**metadata(), "properties": PROPERTY}
    assert (read_table_state(emptied), snapshot_at(emptied, SECOND.watermark)) == (TableState(exists=True), None)


def test_a_foreign_table_exists_and_has_no_watermark():
    assert read_table_state(metadata({"operation": "append"})) == TableState(exists=True)
    assert read_table_state(metadata()) == TableState(exists=True)
    assert read_table_state({}) == NO_TABLE


def test_where_a_table_is_can_be_said_of_each():
    assert read_table_state(TWO).found == "the table is at 2026-11-21T11:00:00Z"
    assert TableState(exists=True).found == "the table carries no watermark"
    assert NO_TABLE.found == "there is no table"


def test_a_parameter_that_was_to_be_corrected_from_a_table_that_is_gone_speaks_of_no_job():
    with pytest.raises(WatermarkNotCommitted, match=r"^last-export-time was to be corrected; there is no table\s"):
        committed(NO_TABLE, {"kind": "Record"})


def test_a_table_whose_first_load_is_being_prepared_is_no_table_yet():
    assert read_table_state({**metadata(), "properties": {LOADING: "job-1"}}) == NO_TABLE


def test_a_first_load_that_has_committed_counts_although_its_run_died_before_it_tidied_up():
    committed = {**metadata(FIRST.to_properties()), "properties": {LOADING: "job-1"}}
    assert read_table_state(committed) == TableState(True, FIRST, frozenset({"job-1"}))


DAMAGES = pytest.mark.parametrize(
    "damage",
    [
        pytest.param({WATERMARK: "yesterday"}, id="a watermark that is no instant"),
        pytest.param({JOB_ID: None}, id="no job id"),
        pytest.param({"tidemark.count.read": "many"}, id="a count in words"),
    ],
)


@DAMAGES
def test_a_marker_that_cannot_be_read_counts_as_none(damage):
    summary = {name: value for name, value in (SECOND.to_properties() | damage).items() if value is not None}
    assert read_table_state(metadata(FIRST.to_properties(), summary)) == TableState(exists=True)


@DAMAGES
def test_one_below_a_good_one_is_passed_over_so_that_a_new_full_export_helps(damage):
    summary = {name: value for name, value in (FIRST.to_properties() | damage).items() if value is not None}
    found = read_table_state(metadata(summary, SECOND.to_properties()))
    assert (found.marker, found.commits) == (SECOND, (Commit(SECOND, SECOND.to_properties()),))
    assert found.job_ids == {"job-2", *([summary[JOB_ID]] if JOB_ID in summary else [])}, "what it did is done"
    assert is_due(found, timedelta(days=1)) is False
    assert digest_due(found.commits, found.watermark, at("20/00:00")) is None


counts = st.dictionaries(st.from_regex(r"[a-z_]{1,20}", fullmatch=True), st.integers(0, 2**53), max_size=9)


@given(counts, st.sampled_from(["load", "merge", "backfill"]), st.text(min_size=1))
def test_a_marker_goes_through_the_properties_unchanged(counted, job, job_id):
    marker = replace(SECOND, counts=counted, job=job, job_id=job_id)
    assert Marker.from_properties({**marker.to_properties(), "operation": "overwrite"}) == marker


def test_what_a_merge_was_billed_travels_with_it_and_older_commits_do_not_say():
    billed = replace(SECOND, billed_bytes=10_000_000)
    assert Marker.from_properties(billed.to_properties()) == billed
    assert "tidemark.billed-bytes" not in SECOND.to_properties()


def test_properties_without_a_watermark_are_no_marker():
    assert Marker.from_properties({"operation": "append", "tidemark.names": "{}"}) is None


@pytest.mark.parametrize(
    ("found", "watermark", "snapshot"),
    [
        pytest.param(TWO, "11:00", 2, id="the newest"),
        pytest.param(TWO, "10:00", 1, id="an older one"),
        pytest.param(TWO, "10:30", None, id="one that never was"),
        pytest.param(metadata(), "10:00", None, id="an empty table"),
        pytest.param(metadata(FIRST.to_properties(), COMPACTION), "10:00", 2, id="with maintenance on top"),
        pytest.param(
            metadata(FIRST.to_properties(), COMPACTION, SECOND.to_properties(), COMPACTION), "10:00", 2, id="between"
        ),
        pytest.param(
            metadata(FIRST.to_properties(), SECOND.to_properties(), current=1), "11:00", None, id="rolled back over"
        ),
        pytest.param(metadata(FIRST.to_properties(), FIRST.to_properties()), "10:00", 2, id="confirmed by a backfill"),
        pytest.param(
            {**expired(metadata({}, SECOND.to_properties(), COMPACTION), 2), "properties": PROPERTY},
            "11:00",
            3,
            id="known from the property",
        ),
        pytest.param(
            {**expired(metadata({}, SECOND.to_properties(), COMPACTION), 2), "properties": PROPERTY},
            "10:00",
            None,
            id="the property of another watermark",
        ),
    ],
)
def test_the_snapshot_of_a_watermark_is_the_newest_that_shows_it(found, watermark, snapshot):
    assert snapshot_at(found, at(watermark)) == snapshot


def test_the_commits_of_a_job_are_told_by_its_newest_and_by_what_was_there_before_its_first():
    twice = metadata(FIRST.to_properties(), SECOND.to_properties(), SECOND.to_properties(), COMPACTION)
    newest, before = commit_of(twice, "job-2")
    assert (newest["snapshot-id"], before) == (3, 1)
    first, nothing = commit_of(twice, "job-1")
    assert (first["snapshot-id"], nothing) == (1, None)
    assert commit_of(twice, "job-3") is None
    assert commit_of(expired(twice, 3), "job-2") is None


def test_the_newest_commit_tells_whether_there_were_misfits():
    first = replace(FIRST, counts={"misfits": 1}).to_properties()
    assert had_misfits(metadata(first, COMPACTION))
    none = replace(SECOND, counts={"misfits": 0})
    assert not any(map(had_misfits, (metadata(first, none.to_properties()), TWO, metadata(COMPACTION), {})))
