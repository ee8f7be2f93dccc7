"""What Plan publishes for the alarms: how far the table is behind, how much history is left, that a tick has come."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lambdas.plan import MOST_RETRIES, handler
from pipeline.errors import AwsUnavailable, SettingsMissing, TableNotFound
from tests.lambdas.account import Account, call
from tests.statemachine.definition import TASKS

pytestmark = pytest.mark.local_aws


TICK = {"table": "orders", "scheduled_time": "2026-11-21T12:15:00Z", "tick_minutes": 15}
UNAVAILABLE = {"code": "ThrottlingException", "status": 400, "times": 1000}


def plan(account: Account, **asked: Any) -> None:
    call(handler, input={"table": "orders", **asked}, execution=account.execution())


def ticks(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """What has been published of ticks since the last look."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines() if "TickMinutes" in line]


def test_lag_and_the_history_left_are_published_for_the_table(account: Account, capsys: pytest.CaptureFixture[str]):
    account.commit(account.grid(3))
    plan(account)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    (metrics,) = [line for line in lines if "LagSeconds" in line]
    assert metrics["table"] == "orders"
    assert 45 * 60 <= metrics["LagSeconds"][0] < 60 * 60
    assert 34 * 24 < metrics["HoursUntilHistoryIsLost"][0] < 35 * 24
    (directive,) = metrics["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Tidemark"
    assert [sorted(dimensions) for dimensions in directive["Dimensions"]] == [["service", "table"]]
    (shared,) = [line for line in lines if "RecoveryPeriodUsed" in line]
    assert 0 < shared["RecoveryPeriodUsed"][0] < 1
    assert shared["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["service"]], "one alarm watches all tables"


def test_a_tick_publishes_its_length_for_all_tables_and_a_person_s_run_does_not(
    account: Account, capsys: pytest.CaptureFixture[str]
):
    plan(account, **TICK)
    (tick,) = ticks(capsys)
    assert (tick["TickMinutes"], tick["_aws"]["CloudWatchMetrics"][0]["Dimensions"]) == ([15], [["service"]])
    assert tick["_aws"]["Timestamp"] == 1_795_263_300_000, "when it was meant to come, not when it came"
    plan(account)
    assert ticks(capsys) == []


def test_a_run_of_several_rounds_is_one_tick(account: Account, capsys: pytest.CaptureFixture[str]):
    event = {"input": TICK, "execution": account.execution()}
    account.commit(account.grid())  # a round that only corrects a parameter leaves no claim
    rounds = [call(handler, **event, first=is_first)["kind"] for is_first in (True, False)]
    assert (rounds, len(ticks(capsys))) == (["Record", "Record"], 1)


@pytest.mark.parametrize(
    "throttled",
    [
        pytest.param(1, id="by Parameter Store"),
        pytest.param(0, id="by Lambda, which did not call the function"),
    ],
)
def test_a_plan_that_is_tried_again_is_one_tick(account: Account, capsys: pytest.CaptureFixture[str], throttled: int):
    event = {"input": TICK, "execution": account.execution()}
    for retries in range(throttled):
        account.aws.set_faults({"name": "busy", "action": "ssm:GetParametersByPath", **UNAVAILABLE})
        with pytest.raises(AwsUnavailable):
            call(handler, **event, retries=retries)
        account.aws.set_faults()
    call(handler, **event, retries=1)
    assert len(ticks(capsys)) == 1


def test_of_an_outage_the_last_attempt_is_the_tick(account: Account, capsys: pytest.CaptureFixture[str]):
    account.aws.set_faults({"name": "busy", "action": "ssm:GetParametersByPath", **UNAVAILABLE})
    for retries in (MOST_RETRIES - 1, MOST_RETRIES):
        with pytest.raises(AwsUnavailable):
            call(handler, input=TICK, execution="…", retries=retries)
    assert len(ticks(capsys)) == 1


def test_the_last_attempt_is_the_one_after_which_the_state_machine_gives_up():
    (retry,) = TASKS["Plan"]["Retry"]
    assert (retry["MaxAttempts"], "AwsUnavailable" in retry["ErrorEquals"]) == (MOST_RETRIES, True)


def test_without_settings_it_is_a_tick_all_the_same(account: Account, capsys: pytest.CaptureFixture[str]):
    account.aws.client("ssm").delete_parameter(Name="/tidemark/Tidemark/orders/settings")
    with pytest.raises(SettingsMissing):
        plan(account, **TICK)
    assert len(ticks(capsys)) == 1


def test_a_run_whose_plan_fails_is_a_tick_all_the_same(account: Account, capsys: pytest.CaptureFixture[str]):
    account.aws.client("dynamodb").delete_table(TableName="orders")
    with pytest.raises(TableNotFound):
        plan(account, **TICK)
    assert len(ticks(capsys)) == 1


def test_nothing_is_published_for_a_table_that_is_not_there_yet(account: Account, capsys: pytest.CaptureFixture[str]):
    plan(account)
    assert "LagSeconds" not in capsys.readouterr().out
