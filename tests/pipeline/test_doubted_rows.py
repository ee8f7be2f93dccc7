"""Rows that were not what the changes say: told once, over when the table was verified or made anew."""

from __future__ import annotations

from datetime import datetime

import pytest

from pipeline.instants import format_instant
from pipeline.mails.incidents import News, after_failure, after_look, all_clear_later, ending
from pipeline.mails.told import FailureKind, Told
from pipeline.planning.horizon import Horizon
from pipeline.table.continuity import NOTHING_KNOWN, Doubt, Rows, rows_of_report, rows_of_table
from pipeline.table.continuity import continuity as said_of_rows
from pipeline.table.marker import SNAPSHOT, Marker, read_table_state
from tests.pipeline.snapshots import COMPACTION, metadata
from tests.pipeline.world import at, incident

LATER = at("20:00")


def after_round(told: Told, job: str, continuity: str, watermark: str = "13:00") -> News:
    """What is worth telling after a round whose job has left this report."""
    report = {"job": job, "job_id": "7", "continuity": continuity, "watermark": format_instant(at(watermark))}
    return after_look(told, LATER, works=False, horizon=None, rows=rows_of_report(report))


def commit(
    job: str = "merge", hour: int = 13, inserted: int = 2, added: int = 2, operation: str = "overwrite"
) -> dict[str, str]:
    """A summary of a commit that was to insert some rows, and for which Iceberg counted some."""
    counts = {"read": inserted, "inserted": inserted, "updated": 0, "deleted": 0}
    marker = Marker(at(f"{hour}:00"), at(f"{hour - 1}:00"), job, f"{job}-{hour}", "arn", "id", counts)
    return {**marker.to_properties(), "added-records": str(added), "operation": operation}


def doubt(hour: int, job: str = "merge") -> Doubt:
    """What `commit` tells where its numbers differ."""
    said = "By the export, 2 rows should have been written and 0 removed or replaced; Iceberg counted 3 and 0. "
    conclusion = "So the table did not hold what the source held: run a verification."
    return Doubt(at(f"{hour}:00"), f"{job}-{hour}", said + conclusion)


def known_of(commits: list[dict[str, str]]) -> Rows:
    """What is known of the rows of a table with these commits, newest first."""
    return rows_of_table(read_table_state(metadata(*commits[::-1])).commits)


UNREADABLE = commit() | {"tidemark.watermark": "?"}
UNCOUNTED = {name: value for name, value in commit().items() if not name.startswith("tidemark.count.")}


def test_rows_that_were_not_what_changes_say_are_told_once_until_the_table_was_verified_or_made_anew():
    told, said = Told(digested=at("14:00")), []
    rounds = [
        ("merge", ""),
        ("merge", "1 had no row"),
        ("merge", "2 had no row"),
        ("backfill", ""),
        ("verify", ""),
        ("verify", ""),
        ("merge", "1 had no row"),
        ("load", ""),
        ("merge", ""),
    ]
    for hour, (job, continuity) in enumerate(rounds, 10):
        news = after_round(told, job, continuity, f"{hour}:00")
        said.append(news.names)
        told = Told.from_text(news.told.to_text())
        assert told == news.told
    assert said == [[], ["RowsDoubted"], [], [], ["RowsTrusted"], [], ["RowsDoubted"], ["RowsTrusted"], []]
    assert told == Told(digested=at("14:00"), trusted=at("17:00"))


def test_a_doubt_that_no_round_came_to_tell_is_settled_by_a_verification_as_well():
    verified = after_round(Told(), "verify", "")
    assert (verified.names, verified.told) == ([], Told(trusted=at("13:00")))
    assert after_look(verified.told, LATER, works=True, horizon=None, rows=known_of([commit(added=3)])).names == []


def test_what_a_version_before_has_recorded_of_doubts_leaves_the_rest_as_it_is():
    text = Told(level=50, trusted=at("12:00")).to_text().replace('"trusted"', '"doubted":true,"trusted"')
    assert Told.from_text(text) == Told(level=50, trusted=at("12:00"))


def test_a_doubt_outlives_failures_and_looks():
    doubted, horizon = Told(doubted=at("12:00")), Horizon(at("12:00"), at("01/12:00"), at("13:00"))
    assert after_failure(doubted, FailureKind("PitrOff", "Plan"), at("12:15"), horizon).told == Told(
        after_failure(Told(), FailureKind("PitrOff", "Plan"), at("12:15"), horizon).told.incident, doubted=at("12:00")
    )
    assert after_look(doubted, LATER, works=True, horizon=horizon).told == doubted


def test_a_doubt_that_was_settled_is_not_told_again_where_an_old_report_is_handed_on():
    settled = after_round(Told(doubted=at("12:00")), "verify", "").told
    assert after_round(settled, "merge", "1 had no row").names == []
    assert after_round(settled, "merge", "1 had no row", "14:00").names == ["RowsDoubted"]


def test_that_a_doubt_is_settled_is_recorded_before_it_is_mailed_or_waits():
    before = Told(doubted=at("12:00"))
    news = after_round(before, "verify", "")
    assert ending(before, news) == news.told == Told(trusted=at("13:00"))
    assert all_clear_later(news, before) == News(before)
    doubted = after_round(Told(), "merge", "1 had no row")
    assert (ending(Told(), doubted), all_clear_later(doubted, Told())) == (Told(), doubted)


def test_the_end_of_an_incident_settles_no_doubt():
    before = Told(incident("12:00", "12:00", FailureKind("PitrOff", "Plan")), doubted=at("12:00"))
    news = after_look(before, LATER, works=True, horizon=None)
    assert (news.names, ending(before, news).doubted) == (["IncidentOver"], at("12:00"))


def test_a_load_of_before_takes_nothing_from_a_verification_since():
    verified = Told(trusted=at("12:00"))
    for load, trusted in (("11:00", "12:00"), ("12:00", "12:00"), ("13:00", "13:00")):
        assert after_round(verified, "load", "", load).told == Told(trusted=at(trusted))


@pytest.mark.parametrize(
    ("images", "said"),
    [
        ((3, 2, 1), "Of the old images, 3 differ from the table's row and 2 have no row; 1 row has no old image."),
        ((1, 1, 2), "Of the old images, 1 differs from the table's row and 1 has no row; 2 rows have no old image."),
        ((0, 2, 0), "Of the old images, 2 have no row."),
        ((0, 0, 1), "1 row has no old image."),
    ],
)
def test_what_old_images_were_found_to_be_is_said_in_whole_sentences(images, said):
    names = ("images_different", "images_without_row", "rows_without_image")
    counts = {"inserted": 1, "updated": 4, "deleted": 0, **dict(zip(names, images, strict=True))}
    conclusion = "So the table did not hold what the source held: run a verification."
    right = {"added-records": "5", "added-position-deletes": "4"}
    assert said_of_rows(counts, right) == f"{said} {conclusion}"
    sums = "By the export, 5 rows should have been written and 4 removed or replaced; Iceberg counted 4 and 3."
    wrong = {"added-records": "4", "added-position-deletes": "3"}
    assert said_of_rows(counts, wrong) == f"{sums} {said} {conclusion}"


@pytest.mark.parametrize(
    ("commits", "rows"),
    [
        pytest.param([commit()], NOTHING_KNOWN, id="all is well"),
        pytest.param([commit(hour=14), commit(added=3)], Rows(doubt(13)), id="a merge that others followed"),
        pytest.param([commit(hour=14, added=3), commit(added=3)], Rows(doubt(14)), id="the newest of two"),
        pytest.param([commit(), commit("load", 12, added=9)], Rows(trusted=at("12:00")), id="a load begins anew"),
        pytest.param([commit("load", 14), commit(added=3)], Rows(trusted=at("14:00")), id="a load after it"),
        pytest.param([commit(added=3, operation="replace")], NOTHING_KNOWN, id="rows written anew alone"),
        pytest.param([commit(added=3) | {"deleted-data-files": "1"}], NOTHING_KNOWN, id="whole files written anew"),
        pytest.param([commit(added=3) | {"deleted-data-files": "0"}], Rows(doubt(13)), id="no file written anew"),
        pytest.param([commit()] * 100 + [commit(added=3)], NOTHING_KNOWN, id="long ago"),
        pytest.param([commit(hour=14), UNREADABLE, commit(added=3)], Rows(doubt(13)), id="one unreadable"),
        pytest.param([UNCOUNTED, commit(added=3)], Rows(doubt(13)), id="one without counts"),
        pytest.param([commit("backfill", added=3)], Rows(doubt(13, "backfill")), id="a backfill"),
    ],
)
def test_the_tables_own_commits_tell_whether_its_rows_were_what_changes_say(commits, rows):
    assert known_of(commits) == rows
    assert Rows.from_json(rows.to_json()) == rows


def test_sums_agree_where_deletes_of_before_are_written_anew_with_the_new_ones_and_else_are_told():
    counts = {"inserted": 1, "updated": 2, "deleted": 3}
    summary = {"added-records": "3", "added-position-deletes": "9", "removed-position-deletes": "4"}
    assert said_of_rows(counts, summary) == ""
    for name in summary:
        assert "3 rows should have been written and 5 removed" in said_of_rows(counts, {**summary, name: "8"})
    assert said_of_rows(counts, {}).startswith(
        "By the export, 3 rows should have been written and 5 removed or replaced;"
    )
    assert "Iceberg counted 0 and 0." in said_of_rows(counts, {})


def test_properties_alone_which_outlive_their_commit_tell_nothing():
    properties = {name: value for name, value in commit(added=3).items() if name.startswith("tidemark.")}
    found = read_table_state({**metadata(COMPACTION), "properties": {**properties, SNAPSHOT: "1"}})
    assert [one.marker.job for one in found.commits] == ["merge"]
    assert rows_of_table(found.commits) == NOTHING_KNOWN


def test_what_a_round_did_not_come_to_tell_the_next_look_tells_once():
    rows = known_of([commit(hour=14), commit(added=3)])
    news = after_look(Told(), LATER, works=True, horizon=None, rows=rows)
    assert (news.names, news.doubt) == (["RowsDoubted"], doubt(13))
    assert after_look(news.told, LATER, works=True, horizon=None, rows=rows).names == []
    anew = after_look(news.told, LATER, works=True, horizon=None, rows=known_of([commit("load", 15), commit(added=3)]))
    assert (anew.names, anew.told) == (["RowsTrusted"], Told(trusted=at("15:00")))


@pytest.mark.parametrize("settled_by", ["load", "verify"])
@pytest.mark.parametrize("meets", ["a round", "a look"])
def test_rows_that_come_back_with_a_rollback_to_before_they_were_mended_are_told_again(meets, settled_by):
    told = after_round(after_round(Told(), "merge", "1 had no row").told, settled_by, "", "15:00").told
    rows = known_of([commit(hour=14), commit(added=3)])

    def finds(watermark: str, **kind: bool) -> News:
        horizon = Horizon(at(watermark), at("01/12:00"), LATER)
        return after_look(told, LATER, horizon=horizon, rows=rows, **kind)

    assert finds("15:00", works=True).names == finds("14:00", works=False).names == []
    news = finds("14:00", works=meets == "a look", by_round=meets == "a round")
    assert (news.names, news.told) == (["RowsDoubted"], Told(doubted=at("13:00")))
    told = Told.from_text(news.told.to_text())
    assert finds("16:00", works=True, by_round=True).names == []


def test_a_rollback_of_rows_that_nobody_doubts_makes_any_later_doubt_news():
    """Else what merges meet that go over the same stretch again would pass for older than what has settled it."""
    horizon = Horizon(at("12:00"), at("01/12:00"), LATER)
    news = after_look(Told(trusted=at("15:00")), LATER, works=False, by_round=True, horizon=horizon)
    assert (news.names, news.told) == ([], Told())
    assert after_round(news.told, "merge", "1 had no row").names == ["RowsDoubted"]


@pytest.mark.parametrize("trusted", [None, at("12:00")])
@pytest.mark.parametrize(("load", "is_over"), [("12:00", False), ("13:00", True)])
def test_a_load_from_before_the_doubt_as_after_a_rollback_settles_nothing(
    load: str, is_over: bool, trusted: datetime | None
):
    loaded: datetime = at(load)
    told = Told(doubted=at("13:00"), trusted=trusted)
    news = after_look(told, LATER, works=True, horizon=None, rows=Rows(trusted=loaded))
    assert (news.names == ["RowsTrusted"]) is is_over
