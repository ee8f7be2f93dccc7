"""A backfill whose job keeps ending without success: the schedule tells its person, and goes on without it."""

from __future__ import annotations

import json

import pytest

from lambdas import notify_failure
from lambdas.plan import handler as plan_handler
from pipeline.instants import parse_instant
from pipeline.planning.execution_input import BACKFILL
from pipeline.planning.journal import Claim, RunPlan
from tests.lambdas.account import Account, call
from tests.lambdas.ticks import Schedule

pytestmark = pytest.mark.local_aws


def test_after_three_job_runs_a_wish_is_given_up_by_mail_and_the_schedule_goes_on(
    account: Account, schedule: Schedule, up_to_date: str
):
    start, end = map(parse_instant, account.instants(2, 0))
    wished = RunPlan(BACKFILL, account.source_id(), (start, end))
    account.put_parameter("orders", "run/7", Claim(7, "arn-of-a-dead-run", wished).to_text())
    for number in range(3):
        event = schedule.event()
        asked = {"input": {**event["input"], "dry_run": True}, "execution": event["execution"]}
        assert call(plan_handler, **asked)["taken_over_from"] == "arn-of-a-dead-run", number
        account.run_job(wished.job_id, f"{wished.job_id}-{number}")
    for _ in range(2):
        event = schedule.event()
        plan = call(plan_handler, input=event["input"], execution=event["execution"])
        if plan["kind"] == "Halt":
            call(notify_failure.handler, **event, plan=plan, failure={"state": "Plan", **plan})
    assert plan["reason"] == "UpToDate"
    assert schedule.subjects == ["FAILED orders: WishGivenUp"]
    wish = json.dumps({"table": "orders", "mode": "backfill", "from": account.instants(2)[0]}, separators=(",", ":"))
    assert f"--input '{wish}'\n" in schedule.last
    assert schedule.told().given_up == wished.job_id
