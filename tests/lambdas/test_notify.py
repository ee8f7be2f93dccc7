"""The mails arrive: with their text for people, their JSON for machines, and at those who asked for that kind."""

from __future__ import annotations

import json
from email.message import EmailMessage
from typing import Any

import pytest

from lambdas import notify_failure, notify_success
from tests.lambdas.account import Account, call
from tests.pipeline.rounds import done

pytestmark = pytest.mark.local_aws
PLAN = {"kind": "Export", "table": "orders", "job_id": "job-1"}


def failed(
    state: str = "RunSparkJob", error: str = "States.TaskFailed", cause: str = "{}", **event: Any
) -> dict[str, Any]:
    failure = {"state": state, "error": error, "cause": cause}
    usual = {"input": {"table": "orders"}, "execution": "arn:aws:states:…:execution", "plan": PLAN}
    return call(notify_failure.handler, **{**usual, **event, "failure": failure})


def only_mail(account: Account, before: int) -> EmailMessage:
    (mail,) = account.aws.outbox()[before:]
    return mail


@pytest.fixture
def before(account: Account) -> int:
    """How many mails there were: the outbox outlives a test."""
    return len(account.aws.outbox())


def test_a_success_reaches_those_who_asked_for_it(account: Account, before: int):
    told = call(notify_success.handler, **done())
    mail = only_mail(account, before)
    assert (mail["To"], [mail["Subject"]]) == ("ok@example.com", told["subjects"])
    assert "Merged orders into tidemark.orders." in mail.get_content()


def test_what_a_merge_has_met_is_warned_of_even_where_successes_are_not_told(account: Account, before: int):
    event = done(continuity="2 had no row in the table.")
    event["plan"]["success_mail"] = "never"
    told = call(notify_success.handler, **event)
    mail = only_mail(account, before)
    assert (mail["To"], [mail["Subject"]]) == ("night@example.com", told["subjects"])
    assert "2 had no row in the table." in mail.get_content()


def test_a_failure_reaches_those_who_asked_for_it_and_is_called_the_same_in_the_execution(
    account: Account, before: int
):
    cause = json.dumps({"errorMessage": "It is off.\nTo do: Turn it on.", "errorType": "PitrOff"})
    told = failed("StartExports", "PitrOff", cause)
    mail = only_mail(account, before)
    assert (mail["To"], mail["Subject"]) == ("night@example.com", "[Tidemark] FAILED orders: PitrOff")
    assert "It is off." in mail.get_content()
    assert told == {"state": "StartExports", "error": "PitrOff", "cause": "It is off.\nTo do: Turn it on."}


def test_a_job_s_refusal_is_called_what_its_report_calls_it(account: Account, before: int):
    account.write_report("job-1", outcome="refused", error="Gap", message="They do not touch.", remedy="Find it.")
    assert failed() == {"state": "RunSparkJob", "error": "Gap", "cause": "They do not touch.\nTo do: Find it."}
    assert only_mail(account, before)["Subject"].endswith(": Gap")


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
    assert only_mail(account, before)["Subject"] == "[Tidemark] FAILED unknown: InputRefused"
