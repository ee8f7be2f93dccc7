"""A job that keeps ending without success: of a backfill its person is told, of the schedule's own work it waits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from lambdas import notify_failure
from lambdas.aws import mail
from lambdas.plan import handler as plan_handler
from pipeline.errors import CallRefused, JobNotStarted
from pipeline.instants import parse_instant
from pipeline.mails.frame import Mail
from pipeline.modes import BACKFILL
from pipeline.planning.journal import Claim, RunPlan
from tests.lambdas.account import MACHINE, SETTINGS, Account, call
from tests.lambdas.slow_job import TOO_SLOW
from tests.lambdas.ticks import Schedule, times

pytestmark = pytest.mark.local_aws


@pytest.mark.parametrize(
    ("by_schedule", "ended"),
    [
        pytest.param(True, "FAILED", id="by the schedule"),
        pytest.param(False, "FAILED", id="by a person's run"),
        pytest.param(True, "CANCELLED", id="by the schedule, after too slow ones"),
    ],
)
def test_after_three_job_runs_a_wish_is_given_up_by_mail_and_the_schedule_goes_on(
    account: Account, schedule: Schedule, up_to_date: str, by_schedule: bool, ended: str
):
    if ended == "CANCELLED":
        account.stand_in_for_jobs(TOO_SLOW)
    start, end = map(parse_instant, account.instants(2, 0))
    wished = RunPlan(BACKFILL, account.source_id(), (start, end))
    dead = f"{MACHINE.replace(':stateMachine:', ':execution:')}:dead"
    account.put_parameter("orders", "run/7", Claim(7, dead, wished).to_text())
    for number in range(3):
        event = schedule.event()
        asked = {"input": {**event["input"], "dry_run": True}, "execution": event["execution"]}
        assert call(plan_handler, **{**asked, **times(account, hours=1)})["taken_over_from"] == dead, number
        account.run_job(wished.job_id, f"{wished.job_id}-{number}", ended)
    for _ in range(2):
        event = schedule.event(by_schedule=by_schedule)
        plan = call(plan_handler, input=event["input"], execution=event["execution"], **times(account, hours=1))
        if plan["kind"] == "Halt":
            call(notify_failure.handler, **event, plan=plan, failure={"state": "Plan", **plan})
    assert plan["reason"] == "UpToDate"
    assert schedule.subjects == ["FAILED orders: WishGivenUp, backfill"]
    wish = json.dumps({"table": "orders", "mode": "backfill", "from": account.instants(2)[0]}, separators=(",", ":"))
    assert f"--input '{wish}'\n" in schedule.last
    assert schedule.told().ended == wished.job_id


def test_a_wish_whose_application_is_gone_says_so(account: Account, up_to_date: str, monkeypatch: pytest.MonkeyPatch):
    start, end = map(parse_instant, account.instants(2, 0))
    wished = RunPlan(BACKFILL, account.source_id(), (start, end))
    account.put_parameter("orders", "run/7", Claim(7, f"{account.execution()}-forgotten", wished).to_text())
    monkeypatch.setenv("TIDEMARK_APPLICATION_ID", "00gone00")
    with pytest.raises(JobNotStarted, match="Application 00gone00 does not exist"):
        call(plan_handler, input={"table": "orders"}, execution=account.execution(), **times(account, hours=1))


def test_what_its_job_has_refused_three_times_waits_for_a_person_or_for_other_settings(
    account: Account, schedule: Schedule
):
    account.carry_out(account.grid(1))

    def plan(*, by_schedule: bool = True, dry_run: bool = False) -> dict[str, Any]:
        event = schedule.event(by_schedule=by_schedule)
        asked = {**event["input"], **({"dry_run": True} if dry_run else {})}  # the schedule's own says nothing of it
        planned = call(plan_handler, input=asked, execution=event["execution"])
        account.stop(event["execution"])
        return planned

    for _ in range(3):
        planned = plan()
        assert planned["kind"] == "Export"
        account.write_report(planned["job_id"], outcome="refused", error="HashSecretUnfit", message="It is too short.")
    halted = plan()
    assert (halted["kind"], halted["error"]) == ("Halt", "HashSecretUnfit")
    assert halted["message"].endswith("it is not tried again by itself. It said: It is too short.")
    assert plan(by_schedule=False, dry_run=True)["planned"] == "Export"
    account.put_parameter("orders", "settings", replace(SETTINGS, snapshot_days=30).to_json())
    assert plan()["kind"] == "Export"


def test_the_end_of_a_wish_that_is_told_late_counts_as_told_once_its_mail_was_tried_and_not_before(
    account: Account, schedule: Schedule, up_to_date: str, monkeypatch: pytest.MonkeyPatch
):
    start, end = map(parse_instant, account.instants(2, 0))
    wished = RunPlan(BACKFILL, account.source_id(), (start, end))
    account.put_parameter("orders", "run/7", Claim(7, f"{account.execution()}-forgotten", wished).to_text())
    for number in range(3):
        account.run_job(wished.job_id, f"{wished.job_id}-{number}", "FAILED")
    event, told, send = schedule.event(), [], mail.send
    plan = call(plan_handler, input=event["input"], execution=event["execution"], **times(account, hours=1))
    assert (plan["error"], plan["ends"]) == ("WishGivenUp", wished.job_id)

    def watched(topic_arn: str, mailed: Mail) -> None:
        # Whoever dies here has told nobody, and the next tick must find that.
        told.append(schedule.told().ended)
        send(f"{topic_arn}-that-is-gone", mailed)

    monkeypatch.setattr(mail, "send", watched)
    with pytest.raises(CallRefused, match="that-is-gone"):
        call(notify_failure.handler, **event, plan=plan, failure={"state": "Plan", **plan})
    assert (told, schedule.told().ended) == ([""], wished.job_id)
