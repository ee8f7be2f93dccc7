"""One mail per incident: what the functions send and what they remember, tick after tick."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from lambdas import notify_news, notify_success, plan, record_watermark
from pipeline.errors import CallRefused
from pipeline.instants import format_instant
from pipeline.mails.told import Told
from pipeline.modes import MAINTAIN, VERIFY
from tests.lambdas.account import Account, call
from tests.lambdas.ticks import Schedule
from tests.pipeline.rounds import done
from tests.pipeline.world import at
from tests.pipeline.world import plan as planned_work

pytestmark = pytest.mark.local_aws
DENIED = {"code": "AccessDeniedException", "status": 400, "times": 1000}


def test_a_failure_that_goes_on_is_mailed_once_and_written_once(schedule: Schedule, writes: Callable[[], int]):
    for _ in range(3):
        schedule.fails("PitrOff")
    assert schedule.subjects == ["FAILED orders: PitrOff"]
    assert writes() == 1


def test_its_change_is_mailed_and_its_end_is_one_all_clear(
    schedule: Schedule, up_to_date: str, writes: Callable[[], int]
):
    for error in ("PitrOff", "PitrOff", "TableNotFound", "PitrOff"):
        schedule.fails(error)
    assert schedule.plans()["reason"] == schedule.plans()["reason"] == "UpToDate"
    over = "ALL CLEAR orders: TableNotFound is over"
    assert schedule.subjects == ["FAILED orders: PitrOff", "FAILED orders: TableNotFound", over]
    assert "From 2026-11-21T00:00:00Z to 2026-11-21T01:00:00Z, 1 h 0 min: 4 ticks of the schedule" in schedule.last
    assert f"The table is at {up_to_date}, as it was" in schedule.last
    assert writes() == 4
    schedule.fails("PitrOff")
    assert schedule.subjects[3:] == ["FAILED orders: PitrOff"]


def test_the_same_failure_of_other_work_is_mailed_as_well(schedule: Schedule):
    maintenance, update = done(planned_work("12:00", MAINTAIN))["plan"], done()["plan"]
    for planned in (maintenance, maintenance, update, update):
        schedule.fails("States.TaskFailed", planned)
    assert schedule.subjects == ["FAILED orders: JobFailed"] * 2


def test_the_end_is_told_by_the_round_that_works_again(schedule: Schedule, account: Account, up_to_date: str):
    schedule.fails("PitrOff")
    event = done()
    event["report"]["watermark"] = format_instant(account.grid() + timedelta(hours=3))
    call(notify_success.handler, **event)
    assert schedule.subjects[1:] == [event_subject(event), "ALL CLEAR orders: PitrOff is over"]
    assert f"Caught up: 3 h 0 min of history, from {up_to_date} to {event['report']['watermark']}." in schedule.last
    assert schedule.told() == Told()


def test_a_corrected_parameter_ends_no_incident_but_what_the_same_run_finds_next(
    schedule: Schedule, account: Account, up_to_date: str
):
    schedule.fails("PitrOff")
    account.put_parameter("orders", "last-export-time", *account.instants(1))
    event = schedule.event()
    asked = {"input": event["input"], "execution": event["execution"]}
    planned = call(plan.handler, **asked)
    report = call(record_watermark.handler, plan=planned)
    round_of = {"plan": planned, "report": report, "exports": [], "jobRun": {}, "endedAt": "2026-11-21T23:59:59.000Z"}
    call(notify_success.handler, **event, **round_of)
    corrected = f"OK orders: last-export-time corrected to {up_to_date}"
    assert (planned["kind"], schedule.subjects[1:]) == ("Record", [corrected])
    found = call(plan.handler, **asked)
    assert (found["reason"], found["news"]) == ("UpToDate", ["IncidentOver"])
    call(notify_news.handler, **event, plan=found)
    assert (schedule.subjects[2:], schedule.told()) == (["ALL CLEAR orders: PitrOff is over"], Told())


def test_a_run_that_somebody_redrives_tells_that_person_and_opens_no_incident_of_long_ago(schedule: Schedule):
    for _ in range(2):
        schedule.fails("PitrOff", redriven=True)
    assert schedule.subjects == ["FAILED orders: PitrOff"] * 2
    assert "The next mail about it" not in schedule.last
    assert schedule.told() == Told()


def event_subject(event: dict[str, Any]) -> str:
    return f"OK orders: 15 records, at {event['report']['watermark']}"


def test_a_dry_run_leaves_it_to_others_to_tell_that_an_incident_is_over(schedule: Schedule, up_to_date: str):
    schedule.fails("PitrOff")
    told = schedule.told()
    rehearsed = schedule.plans(by_schedule=False, dry_run=True)
    assert (rehearsed["planned"], rehearsed["works"], rehearsed["news"]) == ("Idle", True, [])
    assert (schedule.subjects, schedule.told()) == (["FAILED orders: PitrOff"], told)
    assert schedule.plans()["news"] == ["IncidentOver"]


@pytest.mark.parametrize("control", ["PAUSE", "RUN"])
def test_a_run_that_knows_nothing_of_the_table_ends_no_incident(schedule: Schedule, account: Account, control: str):
    schedule.fails("PitrOff")
    account.put_parameter("orders", "control", control)
    found = schedule.plans()
    assert found["news"] == []
    assert found["kind"] == ("Idle" if control == "PAUSE" else "Export")
    assert schedule.told().incident is not None


def test_a_person_s_run_is_always_told_and_is_no_part_of_an_incident(schedule: Schedule, writes: Callable[[], int]):
    for _ in range(2):
        schedule.fails("PitrOff", by_schedule=False)
    assert schedule.subjects == ["FAILED orders: PitrOff"] * 2
    assert writes() == 0


def test_what_has_been_told_and_cannot_be_read_is_told_again_and_not_overwritten(schedule: Schedule, account: Account):
    schedule.fails("PitrOff")
    before = schedule.told()
    account.aws.set_faults({"name": "denied", "action": "ssm:GetParameters", **DENIED})
    schedule.fails("PitrOff")
    account.aws.set_faults()
    assert schedule.subjects == ["FAILED orders: PitrOff"] * 2
    assert schedule.told() == before


def test_what_cannot_be_recorded_as_told_is_told_again(schedule: Schedule, account: Account):
    account.aws.set_faults({"name": "denied", "action": "ssm:PutParameter", **DENIED})
    for _ in range(2):
        schedule.fails("PitrOff")
    account.aws.set_faults()
    schedule.fails("PitrOff")
    schedule.fails("PitrOff")
    assert schedule.subjects == ["FAILED orders: PitrOff"] * 3


def test_a_success_is_told_even_if_nobody_knows_what_was_told_before(schedule: Schedule, account: Account):
    account.aws.set_faults({"name": "denied", "action": "ssm:GetParameters", **DENIED})
    subjects = call(notify_success.handler, **done(continuity="Of the old images, 2 have no row."))["subjects"]
    assert [subject.split()[1] for subject in subjects] == ["OK"]  # the plan that follows finds the doubt in the table


def test_a_settled_doubt_that_cannot_be_recorded_is_no_all_clear_yet(schedule: Schedule, account: Account):
    verified = done(planned_work("13:00", VERIFY), job="verify")
    call(notify_success.handler, **done(continuity="Of the old images, 2 have no row."))
    account.aws.set_faults({"name": "denied", "action": "ssm:PutParameter", **DENIED})
    assert len(call(notify_success.handler, **verified)["subjects"]) == 1
    account.aws.set_faults()
    assert "ALL CLEAR" in call(notify_success.handler, **verified)["subjects"][1]
    assert (schedule.told().doubted, schedule.told().trusted) == (None, at("13:00"))


def test_rows_that_were_not_what_changes_say_are_warned_of_once_until_the_table_was_verified(account: Account):
    doubted = done(continuity="Of the old images, 2 have no row.")
    rounds = (doubted, doubted, done(planned_work("13:00", VERIFY), job="verify"), done())
    told = [call(notify_success.handler, **event)["subjects"] for event in rounds]
    assert [[subject.split()[1] for subject in subjects] for subjects in told] == [
        ["OK", "WARNING"],
        ["OK"],
        ["OK", "ALL"],
        ["OK"],
    ]


def test_a_mail_that_cannot_be_sent_is_not_recorded_as_told(
    schedule: Schedule, account: Account, writes: Callable[[], int]
):
    account.aws.client("sns").delete_topic(TopicArn=account.aws.client("sns").list_topics()["Topics"][0]["TopicArn"])
    with pytest.raises(CallRefused, match="NotFound"):
        schedule.fails("PitrOff")
    assert writes() == 0


def test_a_run_whose_plan_fails_still_tells_how_much_history_is_left(schedule: Schedule, up_to_date: str):
    schedule.fails("AwsUnavailable")
    assert "History would be lost in 34 days 23 h" in schedule.last


@pytest.mark.parametrize("by_schedule", [True, False], ids=["the schedule's", "a person's"])
def test_a_run_that_fails_after_its_plan_tells_the_watermark_and_how_much_history_is_left(
    schedule: Schedule, up_to_date: str, by_schedule: bool
):
    plan = schedule.plans(by_schedule=by_schedule)
    schedule.fails("States.TaskFailed", {**plan, "mode": "update", "job_id": "job"}, by_schedule=by_schedule)
    assert f"The watermark was {up_to_date} when this round began." in schedule.last
    assert "History would be lost in 34 days 23 h" in schedule.last


def test_news_is_told_once_though_the_answer_was_lost(schedule: Schedule, account: Account, up_to_date: str):
    schedule.fails("PitrOff")
    assert schedule.plans(answers_lost=1)["news"] == ["IncidentOver"]
    assert len(schedule.subjects) == 2
