"""A verification between the functions: its report is the proof that it was done, and nothing else is written."""

from __future__ import annotations

from typing import Any

import pytest

from lambdas.record_watermark import handler as record_handler
from pipeline.errors import JobFailed
from pipeline.mails.told import Told
from tests.lambdas.account import Account, call
from tests.lambdas.ticks import plan

pytestmark = pytest.mark.local_aws
COUNTS = {"items": 3, "rows": 3, "equal": 3}


def record(planned: dict[str, Any]) -> dict[str, Any]:
    return call(record_handler, plan=planned)


def verified(account: Account, planned: dict[str, Any]) -> None:
    """Leave the report of a job that has found source and table equal."""
    account.write_report(
        planned["job_id"],
        outcome="verified",
        job="verify",
        job_id=planned["job_id"],
        start=planned["start"],
        watermark=planned["end"],
        counts=COUNTS,
    )


def test_a_verification_is_claimed_at_the_watermark_handed_on_and_done_by_its_report(account: Account):
    account.carry_out(account.grid(1))
    me = account.execution()
    planned = plan(me, mode="verify")
    (watermark,) = account.instants(1)
    assert (planned["mode"], planned["exports"], planned["attempt"]) == ("verify", [{"at": watermark}], 1)
    assert plan(me, mode="verify")["job_id"] == planned["job_id"]

    verified(account, planned)
    before = account.parameters()
    told = record(planned)

    assert (told["watermark"], told["job"], told["counts"]) == (watermark, "verify", COUNTS)
    assert told["report"] == f"s3://the-bucket/runs/orders/{planned['job_id']}.json"
    assert plan(me, mode="verify")["reason"] == "WishFulfilled"
    assert account.parameters() == before


@pytest.mark.parametrize("report", [{}, {"outcome": "refused", "error": "VerificationFailed"}])
def test_a_job_that_ended_well_and_says_nothing_of_verifying_is_no_proof(account: Account, report: dict[str, Any]):
    account.carry_out(account.grid(1))
    planned = plan(account.execution(), mode="verify")
    if report:
        account.write_report(planned["job_id"], **report)
    with pytest.raises(JobFailed, match="its report does not say that it has done anything"):
        record(planned)


def test_a_stopped_verification_is_taken_over_by_the_schedule_once(account: Account):
    account.carry_out(account.grid(1))
    first, second, third = (account.execution() for _ in range(3))
    begun = plan(first, mode="verify")
    account.stop(first)
    taken = plan(second)
    assert (taken["job_id"], taken["taken_over_from"]) == (begun["job_id"], first)
    account.stop(second)
    given_up = plan(third)
    assert (given_up["error"], given_up["ends"]) == ("WishGivenUp", begun["job_id"])
    account.put_parameter("orders", "told", Told(ended=begun["job_id"]).to_text())
    assert plan(third)["mode"] == "update"


def test_differences_do_not_keep_the_schedule_from_its_work(account: Account):
    account.carry_out(account.grid(1))
    first = account.execution()
    begun = plan(first, mode="verify")
    account.write_report(begun["job_id"], outcome="refused", error="VerificationFailed")
    account.stop(first)
    account.put_parameter("orders", "told", Told(ended=begun["job_id"]).to_text())
    assert plan(account.execution())["mode"] == "update"
