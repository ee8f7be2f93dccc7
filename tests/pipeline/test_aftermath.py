"""What a failure's mail says of work that is claimed, done, or left undone already."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pipeline.planning.actions import describe
from tests.pipeline.rounds import PLANNED, failed
from tests.pipeline.world import DEPLOYMENT, claim, plan, seen, update


@pytest.mark.parametrize("start", ["2026-11-20T00:00:00.000Z", "2026-11-20T00:00:00+00:00"])
def test_a_backfill_that_is_claimed_is_finished_however_its_start_was_written(start):
    mail = failed("AwsUnavailable", planned={**PLANNED, "mode": "backfill"}, asked={"mode": "backfill", "from": start})
    assert "does by itself: The next scheduled run tries again by itself." in mail.text


@pytest.mark.parametrize("claim_number", [7, 8])
@pytest.mark.parametrize("mode", ["verify", "maintain", "backfill"])
def test_what_is_done_and_only_not_recorded_is_not_tried_again_nor_asked_for_again(mode, claim_number):
    mail = failed("AwsUnavailable", "RecordWatermark", planned={**PLANNED, "mode": mode, "claim": claim_number})
    assert "is done, and the job's report says what it has found.\n" in mail.text
    # The next run finds it done, and tells the end of the wish.
    assert [mail.facts[fact] for fact in ("ask_again", "wish_ended", "heals_by_itself")] == ["", "", True]
    assert mail.facts["command"].endswith("""--input '{"table":"orders"}'""")


@pytest.mark.parametrize("kind", ["Export", "Record"])
def test_of_what_is_done_nobody_is_told_that_it_is_tried_again(kind):
    planned = {**PLANNED, "kind": kind, "mode": "backfill", "recorded": "", "unrecorded": "backfill", "fulfils": True}
    mail = failed("AwsUnavailable", "RecordWatermark", planned=planned)
    assert "What to do: Nothing to do.\n" in mail.text
    mended = failed("PermissionMissing", "RecordWatermark", planned=planned)
    assert "What to do: What helps.\n" in mended.text


@pytest.mark.parametrize(("mode", "error"), [("verify", "JobFailed"), ("backfill", "WatermarkNotCommitted")])
def test_what_is_not_done_after_all_is_tried_again(mode, error):
    mail = failed(error, "RecordWatermark", planned={**PLANNED, "mode": mode})
    assert "does by itself: The next scheduled run tries again by itself" in mail.text


@pytest.mark.parametrize("mode", ["update", "backfill", "full"])
def test_of_a_job_that_may_have_committed_it_is_said_that_nothing_is_done_twice(mode):
    mail = failed("JobFailed", planned={**PLANNED, "mode": mode}, job_run="00run")
    assert "The table shows everything this run was to bring, or nothing of it." in mail.text
    assert "tries again by itself; what the table shows already is not done again." in mail.text


@pytest.mark.parametrize(("mode", "or_not"), [("backfill", ", or gives it up and mails so"), ("update", ".\n")])
def test_a_backfill_that_dynamodb_refuses_may_have_come_too_late(mode, or_not):
    mail = failed("ExportRefused", "StartExports", planned={**PLANNED, "mode": mode})
    assert f"does by itself: The next scheduled run tries again by itself{or_not}" in mail.text


def test_what_a_person_must_mend_is_said_also_where_all_is_done():
    mail = failed("PermissionMissing", "RecordWatermark", planned={**PLANNED, "mode": "verify"})
    told = "the job's report says what it has found. But the cause must be removed before the next run."
    assert f"Nothing more: what was asked for is done, and {told}\n" in mail.text


def test_of_a_backfill_that_is_lost_with_its_history_nobody_is_asked_to_pay_for_again_what_the_next_run_brings():
    halt = {"kind": "Halt", "table": "orders", "ends": "backfill-1", "asked": ""}
    mail = failed("WishGivenUp", "Plan", asked={}, planned=halt)
    assert "does by itself: The next run makes the table anew from a full export by itself.\n" in mail.text
    assert mail.facts["command"].endswith("""--input '{"table":"orders"}'""")


FULL = {"mode": "full"}


@pytest.mark.parametrize("error", ["AwsUnavailable", "States.Timeout", "Sandbox.Timedout", "Lambda.Unknown"])
def test_whoever_asks_is_not_told_that_nothing_was_begun_where_nobody_knows(error):
    mail = failed(error, "Plan", asked=FULL)
    assert "does by itself: Your request may have been begun, though this run has failed; then the next" in mail.text
    assert "What to do: Look first at the table's parameters run/<n>: where one of them has this execution" in mail.text
    assert mail.facts["command"].endswith("""--input '{"table":"orders","mode":"full"}'""")


@pytest.mark.parametrize(
    ("error", "state", "planned"),
    [
        pytest.param("PermissionMissing", "Plan", {}, id="refused before it was claimed"),
        pytest.param("AnotherRunAtWork", "Plan", {"kind": "Halt", "table": "orders"}, id="by a plan that was made"),
        pytest.param("AwsUnavailable", "RunSparkJob", {**PLANNED, "mode": "update"}, id="behind other work"),
    ],
)
def test_where_it_is_known_that_a_request_was_not_begun_the_mail_says_so(error, state, planned):
    mail = failed(error, state, asked=FULL, planned=planned)
    assert "does by itself: Nothing: your request was not begun, and no later run will do it." in mail.text


def told_late(wished, watermark="12:00", restorable="09:00-13:00", **claimed):
    """The mail of a run that finds a wish ended, told by nobody, and the mail's plan."""
    world = seen(watermark, restorable, claim=replace(claim(wished, **claimed), refusal="Why.", remedy="Do this."))
    action = update(world)
    planned = {**describe(action), "table": "orders", "history": world.horizon.to_json() if world.horizon else {}}
    return failed(action.error, "Plan", planned=planned), update(replace(world, told_end=wished.job_id))


@pytest.mark.parametrize(
    ("mode", "error"), [("verify", "VerificationFailed"), ("full", "KeyDoesNotFit"), ("verify", "ChecksumMismatch")]
)
def test_a_refusal_that_is_told_late_links_the_report_that_it_speaks_of(mode, error):
    wished = plan("12:00", mode, 7)
    mail, _ = told_late(wished, refused_with=error)
    assert f"\nReport: {DEPLOYMENT.report_uri('orders', wished.job_id)}\n" in mail.text


def test_a_wish_that_is_given_up_links_the_report_if_there_is_one_and_the_logs():
    wished = plan("12:00", "verify", 7)
    mail, _ = told_late(wished, number=8)
    assert mail.facts["error"] == "WishGivenUp"
    assert f"\nReport, if there is one: {DEPLOYMENT.report_uri('orders', wished.job_id)}\nJob logs: " in mail.text


@pytest.mark.parametrize(
    ("watermark", "restorable", "told", "then"),
    [
        pytest.param("12:00", "09:00-13:00", "The schedule goes on with its own work; for", "Export", id="followed"),
        pytest.param("08:00", "09:00-13:00", "Nothing: a person must act.", "Halt", id="history is lost"),
        pytest.param("", "09:00-13:00", "goes on with its own work, unless that waits", "Export", id="no table"),
        pytest.param("14:00", "09:00-13:00", "goes on with its own work, unless that waits", "Halt", id="ahead"),
    ],
)
def test_of_a_full_export_that_its_job_has_refused_it_is_told_whether_the_schedule_waits(
    watermark, restorable, told, then
):
    mail, action = told_late(plan("12:00", "full", 7), watermark, restorable, refused_with="OverrideContradicted")
    assert told in mail.text
    assert action.kind == then


@pytest.mark.parametrize("error", ["PermissionMissing", "WatermarkNotCommitted", "AwsUnavailable"])
@pytest.mark.parametrize("mode", ["backfill", "full", "verify"])
def test_what_could_not_be_told_late_either_is_over_so_that_its_table_goes_on(mode, error):
    late = {**PLANNED, "kind": "Record", "mode": mode, "recorded": "", "unrecorded": mode, "fulfils": False}
    mail = failed(error, "RecordWatermark", planned=late)
    assert mail.facts["wish_ended"] == PLANNED["job_id"]
    assert "Nothing more: what was asked for is done" in mail.text


@pytest.mark.parametrize(
    ("mode", "error", "state", "ends"),
    [
        ("backfill", "PermissionMissing", "RecordWatermark", True),
        ("verify", "PermissionMissing", "RecordWatermark", True),
        ("backfill", "AwsUnavailable", "RecordWatermark", False),
        ("verify", "AwsUnavailable", "RecordWatermark", False),
        ("full", "AwsUnavailable", "RecordWatermark", False),
        ("backfill", "WatermarkNotCommitted", "RecordWatermark", False),
        ("backfill", "AwsUnavailable", "StartExports", False),
        ("backfill", "JobFailed", "RunSparkJob", False),
        ("maintain", "AwsUnavailable", "RecordWatermark", False),
        ("update", "AwsUnavailable", "RecordWatermark", False),
    ],
)
def test_a_failure_is_the_end_of_a_wish_where_no_run_goes_on_with_it(mode, error, state, ends):
    mail = failed(error, state, planned={**PLANNED, "mode": mode})
    assert mail.facts["wish_ended"] == (PLANNED["job_id"] if ends else "")


BACKFILL = {"mode": "backfill", "from": "2026-11-20T00:00:00Z"}


NOT_BEGUN = (
    "Nothing: your request was not begun, and no later run will do it. (If a success mail for it has come, it is done.)"
)


@pytest.mark.parametrize("error", ["HistoryLost", "TableRecreated", "KeyDoesNotFit"])
@pytest.mark.parametrize(
    ("planned", "told"),
    [
        ({"kind": "Halt", "table": "orders"}, NOT_BEGUN),
        ({**PLANNED, "mode": "update"}, NOT_BEGUN),
        (
            {"kind": "Halt", "table": "orders", "mode": "verify", "ends": "verify-1", "asked": "{}"},
            "The schedule goes on with its own work; for what was asked for a person must act.",
        ),
    ],
)
def test_nobody_is_told_to_ask_for_a_backfill_again_where_the_full_export_brings_it(error, planned, told):
    mail = failed(error, "Plan", asked=BACKFILL, planned=planned)
    assert f"does by itself: {told} The full export brings what your backfill was to bring.\n" in mail.text
    assert mail.facts["command"].endswith("""--input '{"table":"orders","mode":"full"}'""")
    assert (mail.facts["ask_again"], "ask again" in mail.text) == ("", False)


def test_of_history_that_the_next_run_makes_good_nobody_is_told_to_pay_for_it():
    planned = {"kind": "Halt", "table": "orders", "rebuilds": True}
    mail = failed("HistoryLost", "Plan", asked={"mode": "verify"}, planned=planned)
    assert "What to do: The next run makes the table anew from a full export by itself.\n" in mail.text
    assert mail.facts["command"].endswith("""--input '{"table":"orders"}'""")
    assert mail.facts["ask_again"].endswith("""--input '{"table":"orders","mode":"verify"}'""")


@pytest.mark.parametrize("state", ["Plan", "StartExports"])
@pytest.mark.parametrize("mode", ["update", "full", "verify"])
def test_where_the_next_run_makes_lost_history_good_no_person_must_act(mode, state):
    mail = failed("HistoryLost", state, planned={**PLANNED, "mode": mode, "rebuilds": True})
    assert "does by itself: The next run makes the table anew from a full export by itself.\n" in mail.text
    assert (mail.facts["heals_by_itself"], "a person must act" in mail.text) == (True, False)


def test_a_wish_that_the_next_runs_full_export_brings_is_not_to_be_asked_for_again_where_another_is_given_up():
    halt = {"kind": "Halt", "table": "orders", "ends": "verify-1", "asked": ""}
    for asked in (BACKFILL, FULL):
        assert "ask again" not in (mail := failed("WishGivenUp", "Plan", asked=asked, planned=halt)).text
        assert mail.facts["command"].endswith("""--input '{"table":"orders"}'""")
    verify = failed("WishGivenUp", "Plan", asked={"mode": "verify"}, planned=halt)
    assert verify.facts["command"].endswith("""--input '{"table":"orders","mode":"verify"}'""")


def test_where_a_full_export_is_what_helps_the_mail_does_not_say_that_all_goes_on():
    halt = {"kind": "Halt", "table": "orders", "ends": "backfill-1", "asked": '{"table":"orders","mode":"full"}'}
    mail = failed("WishGivenUp", "Plan", asked={}, planned=halt)
    assert (
        "does by itself: The schedule goes on with its own work, unless that waits for a full export too" in mail.text
    )


def test_a_full_export_whose_run_has_met_what_a_full_export_mends_is_asked_for_once():
    mail = failed("KeyDoesNotFit", "Plan", asked={"mode": "full"}, planned={**PLANNED, "mode": "update"})
    assert f"{NOT_BEGUN} The command asks for it again.\n" in mail.text
    assert mail.text.count("start-execution") == 1


def test_a_verification_which_a_full_export_does_not_bring_is_still_to_be_asked_for_again():
    mail = failed("HistoryLost", "Plan", asked={"mode": "verify"}, planned={"kind": "Halt", "table": "orders"})
    assert mail.facts["ask_again"].endswith("""--input '{"table":"orders","mode":"verify"}'""")


@pytest.mark.parametrize("wish", [{}, {"mode": "update"}, {"mode": "full"}, BACKFILL])
def test_a_dry_run_that_fails_is_asked_for_again_as_one_and_no_schedule_does_its_work(wish):
    mail = failed("AwsUnavailable", "Plan", asked={**wish, "dry_run": True})
    assert "What the pipeline does by itself: Nothing: a dry run begins nothing.\n" in mail.text
    given = json.dumps({"table": "orders", **wish, "dry_run": True}, separators=(",", ":"))
    assert mail.facts["command"].endswith(f"--input '{given}'")
    assert (mail.facts["ask_again"], mail.text.count("start-execution")) == ("", 1)


def test_what_a_dry_run_has_met_is_mended_first_and_then_it_is_asked_for_again():
    mail = failed("PermissionMissing", "Plan", asked={"dry_run": True})
    assert "What the pipeline does by itself: Nothing: a dry run begins nothing.\n" in mail.text
    assert mail.facts["command"].endswith(" make repair")
    assert mail.facts["ask_again"].endswith("""--input '{"table":"orders","dry_run":true}'""")
