"""What a run tells without failing: history that runs out, a day summed up; and what it leaves alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from lambdas import notify_news, notify_success
from pipeline.instants import format_instant
from pipeline.mails.told import FailureKind, Told
from tests.lambdas.account import DEPLOYMENT, SETTINGS, Account, call
from tests.lambdas.ticks import Schedule
from tests.pipeline.rounds import done
from tests.pipeline.world import incident

pytestmark = pytest.mark.local_aws


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
    # A run whose plan has failed knows nothing of a full export that may be under way: it does not say that history is lost.
    assert len(warnings) == (2 if failing else 3)
    assert all("history would be lost in" in warning for warning in warnings[:2])
    if not failing:
        assert "What this run says: The control parameter says PAUSE" in schedule.last


def test_a_watermark_of_the_future_in_the_parameter_ends_no_warning(
    schedule: Schedule, account: Account, up_to_date: str
):
    account.switch_recovery(on=True, RecoveryPeriodInDays=1)
    account.aws.advance(13 * 3600)
    schedule.fails("AwsUnavailable")
    warned, level = schedule.subjects, schedule.told().level
    assert warned[1].startswith("WARNING orders: history would be lost in")
    account.put_parameter("orders", "last-export-time", *account.instants(-1))
    schedule.fails("AwsUnavailable")
    assert (schedule.subjects, schedule.told().level) == (warned, level)


def test_a_table_that_has_caught_up_is_told_to_be_safe(schedule: Schedule, account: Account, up_to_date: str):
    account.switch_recovery(on=True, RecoveryPeriodInDays=1)
    account.put_parameter("orders", "control", "PAUSE")
    account.aws.advance(13 * 3600)
    schedule.plans()
    account.put_parameter("orders", "control", "RUN")
    account.carry_out(account.grid())
    for _ in range(2):
        assert schedule.plans()["reason"] == "UpToDate"
    assert schedule.subjects[1:] == ["ALL CLEAR orders: history is safe again"]


def test_a_run_with_work_leaves_the_news_to_its_end(schedule: Schedule, account: Account):
    account.switch_recovery(on=True, RecoveryPeriodInDays=1)
    account.carry_out(account.grid(1))
    account.aws.advance(13 * 3600)
    plan = schedule.plans()
    assert (plan["kind"], plan["news"]) == ("Export", [])


def test_an_idle_run_writes_nothing(schedule: Schedule, up_to_date: str, writes: Callable[[], int]):
    assert schedule.plans()["reason"] == "UpToDate"
    assert (writes(), schedule.subjects) == (0, [])


@pytest.mark.parametrize(("choice", "mails"), [("every_run", 1), ("daily", 0), ("never", 0)])
def test_a_success_is_mailed_as_the_settings_want_it(schedule: Schedule, choice: str, mails: int):
    event = done()
    event["plan"]["success_mail"] = choice
    call(notify_success.handler, **event)
    assert len(schedule.subjects) == mails


def test_rows_that_were_not_what_changes_say_are_warned_of_by_the_next_run_where_the_round_itself_did_not(
    schedule: Schedule, account: Account, up_to_date: str
):
    account.commit(account.grid(), added=5, read=6, inserted=6, updated=0, deleted=0)
    for _ in range(2):
        assert schedule.plans()["reason"] == "UpToDate"
    assert schedule.subjects == ["WARNING orders: rows were not what the changes say"]
    assert (
        "By the export, 6 rows should have been written and 0 removed or replaced; Iceberg counted 5 and 0."
        in schedule.last
    )
    assert f"Report: s3://{DEPLOYMENT.bucket}/{DEPLOYMENT.report_key('orders', 'job-0')}" in schedule.last


def a_day_is_over(account: Account) -> datetime:
    """A table whose days are summed up shows all of one; returns the midnight."""
    settings = json.loads(SETTINGS.to_json()) | {"success_mail": "daily"}
    account.put_parameter("orders", "settings", json.dumps(settings))
    midnight = account.grid().replace(hour=0, minute=0) + timedelta(days=1)
    account.aws.advance((midnight - account.grid()).total_seconds())
    account.carry_out(midnight, read=5, inserted=5)
    return midnight


@pytest.mark.parametrize(
    ("report", "has_columns"),
    [('{"new_columns": [{"column": "size", "path": "/size", "type": "bigint"}]}', True), ("{", False)],
    ids=["with what its report has found", "although its report cannot be read"],
)
def test_a_day_is_summed_up_once_when_the_table_shows_all_of_it(
    schedule: Schedule, account: Account, report: str, has_columns: bool
):
    midnight = a_day_is_over(account)
    place = {"Bucket": DEPLOYMENT.bucket, "Key": DEPLOYMENT.report_key("orders", "job-0")}
    account.aws.client("s3").put_object(**place, Body=report)
    account.put_parameter("orders", "control", "PAUSE")
    assert schedule.plans()["news"] == []
    account.put_parameter("orders", "control", "RUN")
    for _ in range(2):
        assert schedule.plans()["reason"] == "UpToDate"
    day = format_instant(midnight - timedelta(days=1))[:10]
    assert schedule.subjects == [f"OK orders: {day}, 1 run, 5 records"]
    assert ("New columns:\n  size: bigint\n" in schedule.last) is has_columns


def test_what_another_run_tells_while_a_day_is_summed_up_is_not_written_over(
    schedule: Schedule, account: Account, monkeypatch: pytest.MonkeyPatch
):
    a_day_is_over(account)
    failed_meanwhile = Told(incident("20/12:15", "20/12:00", FailureKind("PitrOff", "Plan"))).to_text()

    def report_of(*_: object) -> dict[str, object]:
        account.put_parameter("orders", "told", failed_meanwhile)
        return {}

    monkeypatch.setattr(notify_news, "report_of", report_of)
    assert schedule.plans()["news"] == ["Digest"]
    assert [subject.split(" orders")[0] for subject in schedule.subjects] == ["ALL CLEAR", "OK"]


def test_a_day_is_summed_up_once_though_the_answer_was_lost(schedule: Schedule, account: Account):
    a_day_is_over(account)
    assert schedule.plans(answers_lost=1)["news"] == ["Digest"]
    assert len(schedule.subjects) == 1
