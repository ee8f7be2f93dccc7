"""What a failure's mail says of work that is claimed, or done, already."""

from __future__ import annotations

import pytest

from tests.pipeline.rounds import PLANNED, failed


@pytest.mark.parametrize("start", ["2026-11-20T00:00:00.000Z", "2026-11-20T00:00:00+00:00"])
def test_a_backfill_that_is_claimed_is_finished_however_its_start_was_written(start):
    mail = failed("AwsUnavailable", planned={**PLANNED, "mode": "backfill"}, asked={"mode": "backfill", "from": start})
    assert "does by itself: The next scheduled run tries again by itself." in mail.text


@pytest.mark.parametrize("mode", ["verify", "maintain", "backfill"])
def test_what_is_done_and_only_not_recorded_is_not_tried_again(mode):
    mail = failed("AwsUnavailable", "RecordWatermark", planned={**PLANNED, "mode": mode})
    assert "does by itself: Nothing more: what was asked for is done" in mail.text


def test_what_is_not_done_after_all_is_tried_again():
    mail = failed("JobFailed", "RecordWatermark", planned={**PLANNED, "mode": "verify"})
    assert "does by itself: The next scheduled run tries again by itself." in mail.text


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
    assert "does by itself: The next run makes the table anew from a full export.\n" in mail.text
    assert mail.facts["command"].endswith("""--input '{"table":"orders"}'""")


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
