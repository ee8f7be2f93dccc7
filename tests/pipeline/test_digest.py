"""The daily digest: a day is summed up when the table shows all of it, from the table's own commits."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from pipeline.mails.digest import Digest, digest_due
from pipeline.table.marker import JOB, START, WATERMARK, Marker, read_table_state
from tests.pipeline.snapshots import metadata
from tests.pipeline.world import ARN, at


def commit(end: str, job_id: str = "", job: str = "merge", **counts: int) -> dict[str, str]:
    """The summary of a commit whose history ends then, and begins an hour before."""
    start = at(end) - (timedelta(0) if job == "load" else timedelta(hours=1))
    return Marker(at(end), start, job, job_id or f"job-{end}", ARN, "id", counts or {"read": 1}).to_properties()


def due(watermark: str, digested: str, *commits: dict[str, str]) -> Digest | None:
    """What is due with these commits, oldest first, as they are read from a table."""
    found = read_table_state(metadata(*commits)).commits
    return digest_due(found, at(watermark) if watermark else None, at(digested) if digested else None)


HOURLY = [commit(f"20/{hour:02}:00", read=hour) for hour in range(1, 24)]


def test_a_day_is_summed_up_once_the_table_shows_all_of_it():
    last = commit("21/00:00", read=24, misfits=2)
    digest = due("21/00:00", "20/00:00", *HOURLY, last)
    assert (len(digest.job_ids), digest.job_ids[0]) == (24, "job-21/00:00")
    assert replace(digest, job_ids=()) == Digest(
        at("20/00:00"), at("21/00:00"), {"merge": 24}, {"read": 300, "misfits": 2}
    )
    assert digest.days == "2026-11-20"


@pytest.mark.parametrize(
    ("watermark", "digested"),
    [
        pytest.param("20/23:00", "20/00:00", id="the day is not over"),
        pytest.param("21/00:00", "21/00:00", id="told already"),
        pytest.param("20/12:00", "21/00:00", id="the table was rolled back"),
        pytest.param("", "", id="no table"),
    ],
)
def test_no_digest_is_due_before_midnight_or_twice_for_a_day_or_without_a_table(watermark, digested):
    assert due(watermark, digested, *HOURLY) is None


def test_of_weeks_that_are_summed_up_together_the_newest_reports_are_named():
    digest = due(
        "21/00:00", "02/00:00", *(commit(f"{day:02}/{hour:02}:00") for day in range(1, 21) for hour in range(24))
    )
    assert (len(digest.job_ids), digest.job_ids[0]) == (192, "job-20/23:00")


def test_days_of_which_commits_have_expired_are_not_summed_up():
    left = [commit(f"{day}/{hour:02}:00", read=1) for day in (18, 19, 20) for hour in range(12, 24)]
    digest = due("21/00:00", "01/00:00", *left)
    assert (digest.days, digest.counts) == ("2026-11-19 to 2026-11-20", {"read": 24})
    assert digest.left_from == at("19/00:00"), "and the mail says so"


def test_a_part_of_a_day_is_not_told_as_the_whole():
    """Of the hours up to 13:00 all commits have expired."""
    digest = due("21/00:00", "20/00:00", *(commit(f"20/{hour:02}:00") for hour in range(14, 24)), commit("21/00:00"))
    assert (digest.jobs, digest.left_from) == ({"merge": 11}, at("20/13:00"))
    assert Digest.from_json(digest.to_json()) == digest


@pytest.mark.parametrize(
    "oldest",
    [
        pytest.param(commit("20/01:00"), id="it begins where the last digest ended"),
        pytest.param(commit("19/05:00"), id="it is older"),
        pytest.param(commit("20/00:00", job="load"), id="a table begins with it"),
    ],
)
def test_of_a_day_that_is_whole_nothing_else_is_said(oldest):
    digest = due("21/00:00", "20/00:00", oldest, commit("20/05:00"), commit("21/00:00"))
    assert (digest.anew, digest.left_from) == (None, None)


def test_a_backfill_of_old_history_does_not_hide_that_commits_have_expired():
    backfill = {**commit("20/14:00", job="backfill"), START: "2026-11-01T00:00:00Z"}
    assert due("21/00:00", "20/00:00", backfill, commit("20/15:00")).left_from == at("20/14:00")


def test_of_a_table_that_was_made_anew_the_day_of_its_load_is_summed_up():
    digest = due("10/00:00", "08/00:00", {**commit("09/13:00", read=9), JOB: "load"}, commit("10/00:00", read=1))
    assert (digest.days, digest.counts) == ("2026-11-09", {"read": 10})
    assert (digest.anew, digest.left_from) == (at("09/13:00"), None)
    same_day = due("10/00:00", "09/00:00", {**commit("09/13:00", read=9), JOB: "load"})
    assert (same_day.days, same_day.anew) == ("2026-11-09", at("09/13:00"))
    assert Digest.from_json(digest.to_json()) == digest


def test_a_backfill_right_after_its_load_hides_neither_the_load_nor_its_day():
    made = (commit("09/13:00", job="load"), {**commit("09/13:00", "again", "backfill"), START: "2026-11-08T00:00:00Z"})
    digest = due("10/00:00", "08/00:00", *made, commit("10/00:00"))
    assert (digest.days, digest.jobs) == ("2026-11-09", {"merge": 1, "backfill": 1, "load": 1})
    assert (digest.anew, digest.left_from) == (at("09/13:00"), None)


def test_a_table_that_was_ahead_of_its_source_is_made_anew_by_the_load_that_mended_it():
    digest = due("21/00:00", "19/00:00", commit("30/12:00"), commit("20/01:00", job="load"), commit("21/00:00"))
    assert (digest.days, digest.jobs, digest.anew) == ("2026-11-20", {"merge": 1, "load": 1}, at("20/01:00"))


def test_what_ends_at_midnight_belongs_to_the_day_before_and_leaves_the_next_one_whole():
    digest = due("06/00:00", "04/00:00", commit("05/00:00", read=1), commit("06/00:00", read=2))
    assert (digest.days, digest.counts) == ("2026-11-05", {"read": 2})


def test_a_commit_belongs_to_the_day_its_history_ends_in():
    digest = due("21/01:00", "20/00:00", commit("20/00:00"), commit("20/00:01"), commit("21/00:00"), commit("21/01:00"))
    assert digest.jobs == {"merge": 2}


def test_days_without_a_digest_are_summed_up_together():
    digest = due("21/02:00", "18/00:00", commit("18/05:00"), commit("20/05:00", job="backfill"))
    assert (digest.days, digest.jobs) == ("2026-11-18 to 2026-11-20", {"merge": 1, "backfill": 1})


def test_the_first_digest_is_of_the_last_day_only():
    digest = due("21/02:00", "", commit("18/05:00"), commit("20/05:00"))
    assert (digest.days, digest.jobs) == ("2026-11-20", {"merge": 1})


def test_days_without_a_commit_wait_for_the_next():
    assert due("21/02:00", "20/00:00", commit("19/05:00"), commit("21/02:00")) is None


def test_a_job_counts_once_however_many_commits_bear_its_marker():
    digest = due("21/00:00", "20/00:00", commit("20/05:00", "job", read=3), commit("20/05:00", "job", read=4))
    assert (digest.jobs, digest.counts) == ({"merge": 1}, {"read": 4})


def test_a_commit_that_is_not_ours_or_cannot_be_read_does_not_count():
    foreign, broken = {"operation": "replace"}, {WATERMARK: "2026-11-20T05:00:00Z"}
    assert due("21/00:00", "20/00:00", foreign, broken, commit("20/06:00")).jobs == {"merge": 1}


def test_it_is_read_back_from_the_event_as_it_was_written():
    digest = due("21/00:00", "20/00:00", *HOURLY)
    assert digest is not None
    digest = replace(digest, found={"misfits": [{"path": "/weight", "count": 1}]})
    assert Digest.from_json(json.loads(json.dumps(digest.to_json()))) == digest
    assert Digest.from_json({}) is None
