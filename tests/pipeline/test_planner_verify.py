"""Verifications: at the watermark, each one anew, found again after a crash, and never in the schedule's way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.errors import error_names
from pipeline.modes import BACKFILL, FULL, VERIFY
from pipeline.planning.actions import Export, Halt, Idle, Record
from pipeline.prices import estimate
from tests.pipeline.world import ME, RECREATED, at, claim, full, plan, seen, table, takes_over, update, verify

#: As a verification is planned under claim 7.
FOUND = plan("12:00", VERIFY, attempt=7)


@pytest.mark.parametrize("restorable", ["09:00-13:17", "12:00-12:00"])
def test_a_full_export_is_asked_for_at_the_watermark(restorable):
    assert verify(seen("12:00", restorable)) == Export(plan("12:00", VERIFY, attempt=1), 1)


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(claim(plan("11:00 12:00")), id="an update"),
        pytest.param(claim(FOUND, reported=True), id="a verification that has found them equal"),
        pytest.param(claim(FOUND, refused_with="VerificationFailed"), id="one that has found differences"),
        pytest.param(claim(FOUND, refused_with="JobFailed"), id="one whose job failed"),
    ],
)
def test_a_verification_asked_for_again_is_other_work_although_the_watermark_is_the_same(before):
    world = replace(seen("12:00", claim=before), told_end=before.plan.job_id)
    assert verify(world) == Export(plan("12:00", VERIFY, attempt=8), 8)
    assert plan("12:00", VERIFY, attempt=8).job_id != FOUND.job_id


@pytest.mark.parametrize(
    ("world", "error", "told"),
    [
        pytest.param(seen("", "09:00-13:00"), "InputRefused", "there is no table yet to verify", id="no table"),
        pytest.param(
            seen("12:00", "09:00-11:58"),
            "InputRefused",
            "nothing after 2026-11-21T11:58:00Z can be exported yet",
            id="a watermark that cannot be exported yet",
        ),
        pytest.param(seen("12:00", "12:30-13:00"), "HistoryLost", "the watermark is", id="one that cannot any more"),
        pytest.param(seen("12:00", source=RECREATED), "TableRecreated", "id-of-the-new-orders", id="another source"),
    ],
)
def test_what_cannot_be_verified_is_refused_by_name(world, error, told):
    action = verify(world)
    assert isinstance(action, Halt)
    assert action.error == error
    assert told in action.message


def test_half_done_windows_are_merged_first_and_then_verified():
    world = seen("12:00", "09:00-15:00", claim=claim(plan("12:00 13:00")))
    assert verify(world) == takes_over(world)
    merged = claim(plan("12:00 13:00"), owner=ME)
    world = seen(shows=table("13:00", done=(merged.plan,)), restorable="09:00-15:00", claim=merged)
    assert verify(world) == Export(plan("13:00", VERIFY, attempt=8), 8)


def test_an_execution_goes_on_with_its_own_verification_until_the_report_says_that_it_is_done():
    assert verify(seen(claim=claim(FOUND, owner=ME))) == Export(FOUND, 7, adopted=True)
    done = verify(seen(claim=claim(FOUND, owner=ME, reported=True)))
    assert (type(done), done.reason) == (Idle, "WishFulfilled")


def test_a_verification_that_is_done_still_sets_the_parameter_right():
    assert verify(seen(claim=claim(FOUND, owner=ME, reported=True), recorded="")) == Record(
        at("12:00"), "", fulfils=True
    )


@pytest.mark.parametrize("ask", [update, verify])
def test_a_verification_whose_run_died_is_finished_by_the_next_with_the_same_export_and_job(ask):
    world = seen("12:00", "09:00-15:00", claim=claim(FOUND))
    assert ask(world) == takes_over(world)


@pytest.mark.parametrize(
    "left",
    [
        pytest.param(claim(FOUND, reported=True), id="done"),
        pytest.param(claim(FOUND, number=8), id="taken over once already, and its job died without a word again"),
        pytest.param(claim(plan("11:00", VERIFY, attempt=7)), id="of another watermark"),
        pytest.param(claim(plan("12:00", VERIFY, attempt=7, source=RECREATED)), id="of another source"),
        *(pytest.param(claim(FOUND, refused_with=name), id=name) for name in sorted(error_names())),
    ],
)
def test_a_verification_that_is_done_refused_or_failing_does_not_keep_the_schedule_from_its_work(left):
    world = replace(seen("12:00", "09:00-13:00", claim=left), told_end=left.plan.job_id)
    assert update(world) == Export(plan("12:00 13:00"), left.number + 1)


def test_a_full_export_asked_for_does_not_wait_for_a_verification():
    assert full(seen("12:00", "09:00-15:00", claim=claim(FOUND))) == Export(plan("15:00", FULL, 8), 8)


def test_another_run_leaves_a_verification_at_work_alone():
    assert update(seen("12:00", "09:00-15:00", claim=claim(FOUND, owner_runs=True))).reason == "AnotherRun"


def test_a_verification_counts_as_done_only_by_its_report():
    assert not claim(FOUND).is_done(table("12:00", done=(FOUND,)))
    assert claim(FOUND, reported=True).is_done(table("12:00"))


def test_it_costs_what_a_full_export_costs():
    assert estimate(FOUND, 5 * 10**9).usd == estimate(plan("12:00", FULL), 5 * 10**9).usd == 0.5


def test_a_backfill_and_a_verification_of_one_watermark_have_different_names():
    assert len({plan("12:00", mode).job_id for mode in (FULL, VERIFY, BACKFILL)}) == 3
