"""The run journal: claims that are read back as they were written, and work that is named by what it is."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import LONGEST_TEXT, ClaimUnreadable
from pipeline.exports.requests import ExportRequest
from pipeline.exports.windows import windows_between
from pipeline.modes import BACKFILL, FULL, MAINTAIN, MODES, UPDATE, VERIFY
from pipeline.planning.journal import Claim, RunPlan, newest_claim
from tests.pipeline.world import ME, OTHER, at, bounds, claim, plan, table

LONGEST_PARAMETER = 4096  # a standard parameter of Parameter Store
LONGEST_OWNER = "arn:aws-us-gov:states:us-gov-west-1:000000000000:execution:" + "s" * 80 + ":" + "e" * 80

plans = st.builds(
    RunPlan,
    mode=st.sampled_from(MODES),
    source_id=st.uuids().map(str),
    bounds=st.integers(1, 37).flatmap(
        lambda count: st.integers(0, 10**6).map(
            lambda start: tuple(at("01/00:00") + timedelta(seconds=start, hours=24 * n) for n in range(count))
        )
    ),
    attempt=st.integers(0, 10**6),
)


@given(plans, st.integers(1, 10**9))
def test_a_claim_goes_through_its_parameter_unchanged_and_fits_into_it(found, number):
    written = Claim(number, LONGEST_OWNER, found, tries=number, settings="0123456789abcdef", counted="j" * 70)
    text = written.to_text()
    assert Claim.from_text(number, text) == written
    assert len(text) <= LONGEST_PARAMETER
    assert "{{" not in text  # Parameter Store takes that for a reference


def test_36_windows_with_the_longest_names_use_a_quarter_of_a_parameter():
    days = tuple(at("01/00:00") + timedelta(days=n) for n in range(37))
    assert len(Claim(1, LONGEST_OWNER, RunPlan(BACKFILL, "0" * 36, days)).to_text()) < 1300


def test_what_is_seen_of_the_owner_and_of_the_job_is_not_written():
    found = claim(plan("12:00 13:00"), owner_runs=True, refused_with="Gap")
    lasting = {"owner", "mode", "source_id", "bounds", "attempt", "tries", "settings", "counted"}
    assert set(json.loads(found.to_text())) == lasting


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"owner":"x"}'])
def test_what_is_no_claim_is_not_taken_for_one(text):
    with pytest.raises((ValueError, KeyError, TypeError)):
        Claim.from_text(1, text)


@pytest.mark.parametrize(
    "edited",
    [
        {"bounds": ["?"]},
        {"bounds": []},
        {"bounds": ["2026-11-21T13:00:00Z", "2026-11-21T12:00:00Z"]},
        {"bounds": ["2026-11-21T12:00:00Z", "2026-11-23T12:00:00Z"]},
        {"mode": "upgrade"},
        {"owner": "me"},
        {"owner": ""},
        {"attempt": "one"},
    ],
)
def test_a_claim_that_somebody_has_edited_is_not_taken_for_one(edited):
    text = Claim(1, ME, plan("12:00 13:00")).to_text()
    with pytest.raises((ValueError, KeyError, TypeError, IndexError)):
        Claim.from_text(1, json.dumps({**json.loads(text), **edited}))


def test_the_highest_number_is_the_claim_in_force():
    runs = {str(n): Claim(n, ME, plan("12:00 13:00")).to_text() for n in (2, 9, 10)}
    assert newest_claim(runs) == Claim(10, ME, plan("12:00 13:00"))
    assert newest_claim({}) is None


def test_a_plan_of_one_instant_is_a_full_export():
    found = plan("12:00", FULL)
    assert found.is_full
    assert found.requests == (ExportRequest(at=at("12:00")),)
    assert (found.start, found.end) == (at("12:00"), at("12:00"))


def test_a_plan_of_several_instants_is_the_windows_between_them():
    found = plan("12:00 13:00 14:00")
    assert not found.is_full
    assert found.requests == tuple(ExportRequest(window=w) for w in windows_between(bounds("12:00 13:00 14:00")))
    assert (found.start, found.end) == (at("12:00"), at("14:00"))


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(plan("12:00 14:00"), id="other windows to the same end"),
        pytest.param(plan("11:00 12:00 13:00"), id="more windows"),
        pytest.param(plan("12:00 12:30 13:00"), id="the same stretch cut otherwise"),
        pytest.param(plan("13:00"), id="a bootstrap"),
        pytest.param(plan("12:00 13:00", BACKFILL), id="a backfill of the same windows"),
        pytest.param(plan("12:00 13:00", attempt=1), id="the next attempt"),
        pytest.param(replace(plan("12:00 13:00"), source_id="another"), id="another source table"),
    ],
)
def test_different_work_has_a_different_name(other):
    assert plan("12:00 13:00").job_id != other.job_id


@pytest.mark.parametrize(
    ("found", "job"),
    [
        pytest.param(plan("12:00"), "load", id="bootstrap"),
        pytest.param(plan("12:00", FULL), "load", id="rebuild"),
        pytest.param(plan("12:00 13:00"), "merge", id="windows"),
        pytest.param(plan("12:00 13:00", BACKFILL), "backfill", id="backfill"),
        pytest.param(plan("12:00", VERIFY), "verify", id="verification"),
        pytest.param(plan("12:00", MAINTAIN), "maintain", id="maintenance"),
    ],
)
def test_the_plan_decides_the_job(found, job):
    assert found.job == job


def test_the_same_work_has_the_same_name_whoever_does_it():
    assert plan("12:00 13:00").job_id == RunPlan(UPDATE, "id-of-orders", bounds("12:00 13:00")).job_id
    assert plan("12:00 13:00").job_id.startswith("update-20261121T130000Z-")


@given(plans)
def test_the_next_attempt_is_the_same_stretch(found):
    following = found.next_attempt()
    assert following == replace(found, attempt=found.attempt + 1)
    assert following.bounds == found.bounds


@pytest.mark.parametrize(
    ("mode", "outcome", "committed", "reported"),
    [
        (UPDATE, "committed", True, False),
        (FULL, "already_there", True, False),
        (VERIFY, "verified", False, True),
        (MAINTAIN, "maintained", False, True),
        (VERIFY, "", False, False),
        (UPDATE, "", False, False),
    ],
)
def test_a_report_says_whether_the_work_of_a_claim_is_done(mode, outcome, committed, reported):
    found = claim(plan("12:00", mode)).with_report({"outcome": outcome} if outcome else {}, owner_runs=False)
    assert (found.committed, found.reported, found.owner_runs) == (committed, reported, False)


def test_a_report_of_a_refusal_says_why_and_by_which_job_run():
    said = {"outcome": "refused", "error": "Gap", "message": "A hole.", "client_token": "job-0"}
    found = claim(plan("12:00 13:00")).with_report(said, owner_runs=True)
    assert (found.refused_with, found.refusal, found.refused_by) == ("Gap", "A hole.", "job-0")
    assert (found.committed, found.reported, found.owner_runs) == (False, False, True)


@pytest.mark.parametrize("error", ["Gap", {"a": 1}])
def test_a_report_that_somebody_has_written_otherwise_fails_nothing(error):
    found = claim(plan("12:00 13:00")).with_report({"error": error, "message": None}, owner_runs=False)
    assert (found.refused_with, found.refusal) == (str(error), "")


def test_of_a_long_refusal_so_much_is_known_as_is_handed_on():
    said = {"outcome": "refused", "error": "Gap", "message": "m" * 140_000, "remedy": "r" * 140_000}
    found = claim(plan("12:00 13:00")).with_report(said, owner_runs=False)
    assert (found.refusal, found.remedy) == ("m" * LONGEST_TEXT, "r" * LONGEST_TEXT)


@pytest.mark.parametrize(
    ("owner", "mode", "owner_runs", "asks"),
    [
        pytest.param(OTHER, UPDATE, False, True, id="the owner is dead"),
        pytest.param(OTHER, VERIFY, True, False, id="another one is at work"),
        pytest.param(ME, UPDATE, True, False, id="its own work shows in the table"),
        pytest.param(ME, VERIFY, True, True, id="its own work shows in the report alone"),
    ],
)
def test_the_report_is_asked_for_only_where_it_decides(owner, mode, owner_runs, asks):
    assert claim(plan("12:00", mode), owner=owner).asks_for_report(ME, owner_runs=owner_runs) is asks


@pytest.mark.parametrize(
    ("found", "done", "counts"),
    [
        pytest.param(claim(plan("12:00", FULL)), False, True, id="of a wish"),
        pytest.param(claim(plan("12:00", FULL)), True, False, id="of one that is fulfilled"),
        pytest.param(claim(plan("12:00", FULL), owner_runs=True), False, False, id="somebody is at it"),
        pytest.param(claim(plan("12:00 13:00")), False, False, id="of an update"),
    ],
)
def test_job_runs_are_counted_of_wishes_only(found, done, counts):
    shown = table("11:00", done=(found.plan,) if done else ())
    assert found.counts_failed_runs(shown) is counts


@pytest.mark.parametrize(
    "runs",
    [
        {"7": ""},
        {"7": "{}"},
        {"7": "RUN"},
        {"7": "[]"},
        {"7": '{"owner":"me","bounds":["noon"]}'},
        {"7": "[" * 4_096},
        {"7": claim(plan("12:00", FULL)).to_text().replace('"attempt":0', '"attempt":Infinity')},
        {"7": claim(plan("12:00", FULL)).to_text().replace('"id-of-orders"', "5")},
        {"last": "{}"},
        {"0": "{}"},
    ],
)
def test_what_is_no_claim_is_named(runs):
    with pytest.raises(ClaimUnreadable, match=f"run/{next(iter(runs))} "):
        newest_claim(runs)
