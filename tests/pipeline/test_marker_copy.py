"""The copy of the marker in the table's properties: believed of the snapshot that it names and of what lies on top of that."""

from __future__ import annotations

import pytest

from pipeline.table.marker import SNAPSHOT, WATERMARK, TableState, marker_copied, read_table_state, snapshot_at
from tests.pipeline.snapshots import COMPACTION, FIRST, PROPERTY, SECOND, TWO, expired, metadata


def believed(found: dict[str, object]) -> bool:
    """Whether the copy of the second marker is: both ways of reading it have to agree."""
    at_second = snapshot_at(found, SECOND.watermark)
    assert at_second == (found["refs"]["main"]["snapshot-id"] if read_table_state(found).watermark else None)
    return at_second is not None


def test_when_every_marked_commit_has_expired_the_property_tells_with_its_job():
    compacted = {**metadata(FIRST.to_properties(), SECOND.to_properties(), COMPACTION), "properties": PROPERTY}
    assert read_table_state(expired(compacted, 2)) == TableState(True, SECOND, frozenset({"job-2"}))


@pytest.mark.parametrize("left", [1, 2])
def test_it_is_not_believed_when_somebody_has_compacted_on_top_of_a_rollback_past_it(left):
    # Snapshot 1 is where the table was rolled back to, 3 and 4 lie on top of it, and 2 was left aside.
    written = metadata(FIRST.to_properties(), SECOND.to_properties(), COMPACTION, COMPACTION)
    written["snapshots"][2]["parent-snapshot-id"] = 1
    assert not believed({**expired(written, 4 - left), "properties": PROPERTY})


@pytest.mark.parametrize(
    ("named", "is_believed"),
    [
        pytest.param("4", True, id="the newest"),
        pytest.param("3", True, id="one that is there"),
        pytest.param("2", True, id="the last that has expired"),
        pytest.param("1", False, id="one long gone, which may lie on another branch"),
        pytest.param("9", False, id="one that main does not come from"),
        pytest.param("None", False, id="none"),
        pytest.param("", False, id="nothing, as where somebody else has set the properties"),
    ],
)
def test_the_property_is_believed_of_the_snapshot_that_it_names_and_what_lies_on_top_of_that(named, is_believed):
    written = metadata(FIRST.to_properties(), SECOND.to_properties(), COMPACTION, COMPACTION)
    assert believed({**expired(written, 2), "properties": {**PROPERTY, SNAPSHOT: named}}) == is_believed


def test_without_a_watermark_it_is_none():
    written = expired(metadata(FIRST.to_properties(), SECOND.to_properties(), COMPACTION), 2)
    left = {name: value for name, value in PROPERTY.items() if name != WATERMARK}
    assert believed({**written, "properties": PROPERTY}) and not believed({**written, "properties": left})
    assert read_table_state({**written, "properties": left}) == TableState(exists=True)
    assert marker_copied({**written, "properties": left}) == {}


@pytest.mark.parametrize("head", [3, 4, 5])
def test_the_property_says_nothing_of_a_table_that_was_rolled_back_past_the_snapshot_that_it_names(head):
    written = metadata(FIRST.to_properties(), SECOND.to_properties(), *[COMPACTION] * 3, current=head)
    assert believed({**expired(written, 2), "properties": {**PROPERTY, SNAPSHOT: "4"}}) == (head >= 4)


def said(found: dict[str, object]) -> dict[str, str]:
    """What is copied of a file; whatever else a copy could say is removed by it."""
    return {name: value for name, value in marker_copied(found).items() if value}


def copied_to(properties: dict[str, str], found: dict[str, object]) -> dict[str, str]:
    """Properties after a job that has seen this file has copied the marker there."""
    return {name: value for name, value in {**properties, **marker_copied(found)}.items() if value}


def let_go(found: dict[str, object]) -> dict[str, object]:
    """The file after its properties were set, and all snapshots but the newest have expired."""
    properties = copied_to(found["properties"], found)
    return {**expired(found, len(found["snapshots"]) - 1), "properties": properties}


def test_what_is_copied_outlives_all_snapshots_but_the_newest_however_many_lie_on_top_of_the_marker():
    found = {**metadata(FIRST.to_properties(), SECOND.to_properties(), *[COMPACTION] * 3), "properties": {}}
    assert said(found) == {**SECOND.to_properties(), SNAPSHOT: "5"}
    left = let_go(found)
    assert read_table_state(left) == TableState(True, SECOND, frozenset({"job-2"}))
    assert marker_copied(left) == {}
    # Two more, as by maintenance: nobody has the marker any more but the copy, which is copied on.
    more = metadata({}, {}, {}, {}, COMPACTION, COMPACTION, COMPACTION)
    more = {**expired(more, 4), "properties": left["properties"]}
    assert said(more) == {**SECOND.to_properties(), SNAPSHOT: "7"}
    assert read_table_state(let_go(more)).watermark == SECOND.watermark


def test_the_copy_of_a_job_that_was_killed_before_it_copied_says_nothing_of_later_rows_until_it_is_made_anew():
    first = {**FIRST.to_properties(), SNAPSHOT: "1"}
    killed = {**TWO, "properties": first}
    assert read_table_state(killed).marker == SECOND
    compacted = {**expired(metadata({}, SECOND.to_properties(), COMPACTION), 2), "properties": first}
    assert read_table_state(compacted) == TableState(exists=True)
    assert read_table_state({**compacted, "properties": copied_to(first, killed)}).watermark == SECOND.watermark


def test_two_jobs_that_copy_at_once_leave_one_copy_or_the_other_and_no_mixture():
    first = {**FIRST.to_properties(), SNAPSHOT: "1"}
    maintained = {**metadata(FIRST.to_properties(), COMPACTION), "properties": first}
    merged = {**metadata(FIRST.to_properties(), COMPACTION, SECOND.to_properties()), "properties": first}
    late = copied_to(copied_to(first, merged), maintained)
    # Rolled back to what the maintenance had left, with the marked snapshot expired.
    rolled_back = {**metadata(FIRST.to_properties(), COMPACTION), "properties": late}
    assert read_table_state(expired(rolled_back, 1)).watermark == FIRST.watermark


def test_what_the_new_marker_does_not_say_does_not_stay_behind_from_the_old_one():
    stale = {"tidemark.count.forgotten": "3", "tidemark.billed-bytes": "7", "tidemark.protected": "{}"}
    copied = marker_copied({**TWO, "properties": {**PROPERTY, **stale, "tidemark.names": "{}"}})
    assert copied == {
        **SECOND.to_properties(),
        SNAPSHOT: "2",
        **dict.fromkeys(stale.keys() - SECOND.to_properties(), ""),
    }


def test_what_a_marker_does_not_say_is_removed_also_where_another_job_is_still_writing_it():
    late = marker_copied({**metadata(FIRST.to_properties(), COMPACTION), "properties": {}})
    assert late["tidemark.billed-bytes"] == late["tidemark.protected"] == ""


def test_after_a_rollback_the_marker_of_the_snapshot_that_is_shown_is_copied():
    rolled_back = {**metadata(FIRST.to_properties(), SECOND.to_properties(), current=1), "properties": PROPERTY}
    assert marker_copied(rolled_back).items() >= {WATERMARK: FIRST.to_properties()[WATERMARK], SNAPSHOT: "1"}.items()


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(metadata(), id="an empty table"),
        pytest.param(metadata(COMPACTION), id="another's table"),
        pytest.param({**metadata(COMPACTION), "properties": PROPERTY}, id="a table that somebody has written anew"),
        pytest.param({**TWO, "properties": PROPERTY}, id="a table whose copy is right"),
        pytest.param({**metadata(), "properties": PROPERTY}, id="a table without rows that was given the copy"),
        pytest.param({}, id="no table"),
    ],
)
def test_nothing_is_copied_where_nothing_is_new(found):
    assert marker_copied(found) == {}


def test_of_a_commit_only_what_is_ours_is_copied():
    summary = {**SECOND.to_properties(), "operation": "overwrite", "tidemark.protected": ""}
    assert said(metadata(summary)) == {**SECOND.to_properties(), SNAPSHOT: "1"}
