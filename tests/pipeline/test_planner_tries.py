"""What its job refuses each time is tried three times; then it waits for a person, or for other settings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.errors import DamagedExport, error_names
from pipeline.modes import BACKFILL, FULL
from pipeline.planning.actions import Export, Halt
from pipeline.planning.observation import Observation
from tests.pipeline.world import OTHER, claim, full, plan, seen, takes_over, update

WINDOW = plan("12:00 13:00")
DAMAGED = sorted(name for name, kind in error_names().items() if issubclass(kind, DamagedExport))
FOR_GOOD = [
    "KeyDoesNotFit",
    "OverrideContradicted",
    "HashSecretUnfit",
    "RebuildNeeded",
    "PartitionsKept",
    "PropertyUnfit",
]


def refused(error: str, tries: int, found=WINDOW, watermark: str = "12:00") -> Observation:
    """A world in which the job has refused the work so often."""
    last = replace(claim(found, refused_with=error), tries=tries, settings="mine", refusal="This is why.")
    return replace(seen(watermark, "09:00-15:00", claim=last), settings="mine")


@pytest.mark.parametrize("error", [*DAMAGED, *FOR_GOOD])
def test_the_third_refusal_is_the_last_and_says_why(error):
    assert update(refused(error, 2)).kind == "Export"
    action = update(refused(error, 3))
    assert isinstance(action, Halt)
    assert action.error == error
    assert action.message.startswith("the job has refused it 3 times, and it is not tried again by itself.")
    assert action.message.endswith("It said: This is why.")
    usual = "" if error in DAMAGED else f"{error_names()[error].default_remedy} "
    assert action.remedy == f"{usual}Once the cause is removed, start a run: it tries again at once."
    advised = replace(refused(error, 3).claim, remedy="Hash what is inside.")
    again = update(replace(refused(error, 3), claim=advised))
    is_damaged = error in DAMAGED
    assert again.remedy.startswith("Once the cause" if is_damaged else "Hash what is inside. Once the cause")


@pytest.mark.parametrize("error", ["", "JobFailed", "TableContended", "Gap", "SomethingNobodyKnows"])
def test_what_heals_by_itself_is_tried_for_ever(error):
    world = refused(error, 30)
    assert update(world) == takes_over(world)


@pytest.mark.parametrize("error", ["JobFailed", "TableContended", "Gap"])
def test_what_heals_by_itself_counts_for_nothing_when_something_else_is_refused_afterwards(error):
    assert update(refused(error, 1)).tries == 1


def test_a_run_that_a_person_has_started_tries_again_and_so_do_the_next_three():
    world = replace(refused("OverrideContradicted", 3), by_schedule=False)
    assert update(world) == Export(WINDOW, 8, taken_over_from=OTHER, tries=1)


@pytest.mark.parametrize("error", [*DAMAGED, *FOR_GOOD])
def test_every_refusal_counts_by_the_job_run_it_is_of(error):
    world = refused(error, 1)
    action = update(replace(world, claim=replace(world.claim, refused_by="job-2", counted="job-1")))
    assert (action.tries, action.counted) == (2, "job-2")


def test_a_run_that_died_is_no_refusal():
    world = refused("", 2)
    action = update(replace(world, claim=replace(world.claim, counted="job-1")))
    assert (action.tries, action.counted) == (2, "job-1")


def test_a_report_that_is_older_than_the_claim_says_nothing_of_its_job():
    counted = replace(claim(WINDOW), counted="job-1")
    report = {"error": "HashSecretUnfit", "message": "Why.", "remedy": "Do this."}
    assert counted.with_refusal({**report, "client_token": "job-1"}) == counted
    assert counted.with_refusal({}) == counted
    refused_ = counted.with_refusal({**report, "client_token": "job-2"})
    assert (refused_.refused_with, refused_.refused_by) == ("HashSecretUnfit", "job-2")
    assert (refused_.refusal, refused_.remedy) == ("Why.", "Do this.")


def test_other_settings_are_tried_at_once():
    world = replace(refused("OverrideContradicted", 3), settings="others")
    assert update(world) == Export(WINDOW, 8, taken_over_from=OTHER, tries=1)


def test_a_full_export_is_not_kept_waiting():
    assert full(refused("KeyDoesNotFit", 3)) == Export(plan("15:00", FULL, 8), 8)


def test_a_bootstrap_whose_files_are_damaged_each_time_is_not_paid_for_again():
    world = refused("ChecksumMismatch", 3, plan("12:00"), "")
    assert update(world).error == "ChecksumMismatch"


@pytest.mark.parametrize("wished", [plan("12:30", FULL), plan("10:00 12:00", BACKFILL)], ids=["full", "backfill"])
def test_a_wish_whose_files_are_damaged_each_time_is_given_up(wished):
    assert update(refused("ChecksumMismatch", 2, wished)).kind == "Export"
    action = update(refused("ChecksumMismatch", 3, wished))
    assert (action.error, action.ends) == ("WishGivenUp", wished.job_id)
    assert "has ended 3 times without success" in action.message
    died = refused("", 3, wished)
    assert update(died) == takes_over(died), "files that nobody has looked at are not damaged"
