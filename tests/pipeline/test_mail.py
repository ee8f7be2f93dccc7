"""The mails, as a person reads them."""

from __future__ import annotations

import re

import pytest

from pipeline.errors import error_names
from pipeline.execution_input import BACKFILL, UPDATE
from pipeline.horizon import Horizon
from pipeline.incidents import Incident, Kind
from pipeline.mail import is_told_at_once, success_mail
from tests.pipeline.rounds import COUNTS, done, failed
from tests.pipeline.world import DEPLOYMENT, EXECUTION, MACHINE, at, plan


def test_a_merge_accounts_for_every_record():
    mail = success_mail(done(), DEPLOYMENT)
    assert mail.subject == "[Tidemark] OK orders: 15 records, at 2026-11-21T13:00:00Z"
    assert mail.text == (
        "Merged orders into database.orders.\n"
        "\n"
        "The table shows every change before 2026-11-21T13:00:00Z.\n"
        "From one window, 2026-11-21T12:00:00Z to 2026-11-21T13:00:00Z.\n"
        "\n"
        "Read 15 records = 5 inserted + 4 updated + 3 deleted + 2 already there + 1 deletes of unknown keys.\n"
        "\n"
        "Behind the present by 12 min 30 s; took 7 min 30 s.\n"
        "History would be lost in 35 days 0 h (0 % of the recovery period of 35 days used).\n"
        "Estimated cost: 0.0431 US dollars.\n"
        "\n"
        f"Execution: https://eu-west-1.console.aws.amazon.com/states/home?region=eu-west-1#/v2/executions/details/{EXECUTION}\n"
        "Job: https://eu-west-1.console.aws.amazon.com/emr/home?region=eu-west-1#/serverless/applications/00app/jobs/00job\n"
        "Job log: s3://a-bucket/logs/applications/00app/jobs/00job/\n"
        "Report: s3://a-bucket/runs/orders/job.json\n"
    )


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
        pytest.param(done(counts={**COUNTS, "transient": 2}), ["+ 2 of keys that came and went"], id="folded windows"),
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
        ("daily", "", True, False),
    ],
)
def test_what_the_schedule_does_is_told_as_the_settings_want_it_and_what_a_person_asked_for_always(
    choice, mode, by_schedule, at_once
):
    asked = {"scheduled_time": "2026-11-21T13:00:00Z"} if by_schedule else {"table": "orders"}
    planned = {"success_mail": choice} | ({"mode": mode} if mode else {})
    assert is_told_at_once({"input": asked, "plan": planned}) is at_once


def test_a_quiet_window_is_told_without_notes():
    text = success_mail(done(counts={"read": 0}), DEPLOYMENT).text
    assert "Read 0 records = 0 inserted + 0 updated + 0 deleted" in text
    assert "\n\n\n" not in text


@pytest.mark.parametrize(
    ("recorded", "told"),
    [("", "last-export-time of orders was missing"), ("2026-11-21T14:00:00Z", "of orders said 2026-11-21T14:00:00Z")],
)
def test_a_corrected_parameter_is_told_with_what_it_said(recorded, told):
    event = done()
    event["plan"] = {"kind": "Record", "table": "orders", "recorded": recorded, "history": {}}
    mail = success_mail(event, DEPLOYMENT)
    assert told in mail.text
    assert "The table is the truth" in mail.text
    assert mail.subject == "[Tidemark] OK orders: last-export-time corrected to 2026-11-21T13:00:00Z"


def test_a_failure_mail_says_what_happened_what_heals_and_what_helps():
    mail = failed()
    assert mail.subject == "[Tidemark] FAILED orders: Gap"
    assert mail.text == (
        "Gap in RunSparkJob, while bringing orders up to date.\n"
        "\n"
        "What happened:\n"
        "What happened there.\n"
        "\n"
        "The table and its watermark are as they were.\n"
        "\n"
        "What the pipeline does by itself: The next scheduled run tries again by itself.\n"
        "What to do: What helps.\n"
        f"""The command: aws stepfunctions start-execution --state-machine-arn {MACHINE} --input '{{"table":"orders"}}'\n"""
        "The manual: docs/operations.md, section Gap\n"
        "\n"
        f"Execution: https://eu-west-1.console.aws.amazon.com/states/home?region=eu-west-1#/v2/executions/details/{EXECUTION}\n"
    )


@pytest.mark.parametrize("name", error_names())
def test_every_error_renders_a_mail_with_its_command_ready_to_paste(name):
    mail = failed(name)
    command = mail.facts["command"]
    assert f"The command: {command}\n" in mail.text
    assert f"section {name}\n" in mail.text
    assert not re.search("[<>]", command)
    assert mail.subject.endswith(f": {name}")
    heals = error_names()[name].heals_by_itself
    assert ("tries again by itself" in mail.text) is heals
    assert ("a person must act" in mail.text) is not heals


def test_a_command_speaks_of_the_table_at_hand():
    assert failed("ControlUnknown").facts["command"].endswith("--name /tidemark/Tidemark/orders/control --value RUN")
    assert '"mode":"full"' in failed("HistoryLost").facts["command"]
    assert "--table-name orders " in failed("PitrOff").facts["command"]


def test_a_failure_of_another_name_is_not_sent_to_a_section_that_does_not_exist():
    assert "The manual: docs/operations.md\n" in failed("Lambda.Unknown", "Plan").text


@pytest.mark.parametrize(
    ("error", "state", "told"),
    [
        ("Gap", "RunSparkJob", "The table and its watermark are as they were."),
        ("AwsUnavailable", "StartExports", "The table and its watermark are as they were."),
        ("AwsUnavailable", "RecordWatermark", "only last-export-time may still be the old one"),
        ("WatermarkNotCommitted", "RecordWatermark", "look at it"),
        ("JobFailed", "RunSparkJob", "everything this run was to bring, or nothing of it"),
    ],
)
def test_a_failure_mail_claims_no_more_about_the_table_than_is_known(error, state, told):
    assert told in failed(error, state).text


def test_a_failure_of_the_schedule_says_when_the_next_mail_comes_and_how_much_time_there_is():
    incident = Incident(at("12:00"), at("10:00"), (Kind("JobFailed", "RunSparkJob", "update"),))
    horizon = Horizon(at("10:00"), at("01/12:00"), at("13:00"), 35)
    mail = failed(horizon=horizon, incident=incident)
    assert (
        "The manual: docs/operations.md, section Gap\n"
        "\n"
        "History would be lost in 34 days 21 h (0 % of the recovery period of 35 days used).\n"
        "The next mail about it comes when it changes, or when it is over.\n"
        "If you have acted and hear nothing, start a run yourself: its failure is always mailed.\n"
        "\n"
        "Execution: "
    ) in mail.text
    assert mail.facts["history_left_seconds"] == (34 * 24 + 21) * 3600


def test_a_failure_that_follows_others_says_what_went_before():
    kinds = (
        Kind("PitrOff", "Plan"),
        Kind("JobFailed", "RunSparkJob", "backfill"),
        Kind("Gap", "RunSparkJob", "update"),
    )
    text = failed(incident=Incident(at("12:00"), None, kinds)).text
    told = "Told before: PitrOff in Plan; JobFailed in RunSparkJob (backfill)."
    assert f"Runs have failed since 2026-11-21T12:00:00Z. {told}\n" in text


FULL = {"mode": "full"}
ASK_FOR_FULL = """--input '{"table":"orders","mode":"full"}'"""


@pytest.mark.parametrize("error", ["AwsUnavailable", "AnotherRunAtWork"])
def test_a_full_export_that_no_run_has_claimed_is_to_be_asked_for_again(error):
    mail = failed(error, "Plan", asked=FULL)
    assert mail.facts["command"].endswith(ASK_FOR_FULL)
    assert "tries again by itself" not in mail.text
    assert "no run has it to do" in mail.text
    assert mail.text.count("start-execution") == 1


def test_where_something_is_to_be_mended_first_the_wish_follows():
    mail = failed("PitrOff", "Plan", asked=FULL, planned={"kind": "Halt", "table": "orders"})
    assert "PointInTimeRecoveryEnabled=true" in mail.facts["command"]
    assert mail.facts["ask_again"].endswith(ASK_FOR_FULL)
    assert f"Then ask again for what was not begun: {mail.facts['ask_again']}\n" in mail.text


def test_a_backfill_is_asked_for_again_from_the_same_instant():
    start = "2026-11-21T09:00:00Z"
    mail = failed("AnotherRunAtWork", "Plan", asked={"mode": "backfill", "from": start})
    assert mail.facts["command"].endswith(f"""'{{"table":"orders","mode":"backfill","from":"{start}"}}'""")


@pytest.mark.parametrize(
    ("error", "asked", "planned"),
    [
        pytest.param("AwsUnavailable", {}, {}, id="an update comes again by itself"),
        pytest.param("AwsUnavailable", {**FULL, "dry_run": True}, {}, id="a dry run was to do nothing"),
        pytest.param(
            "JobFailed", FULL, {"kind": "Export", "mode": "full"}, id="what is claimed is finished by the next"
        ),
        pytest.param("InputRefused", {"mode": "backfill", "from": "tomorrow"}, {}, id="a wish that cannot be"),
    ],
)
def test_what_comes_by_itself_or_cannot_be_is_not_to_be_asked_for_again(error, asked, planned):
    mail = failed(error, "Plan", asked=asked, planned=planned)
    assert mail.facts["ask_again"] == ""
    assert "no run has it to do" not in mail.text
    assert ASK_FOR_FULL not in mail.text
