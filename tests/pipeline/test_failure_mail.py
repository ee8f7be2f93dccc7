"""The mails about failed runs, as a person reads them."""

from __future__ import annotations

import re

import pytest

from pipeline.errors import error_names
from pipeline.mails.told import FailureKind
from pipeline.planning.horizon import Horizon
from tests.pipeline.rounds import PLANNED, failed
from tests.pipeline.world import EXECUTION, MACHINE, at, incident


def test_a_failure_mail_says_what_happened_what_heals_and_what_helps():
    mail = failed()
    assert mail.subject == "[Tidemark] FAILED orders: Gap"
    assert mail.text == (
        "Gap in RunSparkJob, while bringing orders up to date.\n"
        "\n"
        "What happened:\n"
        "What happened there.\n"
        "\n"
        "The table, or an export, is not any more what this run was planned for, as when somebody changes it meanwhile; "
        "the run has brought nothing into it.\n"
        "\n"
        "What the pipeline does by itself: The next scheduled run tries again by itself.\n"
        "What to do: What helps.\n"
        f"The command: aws stepfunctions start-execution --region eu-west-1 --state-machine-arn {MACHINE} "
        """--input '{"table":"orders"}'\n"""
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


def test_whoever_meets_somebody_else_s_wish_that_is_given_up_is_told_how_to_ask_for_both():
    given_up = '{"table":"orders","mode":"backfill","from":"2026-11-20T00:00:00Z"}'
    halt = {"kind": "Halt", "table": "orders", "ends": "backfill-1", "asked": given_up}
    facts = failed("WishGivenUp", "Plan", asked={"mode": "verify"}, planned=halt).facts
    assert facts["command"].endswith(f"--input '{given_up}'")
    assert facts["ask_again"].endswith("""--input '{"table":"orders","mode":"verify"}'""")


def test_a_command_speaks_of_the_table_at_hand():
    assert failed("ControlUnknown").facts["command"].endswith("--name /tidemark/Tidemark/orders/control --value RUN")
    assert '"mode":"full"' in failed("HistoryLost").facts["command"]
    assert "--table-name orders " in failed("PitrOff").facts["command"]


def test_a_failure_of_another_name_is_not_sent_to_a_section_that_does_not_exist():
    assert "The manual: docs/operations.md\n" in failed("Lambda.Unknown", "Plan").text


MOVED = ("Gap", "Overlap", "TableContended", "WatermarkMissing")


@pytest.mark.parametrize(
    ("error", "state", "told"),
    [
        ("CountMismatch", "RunSparkJob", "This failure has left the table and its watermark as they were."),
        ("WatermarkMissing", "Plan", "This failure has left the table and its watermark as they were."),
        *(
            (moved, "RunSparkJob", "The table, or an export, is not any more what this run was planned for")
            for moved in MOVED
        ),
        ("ExportTimedOut", "CheckExports", "This failure has left the table and its watermark as they were."),
        ("AwsUnavailable", "StartExports", "This failure has left the table and its watermark as they were."),
        ("AwsUnavailable", "RecordWatermark", "only last-export-time may still be the old one"),
        ("WatermarkNotCommitted", "RecordWatermark", "look at it"),
        ("DatabaseMissing", "RecordWatermark", "nothing shows what this run has brought"),
        ("TableFilesMissing", "RecordWatermark", "nothing shows what this run has brought"),
        ("JobFailed", "RunSparkJob", "everything this run was to bring, or nothing of it"),
    ],
)
def test_a_failure_mail_claims_no_more_about_the_table_than_is_known(error, state, told):
    text = failed(error, state).text
    assert told in text
    assert ("as they were" in text) is ("as they were" in told)


def test_maintenance_of_a_table_that_was_rolled_back_meanwhile_says_so_too():
    text = failed("Overlap", planned={**PLANNED, "mode": "maintain"}).text
    assert "the run has brought nothing into it. Some of its files may be in order already.\n" in text
    assert "as they were" not in text


@pytest.mark.parametrize(("error", "state"), [("JobFailed", "RunSparkJob"), ("AwsUnavailable", "RecordWatermark")])
def test_of_a_verification_which_brings_nothing_it_is_not_said_that_it_may_have(error, state):
    text = failed(error, state, planned={**PLANNED, "mode": "verify"}).text
    assert "\nThis failure has left the table and its watermark as they were.\n" in text


def test_a_failure_of_the_schedule_says_when_the_next_mail_comes_and_how_much_time_there_is():
    failing = incident("12:00", "10:00", FailureKind("JobFailed", "RunSparkJob", "update"))
    horizon = Horizon(at("10:00"), at("01/12:00"), at("13:00"), 35)
    mail = failed(horizon=horizon, incident=failing)
    assert (
        "The manual: docs/operations.md, section Gap\n"
        "\n"
        "The watermark was 2026-11-21T10:00:00Z when this round began.\n"
        "History would be lost in 34 days 21 h (0 % of the recovery period of 35 days used).\n"
        "The next mail about it comes when it changes, or when it is over.\n"
        "If you have acted and hear nothing, start a run yourself: its failure is always mailed.\n"
        "\n"
        "Execution: "
    ) in mail.text
    assert mail.facts.items() >= {"watermark": "2026-11-21T10:00:00Z", "history_left_seconds": 837 * 3600}.items()


def test_of_a_wish_that_failed_no_mail_is_promised_when_it_is_over():
    wished = incident("12:00", "10:00", FailureKind("JobFailed", "RunSparkJob", "backfill"))
    assert "The next mail about it comes when it changes.\n" in failed(incident=wished).text


def test_a_failure_that_follows_others_says_what_went_before():
    kinds = (
        FailureKind("PitrOff", "Plan"),
        FailureKind("JobFailed", "RunSparkJob", "backfill"),
        FailureKind("Gap", "RunSparkJob", "update"),
    )
    text = failed(incident=incident("12:00", "", *kinds)).text
    told = "Told before: PitrOff in Plan; JobFailed in RunSparkJob (backfill)."
    assert f"Runs have failed since 2026-11-21T12:00:00Z. {told}\n" in text


FULL = {"mode": "full"}
ASK_FOR_FULL = """--input '{"table":"orders","mode":"full"}'"""


@pytest.mark.parametrize("error", ["AwsUnavailable", "AnotherRunAtWork"])
def test_a_full_export_that_no_run_has_claimed_is_to_be_asked_for_again(error):
    mail = failed(error, "Plan", asked=FULL)
    assert mail.facts["command"].endswith(ASK_FOR_FULL)
    assert "tries again by itself" not in mail.text
    assert "no later run will do it" in mail.text
    assert mail.text.count("start-execution") == 1


def test_a_full_export_before_which_a_parameter_could_not_be_corrected_is_to_be_asked_for_again():
    planned = {"kind": "Record", "table": "orders", "fulfils": False}
    mail = failed("PermissionMissing", "RecordWatermark", asked=FULL, planned=planned)
    assert mail.facts["ask_again"].endswith(ASK_FOR_FULL)
    assert "everything this run was to bring" not in mail.text
    assert "only last-export-time may still say something else" in mail.text


def test_where_something_is_to_be_mended_first_the_wish_follows():
    mail = failed("PitrOff", "Plan", asked=FULL, planned={"kind": "Halt", "table": "orders"})
    assert "PointInTimeRecoveryEnabled=true" in mail.facts["command"]
    assert mail.facts["ask_again"].endswith(ASK_FOR_FULL)
    assert f"Then ask again for what was not done: {mail.facts['ask_again']}\n" in mail.text


def test_a_backfill_is_asked_for_again_from_the_same_instant():
    start = "2026-11-21T09:00:00Z"
    mail = failed("AnotherRunAtWork", "Plan", asked={"mode": "backfill", "from": start})
    assert mail.facts["command"].endswith(f"""'{{"table":"orders","mode":"backfill","from":"{start}"}}'""")


@pytest.mark.parametrize("work", [{"mode": "update"}, {"mode": "backfill", "start": "2026-11-20T00:00:00Z"}])
def test_a_wish_that_was_behind_somebody_else_s_work_is_to_be_asked_for_again(work):
    asked = {"mode": "backfill", "from": "2026-11-21T09:00:00Z"}
    mail = failed("JobFailed", asked=asked, planned={"kind": "Export", "table": "orders", "job_id": "j", **work})
    assert '"from":"2026-11-21T09:00:00Z"' in mail.facts["command"]
    assert "no later run will do it" in mail.text


@pytest.mark.parametrize(
    ("error", "asked", "planned"),
    [
        pytest.param("AwsUnavailable", {}, {}, id="an update comes again by itself"),
        pytest.param(
            "AwsUnavailable", FULL, {"kind": "Record", "fulfils": True}, id="what is done is only to be recorded"
        ),
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
    assert "no later run will do it" not in mail.text
    assert ASK_FOR_FULL not in mail.text


REPORT = "Report: s3://a-bucket/runs/orders/the-job.json\n"
LOGS = "s3://a-bucket/logs/applications/00app/jobs/"


def test_a_failed_job_is_linked_with_its_log_and_the_report_that_it_has_left():
    text = failed("Gap", planned=PLANNED, job_run="00run", reported=True).text
    assert "#/serverless/applications/00app/jobs/00run\n" in text
    assert f"Job log: {LOGS}00run/\n{REPORT}" in text
    assert REPORT not in failed("JobFailed", planned=PLANNED, job_run="00run").text
    assert REPORT in failed("AwsUnavailable", "RecordWatermark", planned=PLANNED).text


@pytest.mark.parametrize("error", ["JobFailed", "WishGivenUp"])
def test_where_the_job_run_is_not_known_all_their_logs_are(error):
    assert failed(error, "Plan").text.endswith(f"Job logs: {LOGS}\n")


@pytest.mark.parametrize(
    ("error", "remedy", "command", "then"),
    [
        ("ChecksumMismatch", "Ask for it again.", "verify", ""),
        ("VerificationFailed", "What helps.", "full", ""),
        ("OverrideContradicted", "What helps.", "make deploy", "verify"),
    ],
)
def test_a_verification_that_the_job_has_refused_is_for_whoever_wants_it_to_ask_for_again(error, remedy, command, then):
    facts = failed(error, planned={**PLANNED, "mode": "verify"}, reported=True).facts
    assert (facts["remedy"], facts["heals_by_itself"]) == (remedy, False)
    assert command in facts["command"]
    assert (f'"mode":"{then}"' in facts["ask_again"]) is bool(then)


@pytest.mark.parametrize(
    ("mode", "error", "command", "then"),
    [
        ("full", "OverrideContradicted", "make deploy", '"mode":"full"'),
        ("full", "HashSecretUnfit", '"mode":"full"', ""),
        ("backfill", "OverrideContradicted", "make deploy", '"from":"2026-'),
        ("backfill", "RebuildNeeded", '"mode":"full"', ""),
        ("backfill", "ChecksumMismatch", '{"table":"orders"}', ""),
        ("update", "OverrideContradicted", "make deploy", ""),
    ],
)
def test_a_wish_that_its_job_has_refused_for_good_is_to_be_asked_for_again(mode, error, command, then):
    facts = failed(error, planned={**PLANNED, "mode": mode}, reported=True).facts
    assert command in facts["command"]
    assert (then in facts["ask_again"]) if then else facts["ask_again"] == ""
