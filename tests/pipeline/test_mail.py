"""The mails, as a person reads them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.mails.success import is_told_at_once, success_mail
from pipeline.modes import BACKFILL, UPDATE
from tests.pipeline.rounds import COUNTS, done
from tests.pipeline.world import DEPLOYMENT, EXECUTION, plan


def test_a_merge_accounts_for_every_record():
    mail = success_mail(done(), DEPLOYMENT)
    assert mail.subject == "[Tidemark] OK orders: 15 records, at 2026-11-21T13:00:00Z"
    assert mail.text == (
        "Merged orders into database.orders.\n"
        "\n"
        "The table shows every change before 2026-11-21T13:00:00Z.\n"
        "From one window, 2026-11-21T12:00:00Z to 2026-11-21T13:00:00Z.\n"
        "\n"
        "Read 15 records = 5 inserted + 4 updated + 3 deleted + 2 already there + 1 delete of an unknown key.\n"
        "\n"
        "Behind the present by 12 min 30 s; took 4 min 30 s.\n"
        "History would be lost in 35 days 0 h (0 % of the recovery period of 35 days used).\n"
        "Estimated cost: 0.0431 US dollars.\n"
        "\n"
        f"Execution: https://eu-west-1.console.aws.amazon.com/states/home?region=eu-west-1#/v2/executions/details/{EXECUTION}\n"
        "Job: https://eu-west-1.console.aws.amazon.com/emr/home?region=eu-west-1#/serverless/applications/00app/jobs/00job\n"
        "Job log: s3://a-bucket/logs/applications/00app/jobs/00job/\n"
        "Report: s3://a-bucket/runs/orders/job.json\n"
    )


@pytest.mark.parametrize(
    ("partition", "console"),
    [
        ("aws", "https://eu-west-1.console.aws.amazon.com"),
        ("aws-cn", "https://eu-west-1.console.amazonaws.cn"),
        ("aws-us-gov", "https://eu-west-1.console.amazonaws-us-gov.com"),
    ],
)
def test_links_lead_to_the_console_of_the_partition(partition, console):
    arn = DEPLOYMENT.state_machine_arn.replace("arn:aws:", f"arn:{partition}:")
    text = success_mail(done(), replace(DEPLOYMENT, state_machine_arn=arn)).text
    assert f"Execution: {console}/states/home" in text
    assert f"Job: {console}/emr/home" in text


@pytest.mark.parametrize("partition", ["aws-eusc", "aws-iso", "aws-iso-b"])
def test_where_no_console_is_known_the_arns_say_where_to_look(partition):
    arn = DEPLOYMENT.state_machine_arn.replace("arn:aws:", f"arn:{partition}:")
    text = success_mail(done(), replace(DEPLOYMENT, state_machine_arn=arn)).text
    assert f"Execution: {EXECUTION}\n" in text
    job = f"arn:{partition}:emr-serverless:eu-west-1:111122223333:/applications/00app/jobruns/00job"
    assert f"Job: {job}\nJob log: s3://" in text
    assert "https://" not in text


@pytest.mark.parametrize(
    ("event", "lines"),
    [
        pytest.param(
            done(plan("12:00"), job="load", counts={"read": 3, "inserted": 3}),
            [
                "Loaded orders into database.orders.",
                "From the full export at 2026-11-21T12:00:00Z.",
                "Read 3 items, wrote 3 rows.",
            ],
            id="a load",
        ),
        pytest.param(
            done(plan("10:00 12:00", BACKFILL), job="backfill"),
            ["Backfilled orders into database.orders."],
            id="a backfill",
        ),
        pytest.param(
            done(plan("20/12:00 12:00 13:00")),
            ["From 2 windows, 2026-11-20T12:00:00Z to 2026-11-21T13:00:00Z."],
            id="a backlog",
        ),
        pytest.param(
            done(counts={**COUNTS, "transient": 2}),
            ["+ 2 inserted and deleted again within these windows."],
            id="folded windows",
        ),
        pytest.param(
            done(
                counts={**COUNTS, "misfits": 5},
                misfits=[{"path": "/price", "type": "S", "count": 5, "example": '{"id":"a"}'}],
                new_columns=[{"column": "size", "path": "/size", "type": "bigint"}],
                changed_columns=[{"column": "n", "path": "/n", "before": "string"}],
            ),
            [
                '  /price: 5 of type S, such as that of {"id":"a"}\nNew columns:\n  size: bigint\nChanged columns:\n',
                "Changed columns:\n  n: string before, there no more\n",
            ],
            id="misfits, new and changed columns",
        ),
        pytest.param(done(continuity="2 old images differ."), ["Warning: 2 old images differ."], id="a warning"),
        pytest.param(done(taken_over_from=EXECUTION), ["Finished what abc had begun."], id="a takeover"),
        pytest.param(done(job_run={}), ["Estimated cost: 0.0010 US dollars."], id="nothing known of the job's cost"),
        pytest.param(done(job_run={"id": "00job", "billed": None}), ["Estimated cost: 0.0010"], id="a cost of null"),
    ],
)
def test_a_success_mail_tells_what_was_special(event, lines):
    text = success_mail(event, DEPLOYMENT).text
    assert [line for line in lines if line not in text] == []


@pytest.mark.parametrize(
    ("choice", "mode", "by_schedule", "at_once"),
    [
        ("every_run", UPDATE, True, True),
        ("daily", UPDATE, True, False),
        ("never", UPDATE, True, False),
        ("never", UPDATE, False, True),
        ("never", BACKFILL, True, True),
    ],
)
def test_what_the_schedule_does_is_told_as_the_settings_want_it_and_what_a_person_asked_for_always(
    choice, mode, by_schedule, at_once
):
    asked = {"scheduled_time": "2026-11-21T13:00:00Z"} if by_schedule else {"table": "orders"}
    for planned in ({"kind": "Export", "mode": mode}, {"kind": "Record", "unrecorded": mode}):
        assert is_told_at_once({"input": asked, "plan": {**planned, "success_mail": choice}}) is at_once


@pytest.mark.parametrize("choice", ["every_run", "daily", "never"])
def test_that_somebody_has_changed_the_parameter_is_always_told(choice):
    planned = {"kind": "Record", "unrecorded": "", "success_mail": choice}
    assert is_told_at_once({"input": {"scheduled_time": "2026-11-21T13:00:00Z"}, "plan": planned})


def test_a_quiet_window_is_told_without_notes():
    text = success_mail(done(counts={"read": 0}), DEPLOYMENT).text
    assert "Read 0 records = 0 inserted + 0 updated + 0 deleted" in text
    assert "\n\n\n" not in text


@pytest.mark.parametrize(
    ("recorded", "told"),
    [("", "last-export-time of orders was missing"), ("2026-11-21T14:00:00Z", "of orders said 2026-11-21T14:00:00Z")],
)
def test_a_corrected_parameter_is_told_with_what_it_said(recorded, told):
    event = done(new_columns=[{"column": "size", "path": "/size", "type": "bigint"}])
    event["plan"] = {"kind": "Record", "table": "orders", "recorded": recorded, "history": {}}
    mail = success_mail(event, DEPLOYMENT)
    assert told in mail.text
    assert "The table is the truth" in mail.text
    assert "Read 15 records = 5 inserted" in mail.text
    assert "New columns:\n  size: bigint\n" in mail.text
    assert "Report: s3://a-bucket/runs/orders/job.json\n" in mail.text
    assert mail.subject == "[Tidemark] OK orders: last-export-time corrected to 2026-11-21T13:00:00Z"
    facts = {"status": "SUCCESS", "table": "orders", "recorded": recorded, "watermark": "2026-11-21T13:00:00Z"}
    assert mail.facts == {**facts, "report": event["report"], "execution": EXECUTION}


@pytest.mark.parametrize(
    ("mode", "recorded", "told"),
    [
        ("full", "2026-11-21T12:00:00Z", True),
        ("full", "2026-11-21T13:00:00Z", False),
        ("full", "", False),
        ("verify", "2026-11-21T12:00:00Z", False),
    ],
)
def test_a_late_mail_says_what_the_parameter_said_where_it_was_written_again(mode, recorded, told):
    event = done()
    event["plan"] |= {"kind": "Record", "mode": mode, "recorded": recorded, "unrecorded": mode}
    text = success_mail({**event, "exports": []}, DEPLOYMENT).text
    assert "so this may be the first mail about it" in text
    assert (f"last-export-time said {recorded}; it says what the table does now.\n" in text) is told


def test_a_full_export_that_nobody_has_asked_for_says_why_it_was_made():
    event = done()
    event["plan"]["because"] = "the watermark is older than all history"
    text = success_mail(event, DEPLOYMENT).text
    assert "\nRebuilt by itself, because history was lost: the watermark is older than all history.\n" in text
