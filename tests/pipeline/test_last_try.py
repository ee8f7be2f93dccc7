"""What a mail says of work that is not tried for ever: also the one about the last try says nothing that is not so."""

from __future__ import annotations

import pytest

from pipeline.errors import DamagedExport, error_names
from pipeline.planning.horizon import Horizon
from tests.pipeline.rounds import PLANNED, failed
from tests.pipeline.world import at

WHERE_IT_ENDS = " After 3 job runs in all it is given up instead, and a mail says so.\n"


@pytest.mark.parametrize("error", ["JobFailed", "TableContended"])
@pytest.mark.parametrize(
    ("mode", "ends"), [("update", False), ("backfill", True), ("full", True), ("verify", False), ("maintain", False)]
)
def test_of_a_wish_it_is_said_after_how_many_job_runs_it_is_given_up(mode, ends, error):
    mail = failed(error, planned={**PLANNED, "mode": mode})
    assert "The next scheduled run tries again by itself" in mail.text
    assert (WHERE_IT_ENDS in mail.text) is ends
    assert "scheduled run tries" not in mail.facts["remedy"]


def test_a_full_export_that_makes_lost_history_good_is_not_given_up():
    lost = Horizon(at("08:00"), at("09:00"), at("13:00")).to_json()
    for rebuilds in (True, False):
        planned = {**PLANNED, "mode": "full", "history": lost, "rebuilds": rebuilds}
        assert (WHERE_IT_ENDS in failed("JobFailed", planned=planned).text) is not rebuilds


@pytest.mark.parametrize("name", [name for name, kind in error_names().items() if issubclass(kind, DamagedExport)])
def test_of_damaged_files_it_is_said_that_the_third_time_is_the_last(name):
    for mode, then in {"update": "waits for a person", "backfill": "is given up", "full": "is given up"}.items():
        mail = failed(name, planned={**PLANNED, "mode": mode}, reported=True)
        assert f"tries again by itself; 3 times in all. Then it {then}, and a mail says so.\n" in mail.text
    assert error_names()[name].default_remedy.endswith(" export again, three times in all.")


def test_what_is_tried_three_times_says_so():
    refused = failed("OverrideContradicted", planned={**PLANNED, "mode": "update"}, reported=True).text
    assert "by itself: It is tried 3 times with the same settings, and then waits; a person must act.\n" in refused
    stopped = failed("OverrideContradicted", "Plan", planned={"kind": "Halt", "table": "orders"}).text
    assert "by itself: Nothing: a person must act.\n" in stopped
    damaged = failed("ChecksumMismatch", planned={**PLANNED, "mode": "update"}, reported=True).text
    assert "has it exported anew, and tries again by itself; 3 times in all. Then" in damaged
    given_up = failed("ChecksumMismatch", "Plan", planned={"kind": "Halt", "table": "orders"}).text
    assert "tries again by itself" not in given_up


def test_a_verification_that_has_died_twice_is_left_to_whoever_wants_it():
    mail = failed("JobFailed", planned={**PLANNED, "mode": "verify", "claim": 8}, job_run="00run")
    assert (
        "does by itself: The schedule goes on. The verification is not repeated; ask again if you still want it."
        in mail.text
    )
    assert mail.facts["command"].endswith("""'{"table":"orders","mode":"verify"}'""")


def test_a_verification_whose_job_has_died_is_tried_again_by_the_next_run():
    mail = failed("JobFailed", planned={**PLANNED, "mode": "verify"}, job_run="00run")
    assert "does by itself: The next scheduled run tries again by itself." in mail.text
    assert mail.facts["command"].endswith("""'{"table":"orders"}'""")


@pytest.mark.parametrize("error", ["PermissionMissing", "CallRefused"])
@pytest.mark.parametrize("planned", [{"mode": "update"}, {"mode": "full"}, {"kind": "Record", "fulfils": False}])
def test_what_cannot_be_recorded_is_not_said_to_hold_the_table_up(planned, error):
    text = failed(error, "RecordWatermark", planned={**PLANNED, **planned}).text
    assert "does by itself: The schedule goes on where it can; last-export-time may stay as it is until" in text
    gone = failed("DatabaseMissing", "RecordWatermark", planned={**PLANNED, **planned}).text
    assert "does by itself: Nothing: a person must act." in gone


@pytest.mark.parametrize("mode", ["backfill", "full"])
def test_of_a_wish_that_was_claimed_and_not_refused_nobody_is_told_to_ask_and_to_pay_twice(mode):
    text = failed("PermissionMissing", "StartExports", planned={**PLANNED, "mode": mode}).text
    assert "does by itself: Nothing: a person must act." in text
    assert "ask again" not in text
