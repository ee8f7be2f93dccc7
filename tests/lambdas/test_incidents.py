"""One mail per incident: what the functions send and what they remember, tick after tick."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from lambdas import notify_failure, notify_news, notify_success
from lambdas.plan import handler as plan_handler
from pipeline.incidents import Told
from pipeline.instants import format_instant
from tests.lambdas.account import SETTINGS, Account, call
from tests.pipeline.rounds import done

pytestmark = pytest.mark.local_aws
DENIED = {"code": "AccessDeniedException", "status": 400, "times": 1000}


class Schedule:
    """Ticks of the schedule, and the mails since the test began."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self._before = len(account.aws.outbox())
        self._ticks = (f"2026-11-21T{hour:02}:{minute:02}:00Z" for hour in range(24) for minute in (0, 15, 30, 45))

    def event(self, *, by_schedule: bool = True) -> dict[str, Any]:
        tick = {"scheduled_time": next(self._ticks)} if by_schedule else {}
        started = {"execution": self.account.execution(), "startedAt": "2026-11-21T23:59:59.000Z"}
        return {"input": {"table": "orders", **tick}, **started}

    def fails(self, error: str, plan: dict[str, Any] | None = None, *, by_schedule: bool = True) -> None:
        """A run that fails while it plans, or with a plan."""
        cause = json.dumps({"errorMessage": "It broke.\nTo do: Mend it."})
        failure = {"state": "Plan", "error": error, "cause": cause}
        call(notify_failure.handler, **self.event(by_schedule=by_schedule), plan=plan or {}, failure=failure)

    def plans(self, *, by_schedule: bool = True) -> dict[str, Any]:
        """A run up to its plan; its news is told as the state machine would."""
        event = self.event(by_schedule=by_schedule)
        plan = call(plan_handler, input=event["input"], execution=event["execution"])
        if plan["news"]:
            call(notify_news.handler, **event, plan=plan)
        return plan

    @property
    def subjects(self) -> list[str]:
        """What has been mailed, without the stack's name."""
        mails = self.account.aws.outbox()[self._before :]
        return [mail["Subject"].removeprefix("[Tidemark] ") for mail in mails]

    @property
    def last(self) -> str:
        """The text of the last mail."""
        return str(self.account.aws.outbox()[-1].get_content())

    def told(self) -> Told:
        return Told.from_text(self.account.parameters().get("told", ""))


@pytest.fixture
def schedule(account: Account) -> Schedule:
    return Schedule(account)


@pytest.fixture
def up_to_date(account: Account) -> str:
    """A table at the last window's end, as the parameter says; returns the watermark."""
    account.commit(account.grid())
    (watermark,) = account.instants(0)
    account.put_parameter("orders", "last-export-time", watermark)
    return watermark


@pytest.fixture
def writes(account: Account) -> Callable[[], int]:
    """How many parameters were written since: a fault that never fires counts the calls."""
    account.aws.set_faults({"name": "count", "action": "ssm:PutParameter", "on_call": 10**6})
    return lambda: int(account.aws.faults()[0]["calls"])


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
    assert writes() == 3
    schedule.fails("PitrOff")
    assert schedule.subjects[3:] == ["FAILED orders: PitrOff"]


def test_the_end_is_told_by_the_round_that_works_again(schedule: Schedule, account: Account, up_to_date: str):
    schedule.fails("PitrOff")
    event = done()
    event["report"]["watermark"] = format_instant(account.grid() + timedelta(hours=3))
    call(notify_success.handler, **event)
    assert schedule.subjects[1:] == [event_subject(event), "ALL CLEAR orders: PitrOff is over"]
    assert f"Caught up: 3 h 0 min of history, from {up_to_date} to {event['report']['watermark']}." in schedule.last
    assert schedule.told() == Told()


def event_subject(event: dict[str, Any]) -> str:
    return f"OK orders: 15 records, at {event['report']['watermark']}"


@pytest.mark.parametrize("control", ["PAUSE", "RUN"])
def test_a_run_that_knows_nothing_of_the_table_ends_no_incident(schedule: Schedule, account: Account, control: str):
    schedule.fails("PitrOff")
    account.put_parameter("orders", "control", control)
    plan = schedule.plans()
    assert plan["news"] == []
    assert plan["kind"] == ("Idle" if control == "PAUSE" else "Export")
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
    assert len(call(notify_success.handler, **done())["subjects"]) == 1


def test_a_mail_that_cannot_be_sent_is_not_recorded_as_told(
    schedule: Schedule, account: Account, writes: Callable[[], int]
):
    account.aws.client("sns").delete_topic(TopicArn=account.aws.client("sns").list_topics()["Topics"][0]["TopicArn"])
    with pytest.raises(ClientError, match="NotFound"):
        schedule.fails("PitrOff")
    assert writes() == 0


def test_a_run_whose_plan_fails_still_tells_how_much_history_is_left(schedule: Schedule, up_to_date: str):
    schedule.fails("AwsUnavailable")
    assert "History would be lost in 34 days 23 h" in schedule.last


@pytest.mark.parametrize("failing", [False, True], ids=["paused", "failing"])
def test_history_that_runs_out_is_warned_of_once_a_level_also_while_nothing_works(
    schedule: Schedule, account: Account, up_to_date: str, failing: bool
):
    account.switch_recovery(on=True, RecoveryPeriodInDays=1)
    account.put_parameter("orders", "control", "PAUSE")
    for hours in (11, 2, 1, 6, 4, 0):  # 46, 54, 58, 83 and twice 100 %: history is lost
        account.aws.advance(hours * 3600)
        if failing:
            schedule.fails("AwsUnavailable")
        else:
            schedule.plans()
    warnings = [subject for subject in schedule.subjects if subject.startswith("WARNING")]
    assert len(warnings) == 3
    assert all("history would be lost in" in warning for warning in warnings[:2])
    if not failing:
        assert "What this run says: The control parameter says PAUSE" in schedule.last


def test_a_table_that_has_caught_up_is_told_to_be_safe(schedule: Schedule, account: Account, up_to_date: str):
    account.switch_recovery(on=True, RecoveryPeriodInDays=1)
    account.put_parameter("orders", "control", "PAUSE")
    account.aws.advance(13 * 3600)
    schedule.plans()
    account.put_parameter("orders", "control", "RUN")
    account.commit(account.grid())
    account.put_parameter("orders", "last-export-time", *account.instants(0))
    for _ in range(2):
        assert schedule.plans()["reason"] == "UpToDate"
    assert schedule.subjects[1:] == ["ALL CLEAR orders: history is safe again"]


def test_a_run_with_work_leaves_the_news_to_its_end(schedule: Schedule, account: Account):
    account.switch_recovery(on=True, RecoveryPeriodInDays=1)
    account.commit(account.grid(1))
    account.aws.advance(13 * 3600)
    plan = schedule.plans()
    assert (plan["kind"], plan["news"]) == ("Export", [])


def test_news_is_told_once_though_the_answer_was_lost(schedule: Schedule, account: Account, up_to_date: str):
    schedule.fails("PitrOff")
    event = schedule.event()
    plan = call(plan_handler, input=event["input"], execution=event["execution"])
    assert plan["news"] == ["IncidentOver"]
    for _ in range(2):
        call(notify_news.handler, **event, plan=plan)
    assert len(schedule.subjects) == 2


def test_an_idle_run_writes_nothing(schedule: Schedule, up_to_date: str, writes: Callable[[], int]):
    assert schedule.plans()["reason"] == "UpToDate"
    assert (writes(), schedule.subjects) == (0, [])


@pytest.mark.parametrize(("choice", "mails"), [("every_run", 1), ("daily", 0), ("never", 0)])
def test_a_success_is_mailed_as_the_settings_want_it(schedule: Schedule, choice: str, mails: int):
    event = done()
    event["plan"]["success_mail"] = choice
    call(notify_success.handler, **event)
    assert len(schedule.subjects) == mails


def test_a_day_is_summed_up_once_when_the_table_shows_all_of_it(schedule: Schedule, account: Account):
    settings = json.loads(SETTINGS.to_json()) | {"success_mail": "daily"}
    account.put_parameter("orders", "settings", json.dumps(settings))
    midnight = account.grid().replace(hour=0, minute=0) + timedelta(days=1)
    account.aws.advance((midnight - account.grid()).total_seconds())
    account.commit(midnight, read=5, inserted=5)
    account.put_parameter("orders", "last-export-time", format_instant(midnight))
    account.put_parameter("orders", "control", "PAUSE")
    assert schedule.plans()["news"] == []
    account.put_parameter("orders", "control", "RUN")
    for _ in range(2):
        assert schedule.plans()["reason"] == "UpToDate"
    day = format_instant(midnight - timedelta(days=1))[:10]
    assert schedule.subjects == [f"OK orders: {day}, 1 run, 5 records"]
