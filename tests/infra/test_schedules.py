"""How a table's ticks become a schedule: the rate, the window it may wander in, and when a late tick is dropped."""

from __future__ import annotations

import pytest
from aws_cdk import Stack, assertions

from infra.schedules import TableSchedule
from pipeline.settings import TableSettings

TICKS = (1, 2, 3, 15, 1440)


@pytest.fixture(scope="module")
def schedules():
    """The schedules of tables that differ in their ticks, by what they say they do."""
    stack = Stack()
    for tick in TICKS:
        table = TableSettings(name=f"every-{tick}", iceberg_table=f"every_{tick}", tick_minutes=tick)
        TableSchedule(stack, table.name, table=table, state_machine_arn="machine", queue_arn="queue", role_arn="role")
    found = assertions.Template.from_stack(stack).find_resources("AWS::Scheduler::Schedule").values()
    return {schedule["Properties"]["Description"]: schedule["Properties"] for schedule in found}


@pytest.mark.parametrize(
    ("tick", "rate", "window", "oldest_seconds"),
    [
        (1, "rate(1 minute)", {"Mode": "OFF"}, 60),
        (2, "rate(2 minutes)", {"Mode": "OFF"}, 120),
        (3, "rate(3 minutes)", {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 1}, 180),
        (15, "rate(15 minutes)", {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 5}, 300),
        (1440, "rate(1440 minutes)", {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 480}, 28_800),
    ],
)
def test_a_tick_comes_at_its_rate_within_a_third_of_it_and_not_after_the_next(
    schedules, tick, rate, window, oldest_seconds
):
    schedule = schedules[f"Brings the copy of every-{tick} up to date."]
    assert schedule["ScheduleExpression"] == rate
    assert schedule["FlexibleTimeWindow"] == window
    assert schedule["Target"]["RetryPolicy"] == {
        "MaximumEventAgeInSeconds": oldest_seconds,
        "MaximumRetryAttempts": 185,
    }
