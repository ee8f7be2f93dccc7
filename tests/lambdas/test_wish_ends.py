"""A wish whose run ends before its job does: the next run mails how it has ended, once."""

from __future__ import annotations

from typing import Any

import pytest

from lambdas import notify_failure, notify_success, record_watermark
from lambdas.plan import handler as plan_handler
from local.aws.state_limits import LARGEST_PAYLOAD_BYTES, payload_bytes
from pipeline.errors import AwsUnavailable, CallRefused
from pipeline.instants import parse_instant
from tests.lambdas.account import Account, call
from tests.lambdas.ticks import Schedule, plan

pytestmark = pytest.mark.local_aws
EQUAL = {"items": 3, "rows": 3, "equal": 3}
NO_MAIL = {"name": "no mail", "action": "sns:Publish", "code": "KMSDisabled", "status": 400, "times": 10**6}


def begins(account: Account, **asked: str) -> dict[str, Any]:
    """A person's run makes its claim and is stopped while its job runs."""
    execution = account.execution()
    planned = plan(execution, **asked)
    account.stop(execution)
    return planned


def runs(schedule: Schedule, *, by_schedule: bool = True, retried: bool = False) -> dict[str, Any]:
    """A run plans, and tells as the state machine would, twice if it is `retried`; returns its plan."""
    event = schedule.event(by_schedule=by_schedule)
    plan = call(plan_handler, input=event["input"], execution=event["execution"])
    if plan["kind"] == "Halt":
        event |= {"plan": plan, "clientToken": "", "failure": {"state": "Plan", **plan}}
        if retried:
            with pytest.raises(AwsUnavailable):
                call(notify_failure.handler, **event)
        call(notify_failure.handler, **event)
    if plan["kind"] == "Record":
        report = call(record_watermark.handler, plan=plan)
        told = {"plan": plan, "report": report, "exports": [], "jobRun": {}, "endedAt": "2026-11-21T23:59:59.000Z"}
        call(notify_success.handler, **event, **told)
    schedule.account.stop(event["execution"])
    return plan


def verified(account: Account, planned: dict[str, Any]) -> None:
    names = {name: planned[name] for name in ("job_id", "start")}
    account.write_report(
        planned["job_id"], outcome="verified", job="verify", watermark=planned["end"], counts=EQUAL, **names
    )


def refused(account: Account) -> None:
    """A verification whose run is stopped, and that has found differences."""
    planned = begins(account, mode="verify")
    account.write_report(planned["job_id"], outcome="refused", error="VerificationFailed", message="They differ.")


def test_a_refusal_of_any_length_is_told_in_what_a_state_may_hand_on(
    account: Account, schedule: Schedule, up_to_date: str
):
    """A larger answer would end every run of the table, with an error that no state can catch, and without a mail."""
    planned, long = begins(account, mode="verify"), "\U0001f600" * 20_000
    account.write_report(
        planned["job_id"], outcome="refused", error="VerificationFailed", message=f"They differ: {long}", remedy=long
    )
    assert payload_bytes(runs(schedule)) < LARGEST_PAYLOAD_BYTES
    assert schedule.subjects == ["FAILED orders: VerificationFailed"]
    assert "of which no run has told: They differ: " in schedule.last


@pytest.mark.parametrize("by_schedule", [True, False], ids=["by the schedule", "by a person's run"])
def test_differences_that_a_stopped_verification_has_found_are_mailed_by_the_next_run_once(
    account: Account, schedule: Schedule, up_to_date: str, by_schedule: bool
):
    planned = begins(account, mode="verify")
    account.write_report(
        planned["job_id"],
        outcome="refused",
        error="VerificationFailed",
        message="3 keys differ.",
        remedy="Read the differences.",
    )
    assert runs(schedule, by_schedule=by_schedule)["kind"] == "Halt"
    assert schedule.subjects == ["FAILED orders: VerificationFailed"]
    assert f"the verification ({planned['job_id']}), of which no run has told: 3 keys differ." in schedule.last
    assert "What to do: Read the differences." in schedule.last
    assert "Then ask again" not in schedule.last
    assert schedule.told().ended == planned["job_id"]
    assert runs(schedule)["reason"] == "UpToDate"
    assert schedule.subjects == ["FAILED orders: VerificationFailed"], "nor does an all-clear come"


def test_a_second_verification_of_one_outage_is_told_as_well(account: Account, schedule: Schedule, up_to_date: str):
    for number in (1, 2):
        refused(account)
        runs(schedule)
        assert schedule.subjects == number * ["FAILED orders: VerificationFailed"]


def test_it_is_told_also_where_its_mail_is_sent_at_the_second_try_only(
    account: Account, schedule: Schedule, up_to_date: str
):
    refused(account)
    runs(schedule)
    refused(account)
    account.aws.set_faults(
        {"name": "busy", "action": "sns:Publish", "code": "KMSThrottling", "status": 400, "times": 1}
    )
    runs(schedule, retried=True)
    assert schedule.subjects == 2 * ["FAILED orders: VerificationFailed"]


def test_a_verification_that_has_found_no_difference_is_told_though_its_run_was_stopped(
    account: Account, schedule: Schedule, up_to_date: str
):
    planned = begins(account, mode="verify")
    verified(account, planned)
    before = account.parameters()["last-export-time"]
    assert runs(schedule)["kind"] == "Record"
    assert schedule.subjects == [f"OK orders: verified, 0 differences, at {up_to_date}"]
    assert "Compared 3 items with 3 rows: 3 equal" in schedule.last
    assert "The run that began it ended before it could tell, so this may be the first mail about it." in schedule.last
    assert (schedule.told().ended, schedule.told().trusted) == (planned["job_id"], parse_instant(up_to_date))
    assert account.parameters()["last-export-time"] == before
    assert runs(schedule)["reason"] == "UpToDate"
    assert len(schedule.subjects) == 1


def test_a_backfill_that_was_committed_is_told_though_its_run_was_stopped(
    account: Account, schedule: Schedule, up_to_date: str
):
    planned = begins(account, mode="backfill", **{"from": account.instants(3)[0]})
    account.commit(parse_instant(up_to_date), planned["job_id"], read=12, updated=12)
    account.write_report(planned["job_id"], outcome="committed", job_id=planned["job_id"])
    assert runs(schedule)["kind"] == "Record"
    assert schedule.subjects == [f"OK orders: 12 records, at {up_to_date}"]
    assert "Read 12 records = 0 inserted + 12 updated" in schedule.last
    assert runs(schedule)["reason"] == "UpToDate"
    assert len(schedule.subjects) == 1


def test_what_its_own_run_has_told_is_not_told_again(account: Account, schedule: Schedule, up_to_date: str):
    event = schedule.event(by_schedule=False)
    asked = {**event["input"], "mode": "verify"}
    planned = call(plan_handler, input=asked, execution=event["execution"])
    verified(account, planned)
    report = call(record_watermark.handler, plan=planned)
    told = {"plan": planned, "report": report, "exports": [], "jobRun": {}, "endedAt": "2026-11-21T23:59:59.000Z"}
    call(notify_success.handler, **{**event, "input": asked}, **told)
    account.stop(event["execution"])
    assert runs(schedule)["reason"] == "UpToDate"
    assert len(schedule.subjects) == 1


def test_differences_whose_own_run_could_not_mail_them_are_told_by_the_next_one_once(
    account: Account, schedule: Schedule, up_to_date: str
):
    event = {**schedule.event(by_schedule=False), "input": {"table": "orders", "mode": "verify"}}
    planned = call(plan_handler, input=event["input"], execution=event["execution"])
    token = f"{planned['job_id']}-0"
    found = {"error": "VerificationFailed", "message": "3 keys differ.", "remedy": "Read.", "client_token": token}
    account.write_report(planned["job_id"], outcome="refused", **found)
    failure = {"state": "RunSparkJob", "error": "States.TaskFailed", "cause": "{}"}
    account.aws.set_faults(NO_MAIL)
    for retry in (0, 1):
        with pytest.raises(CallRefused, match="KMSDisabled"):
            call(notify_failure.handler, **event, plan=planned, clientToken=token, failure=failure, retries=retry)
    account.aws.set_faults()
    account.stop(event["execution"])
    assert runs(schedule)["kind"] == "Halt"
    assert schedule.subjects == ["FAILED orders: VerificationFailed"]
    assert "of which no run has told: 3 keys differ." in schedule.last
    assert runs(schedule)["reason"] == "UpToDate"
    assert len(schedule.subjects) == 1


def test_a_wish_whose_end_cannot_be_mailed_holds_its_table_up_for_no_second_run(
    account: Account, schedule: Schedule, up_to_date: str
):
    planned = begins(account, mode="verify")
    account.write_report(planned["job_id"], outcome="refused", error="VerificationFailed", message="They differ.")
    account.aws.set_faults(NO_MAIL)
    with pytest.raises(CallRefused, match="KMSDisabled"):
        runs(schedule)
    account.aws.set_faults()
    assert schedule.told().ended == planned["job_id"]
    assert runs(schedule)["reason"] == "UpToDate"
