"""The mails arrive: with their text for people, their JSON for machines, and at those who asked for that kind."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from email.message import EmailMessage
from typing import Any

import pytest

from lambdas import notify_failure, notify_success
from pipeline.deployment import Deployment
from pipeline.mails.success import success_mail
from tests.lambdas.account import DEPLOYMENT, Account, call
from tests.pipeline.rounds import done

pytestmark = pytest.mark.local_aws
PLAN = {"kind": "Export", "table": "orders", "job_id": "job-1"}
TOKEN = "job-1-0"  # noqa: S105 - the name of a try


def failed(
    state: str = "RunSparkJob", error: str = "States.TaskFailed", cause: str = "{}", **event: Any
) -> dict[str, Any]:
    failure = {"state": state, "error": error, "cause": cause}
    usual = {
        "input": {"table": "orders"},
        "execution": "arn:aws:states:…:execution",
        "plan": PLAN,
        "clientToken": TOKEN,
    }
    return call(notify_failure.handler, **{**usual, **event, "failure": failure})


def only_mail(account: Account, before: int) -> EmailMessage:
    (mail,) = account.aws.outbox()[before:]
    return mail


@pytest.fixture
def before(account: Account) -> int:
    """How many mails there were: the outbox outlives a test."""
    return len(account.aws.outbox())


@pytest.fixture
def machine(account: Account) -> Callable[[], tuple[dict[str, Any], dict[str, str]]]:
    """A queue that is subscribed to the topic, without a filter: its only message's JSON, and its attributes."""
    sqs = account.aws.client("sqs")
    queue = sqs.create_queue(QueueName="machine")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    account.aws.client("sns").subscribe(TopicArn=DEPLOYMENT.topic_arn, Protocol="sqs", Endpoint=arn)

    def received() -> tuple[dict[str, Any], dict[str, str]]:
        (message,) = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
        body = json.loads(message["Body"])
        return json.loads(body["Message"]), {name: a["Value"] for name, a in body["MessageAttributes"].items()}

    return received


def test_a_success_reaches_those_who_asked_for_it(account: Account, before: int):
    told = call(notify_success.handler, **done())
    mail = only_mail(account, before)
    assert (mail["To"], [mail["Subject"]]) == ("ok@example.com", told["subjects"])
    assert "Merged orders into tidemark.orders." in mail.get_content()


def test_what_a_merge_has_met_is_warned_of_even_where_successes_are_not_told(account: Account, before: int):
    event = done(continuity="Of the old images, 2 have no row.")
    event["plan"]["success_mail"] = "never"
    told = call(notify_success.handler, **event)
    mail = only_mail(account, before)
    assert (mail["To"], [mail["Subject"]]) == ("night@example.com", told["subjects"])
    assert "Of the old images, 2 have no row." in mail.get_content()


def test_a_failure_reaches_those_who_asked_for_it_and_is_called_the_same_in_the_execution(
    account: Account, before: int
):
    cause = json.dumps({"errorMessage": "It is off.\nTo do: Turn it on.", "errorType": "PitrOff"})
    told = failed("StartExports", "PitrOff", cause)
    mail = only_mail(account, before)
    assert (mail["To"], mail["Subject"]) == ("night@example.com", "[Tidemark] FAILED orders: PitrOff")
    assert "It is off." in mail.get_content()
    assert told == {"state": "StartExports", "error": "PitrOff", "cause": "It is off.\nTo do: Turn it on."}


def test_half_a_character_as_json_may_spell_one_keeps_no_mail_back(account: Account, before: int):
    cause = json.dumps({"errorMessage": 'table is "or\ud83dders".', "errorType": "InputRefused"})
    failed("Plan", "InputRefused", cause, input={"table": "or\ud83dders"}, plan={})
    text = only_mail(account, before).get_content()
    assert 'table is "or?ders".' in text
    assert '--input \'{"table":"or?ders"}\'' in text


def test_an_execution_promises_no_other_try_of_what_no_later_run_does(account: Account, before: int):
    """Whoever has asked for more than an update reads in the console what the mail says."""
    said = {"errorMessage": "Busy.\nTo do: Nothing to do: the next scheduled run tries again."}
    asked = {"table": "orders", "mode": "verify"}
    told = failed("Plan", "AwsUnavailable", json.dumps(said), plan={}, input=asked)
    remedy = told["cause"].removeprefix("Busy.\nTo do: ")
    assert remedy.startswith("Look first at the table's parameters run/<n>:")
    assert f"What to do: {remedy}" in " ".join(only_mail(account, before).get_content().split())


def test_a_machine_gets_the_facts_of_a_failure_as_json_and_what_filters_go_by(account: Account, machine: Callable):
    cause = json.dumps({"errorMessage": "It is off: “orders”.\nTo do: Turn it on.", "errorType": "PitrOff"})
    failed("StartExports", "PitrOff", cause)
    facts, attributes = machine()
    assert attributes == {"status": "FAILURE", "list": "failure", "table": "orders"}
    assert "--table-name orders" in facts.pop("command")
    assert facts == {
        "status": "FAILURE",
        "table": "orders",
        "state": "StartExports",
        "error": "PitrOff",
        "message": "It is off: “orders”.",
        "remedy": "Turn it on.",
        "ask_again": "",
        "heals_by_itself": False,
        "watermark": None,
        "history_left_seconds": None,
        "job_run": "",
        "wish_ended": "",
        "execution": "arn:aws:states:…:execution",
    }


def test_a_machine_gets_the_facts_of_a_success_as_json_and_what_filters_go_by(account: Account, machine: Callable):
    event = done()
    call(notify_success.handler, **event)
    facts, attributes = machine()
    assert attributes == {"status": "SUCCESS", "list": "success", "table": "orders"}
    assert facts == success_mail(event, Deployment.from_environment(os.environ)).facts
    assert facts["report"]["counts"]["read"] == 15


def test_a_job_s_refusal_is_called_what_its_report_calls_it(account: Account, before: int):
    refusal = {"error": "Gap", "message": "They do not touch.", "remedy": "Find it."}
    account.write_report("job-1", outcome="refused", client_token=TOKEN, **refusal)
    assert failed() == {"state": "RunSparkJob", "error": "Gap", "cause": "They do not touch.\nTo do: Find it."}
    assert only_mail(account, before)["Subject"].endswith(": Gap")


def test_what_an_earlier_try_of_the_same_work_has_reported_explains_no_later_one(account: Account, before: int):
    account.write_report("job-1", error="Gap", message="They do not touch.", remedy="Find it.", client_token=TOKEN)
    assert failed(clientToken="job-1-1")["error"] == "JobFailed"
    assert only_mail(account, before)["Subject"].endswith(": JobFailed")


def test_a_job_that_left_no_report_has_failed(account: Account, before: int):
    assert failed(cause=json.dumps({"StateDetails": "exit code 137"}))["error"] == "JobFailed"
    assert "exit code 137" in only_mail(account, before).get_content()


def test_a_report_that_cannot_be_read_does_not_keep_the_mail_from_being_sent(account: Account, before: int):
    account.lose_bucket()
    assert failed()["error"] == "JobFailed"
    assert only_mail(account, before)["Subject"].endswith(": JobFailed")


@pytest.mark.parametrize("asked", ["orders", {"table": "or\nders"}, {"table": ["x"]}, None], ids=repr)
def test_whatever_a_person_asked_for_the_mail_about_it_is_sent(account: Account, before: int, asked: Any):
    failed("Plan", "InputRefused", "…", plan={}, input=asked)
    assert only_mail(account, before)["Subject"] == "[Tidemark] FAILED an unknown table: InputRefused"


def test_who_adds_a_wish_to_an_input_of_the_schedule_is_answered_whatever_has_been_told(account: Account):
    before = len(account.aws.outbox())
    tick = {"table": "orders", "scheduled_time": "2026-11-21T12:15:00Z", "tick_minutes": 15}
    for asked in (tick, tick, {**tick, "mode": "verify"}):
        failed("Plan", "ControlUnknown", input=asked, plan={})
    told_once, answer = account.aws.outbox()[before:]
    assert "ask again" not in told_once.get_content()
    assert '"mode":"verify"' in answer.get_content(), "it was not begun, and is to be asked for again"
