"""What Plan looks at is read in an order: of work that has ended the table never shows the state of before.

And what somebody has put in the place of a report is none.
"""

from __future__ import annotations

from typing import Any

import pytest

from lambdas import notify_failure, record_watermark
from lambdas.aws import executions, parameters
from lambdas.plan import handler
from pipeline.errors import JobFailed
from tests.lambdas.account import DEPLOYMENT, Account, call
from tests.lambdas.ticks import Schedule, plan

pytestmark = pytest.mark.local_aws


def test_what_is_committed_while_it_is_looked_who_owns_the_work_is_seen(
    account: Account, monkeypatch: pytest.MonkeyPatch
):
    account.carry_out(account.grid(2))
    dead, runs = account.execution(), executions.runs
    first, end = plan(dead), account.grid()
    account.stop(dead)
    account.aws.advance(3600)

    def runs_until_it_has_committed(owner: str) -> bool:
        account.commit(end, job_id=first["job_id"])
        return runs(owner)

    monkeypatch.setattr(executions, "runs", runs_until_it_has_committed)
    answer = plan(account.execution())
    assert (answer["kind"], answer["watermark"], answer["unrecorded"]) == ("Record", first["end"], "update")


def test_a_run_that_ends_while_it_is_looked_for_has_recorded_its_work_and_told_of_it(
    account: Account, monkeypatch: pytest.MonkeyPatch
):
    account.carry_out(account.grid(1))
    other, runs = account.execution(), executions.runs
    work, end = plan(other), account.grid()

    def runs_until_it_has_recorded(owner: str) -> bool:
        account.carry_out(end, job_id=work["job_id"])
        account.stop(other)
        return runs(owner)

    monkeypatch.setattr(executions, "runs", runs_until_it_has_recorded)
    answer = plan(account.execution())
    assert (answer["kind"], answer.get("reason")) == ("Idle", "UpToDate")


def test_what_parameter_store_says_of_before_the_round_is_not_corrected_after_it(
    account: Account, monkeypatch: pytest.MonkeyPatch
):
    account.carry_out(account.grid(3))
    me, below = account.execution(), parameters._below
    work, before = plan(me), account.parameters()["last-export-time"]
    account.commit(account.grid(), job_id=work["job_id"])
    call(record_watermark.handler, plan=work)

    def behind(path: str) -> dict[str, Any]:
        found = below(path)
        name = "last-export-time"
        return {**found, name: {**found[name], "Value": before}} if name in found else found

    monkeypatch.setattr(parameters, "_below", behind)
    answer = call(handler, input={"table": "orders"}, execution=me, first=False)
    assert (answer["kind"], answer.get("reason")) == ("Idle", "UpToDate")


ENDLESS = pytest.param(b"[" * 100_000, id="brackets without end")
NO_REPORTS = [b"", b"no JSON", b"\xff\xfe\x00", b"[1]", ENDLESS]


def put_report(account: Account, job_id: str, body: bytes) -> None:
    key = DEPLOYMENT.report_key("orders", job_id)
    account.aws.client("s3").put_object(Bucket=DEPLOYMENT.bucket, Key=key, Body=body)


@pytest.mark.parametrize("body", NO_REPORTS, ids=repr)
def test_what_is_no_report_says_nothing_and_keeps_no_run_from_its_work(account: Account, body: bytes):
    account.carry_out(account.grid(1))
    dead = account.execution()
    begun = plan(dead)
    account.stop(dead)
    put_report(account, begun["job_id"], body)
    found = plan(account.execution())
    assert (found["kind"], found["job_id"], found["taken_over_from"]) == ("Export", begun["job_id"], dead)


@pytest.mark.parametrize("body", NO_REPORTS, ids=repr)
def test_what_is_no_report_proves_no_verification_and_explains_no_failure(
    account: Account, schedule: Schedule, up_to_date: str, body: bytes
):
    event = {**schedule.event(by_schedule=False), "input": {"table": "orders", "mode": "verify"}}
    planned = call(handler, input=event["input"], execution=event["execution"])
    put_report(account, planned["job_id"], body)
    with pytest.raises(JobFailed, match="its report does not say that it has done anything"):
        call(record_watermark.handler, plan=planned)
    failure = {"state": "RunSparkJob", "error": "States.TaskFailed", "cause": "{}"}
    told = call(notify_failure.handler, **event, plan=planned, clientToken="a-try", failure=failure)
    assert told["error"] == "JobFailed"
    assert schedule.subjects == ["FAILED orders: JobFailed"]
