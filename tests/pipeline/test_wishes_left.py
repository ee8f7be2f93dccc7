"""What a failure's mail says of wishes that no run goes on with, and of those that one does."""

from __future__ import annotations

import pytest

from pipeline.mails.failure import failure_mail
from pipeline.mails.failure_names import Failure
from pipeline.planning.horizon import Horizon
from pipeline.planning.wish_ends import ASK_LATER
from pipeline.table.marker import TableState
from tests.pipeline.rounds import PLANNED, failed
from tests.pipeline.world import DEPLOYMENT, EXECUTION, at, claim, plan, seen, table, update

ANEW = "The next run makes the table anew from a full export by itself."
WHERE_IT_ENDS = " After 3 job runs in all it is given up instead, and a mail says so.\n"


@pytest.mark.parametrize(
    ("mode", "error", "ends"),
    [
        *(("backfill", "KeyDoesNotFit", True), ("full", "OverrideContradicted", True)),
        *(("verify", "VerificationFailed", True), ("verify", "ChecksumMismatch", True)),
        *(("backfill", "ChecksumMismatch", False), ("full", "ChecksumMismatch", False)),
        *(("maintain", "TableContended", False), ("update", "KeyDoesNotFit", False)),
    ],
)
def test_a_refusal_of_its_job_is_the_end_of_a_wish_unless_it_is_exported_anew(mode, error, ends):
    mail = failed(error, planned={**PLANNED, "mode": mode}, reported=True)
    assert mail.facts["wish_ended"] == (PLANNED["job_id"] if ends else "")


@pytest.mark.parametrize(
    ("mode", "error"), [("full", "PermissionMissing"), ("backfill", "DatabaseMissing"), ("verify", "TableFilesMissing")]
)
def test_what_the_table_may_not_show_yet_or_the_next_run_records_is_no_end_of_a_wish(mode, error):
    assert failed(error, "RecordWatermark", planned={**PLANNED, "mode": mode}).facts["wish_ended"] == ""


@pytest.mark.parametrize(
    ("mode", "told", "command"),
    [
        ("update", ANEW, '{"table":"orders"}'),
        ("full", ANEW, '{"table":"orders"}'),
        ("backfill", f"{ANEW} It then shows what the backfill was to bring.", '{"table":"orders"}'),
        ("verify", ANEW, '{"table":"orders","mode":"verify"}'),
    ],
)
def test_where_a_job_has_found_its_table_gone_only_a_verification_is_to_be_asked_for_again(mode, told, command):
    mail = failed("TableGone", planned={**PLANNED, "mode": mode}, reported=True)
    assert "There is no table any more; this run has brought nothing into it.\n" in mail.text
    assert f"does by itself: {told}\n" in mail.text
    assert mail.facts["command"].endswith(f"--input '{command}'")


@pytest.mark.parametrize(("error", "is_tried"), [("KeyMismatch", True), ("WatermarkMissing", False)])
def test_an_update_of_a_table_that_has_lost_its_watermark_is_not_said_to_be_tried_again(error, is_tried):
    """Plan sees what the job has seen, and halts."""
    told = "It is tried 3 times with the same settings, and then waits; a person must act."
    mail = failed(error, planned={**PLANNED, "mode": "update"}, reported=True)
    assert f"does by itself: {told if is_tried else 'Nothing: a person must act.'}\n" in mail.text
    shows = table("12:00") if is_tried else TableState(exists=True)
    found = update(seen(shows=shows, claim=claim(plan("12:00 13:00"), refused_with=error)))
    assert found.kind == ("Export" if is_tried else "Halt")


def test_an_update_that_is_only_to_be_recorded_is_tried_again():
    mail = failed("AwsUnavailable", "RecordWatermark", planned={**PLANNED, "kind": "Record", "mode": "update"})
    assert "does by itself: The next scheduled run tries again by itself." in mail.text
    assert mail.facts["heals_by_itself"]


def test_of_a_wish_whose_job_aws_has_kept_from_running_it_is_not_said_when_it_is_given_up():
    assert WHERE_IT_ENDS not in failed("AwsUnavailable", planned={**PLANNED, "mode": "backfill"}).text


def test_of_a_wish_whose_job_has_not_run_it_is_not_said_either():
    assert WHERE_IT_ENDS not in failed("ExportFailed", "CheckExports", planned={**PLANNED, "mode": "full"}).text


@pytest.mark.parametrize(
    ("mode", "watermark", "is_given_up"),
    [("full", "10:00", True), ("full", "", True), ("full", "08:00", False), ("backfill", "08:00", True)],
)
def test_only_a_full_export_that_makes_lost_history_good_is_tried_for_as_long_as_it_takes(mode, watermark, is_given_up):
    history = Horizon(at(watermark), at("09:00"), at("13:00")).to_json() if watermark else {}
    text = failed("JobFailed", planned={**PLANNED, "mode": mode, "history": history, "rebuilds": True}).text
    assert (WHERE_IT_ENDS in text) is is_given_up


def test_a_table_that_makes_lost_history_good_by_itself_mends_nothing_else_by_itself():
    mail = failed("PitrOff", "Plan", planned={"kind": "Halt", "table": "orders", "rebuilds": True})
    assert "does by itself: Nothing: a person must act.\nWhat to do: What helps.\n" in mail.text
    assert "update-continuous-backups" in mail.facts["command"]


def test_a_wish_that_is_given_up_and_is_no_full_export_holds_nothing_up():
    halt = {"kind": "Halt", "table": "orders", "ends": "verify-1", "asked": '{"table":"orders","mode":"verify"}'}
    mail = failed("WishGivenUp", "Plan", planned=halt)
    assert "does by itself: The schedule goes on with its own work; for what was asked for a person must" in mail.text
    assert mail.subject.endswith(": WishGivenUp, verify")
    assert failed("PermissionMissing", "Plan", planned=halt).subject.endswith(": PermissionMissing")


def test_a_verification_that_is_tried_once_more_when_history_is_lost_is_to_be_asked_for_once_the_table_is_anew():
    mail = failed("HistoryLost", "StartExports", planned={**PLANNED, "mode": "verify", "claim": 8, "rebuilds": True})
    assert f"does by itself: {ANEW}\n" in mail.text
    assert mail.facts["ask_again"].endswith("""--input '{"table":"orders","mode":"verify"}'""")


def test_what_a_verification_has_found_is_not_to_be_looked_for_once_more():
    mail = failed("VerificationFailed", planned={**PLANNED, "mode": "verify"}, reported=True)
    assert ("does by itself: Nothing: a person must act.\n" in mail.text, mail.facts["ask_again"]) == (True, "")


ENDED = {
    "kind": "Halt",
    "table": "orders",
    "mode": "verify",
    "ends": "v-1",
    "asked": '{"table":"orders","mode":"verify"}',
}


def test_whoever_asks_for_something_else_when_a_wish_s_end_is_told_is_to_ask_for_that_again():
    mail = failed("PermissionMissing", "Plan", asked={"mode": "full"}, planned=ENDED)
    assert mail.facts["ask_again"].endswith("""--input '{"table":"orders","mode":"full"}'""")


def test_whoever_is_told_late_that_a_verification_has_met_no_table_is_to_ask_once_there_is_one():
    failure = Failure("Plan", "TableGone", "There is none.", ASK_LATER)
    mail = failure_mail({"input": {"table": "orders"}, "execution": EXECUTION, "plan": ENDED}, failure, DEPLOYMENT)
    assert f"What to do: {ASK_LATER}\n" in mail.text
    assert mail.facts["command"].endswith("""--input '{"table":"orders","mode":"verify"}'""")


@pytest.mark.parametrize(("error", "is_asked_for"), [("PermissionMissing", True), ("KeyDoesNotFit", False)])
def test_a_wish_whose_end_is_told_is_to_be_asked_for_again_unless_a_full_export_is_what_helps(error, is_asked_for):
    assert bool(failed(error, "Plan", planned=ENDED).facts["ask_again"]) is is_asked_for
