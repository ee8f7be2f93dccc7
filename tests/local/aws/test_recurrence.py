"""When a schedule is due."""

from datetime import UTC, datetime

import pytest

from local.aws.recurrence import latest_due


@pytest.fixture(autouse=True)
def _no_threads(monkeypatch):
    # MiniStack's EventBridge starts its own ticker on import otherwise.
    monkeypatch.setenv("MINISTACK_TEST_NO_AUTOSTART", "1")


def _at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def _schedule(expression: str, **more) -> dict:
    made = {"Name": "s", "State": "ENABLED", "CreationDate": _at("2026-11-21 08:07:30")}
    return {**made, "ScheduleExpression": expression, **more}


@pytest.mark.parametrize(
    ("schedule", "after", "now", "expected"),
    [
        pytest.param(_schedule("rate(15 minutes)"), "08:07:30", "08:22:29", None, id="rate: not yet"),
        pytest.param(_schedule("rate(15 minutes)"), "08:07:30", "08:22:30", "08:22:30", id="rate: on the second"),
        pytest.param(_schedule("rate(15 minutes)"), "08:07:30", "10:00:00", "09:52:30", id="rate: one of seven"),
        pytest.param(_schedule("rate(15 minutes)"), "09:52:30", "10:00:00", None, id="rate: once only"),
        pytest.param(
            _schedule("rate(1 hour)", StartDate=_at("2026-11-21 09:00:00")),
            "08:07:30",
            "08:59:59",
            None,
            id="rate: before its start",
        ),
        pytest.param(
            _schedule("rate(1 hour)", StartDate=_at("2026-11-21 09:00:00")),
            "08:07:30",
            "09:30:00",
            "09:00:00",
            id="rate: at its start",
        ),
        pytest.param(
            _schedule("rate(1 hour)", EndDate=_at("2026-11-21 09:30:00")),
            "08:07:30",
            "23:00:00",
            "09:07:30",
            id="rate: until its end",
        ),
        pytest.param(_schedule("cron(0/15 * * * ? *)"), "08:07:30", "08:14:59", None, id="cron: not yet"),
        pytest.param(_schedule("cron(0/15 * * * ? *)"), "08:07:30", "09:01:00", "09:00:00", id="cron: the newest"),
        pytest.param(_schedule("cron(0/15 * * * ? *)"), "09:00:00", "09:14:00", None, id="cron: once only"),
        pytest.param(
            _schedule("cron(30 10 * * ? *)", ScheduleExpressionTimezone="Europe/Berlin"),
            "08:07:30",
            "12:00:00",
            "09:30:00",
            id="cron: in its zone",
        ),
        pytest.param(_schedule("at(2026-11-21T09:00:00)"), "08:07:30", "12:00:00", "09:00:00", id="at: has come"),
        pytest.param(_schedule("at(2026-11-21T09:00:00)"), "09:00:00", "12:00:00", None, id="at: once only"),
        pytest.param(
            _schedule("at(2026-11-21T10:00:00)", ScheduleExpressionTimezone="Europe/Berlin"),
            "08:07:30",
            "09:00:00",
            "09:00:00",
            id="at: in its zone",
        ),
        pytest.param(_schedule("rate(15 minutes)", State="DISABLED"), "08:07:30", "12:00:00", None, id="disabled"),
    ],
)
def test_the_newest_tick_that_has_not_fired_is_due(schedule, after, now, expected):
    due = latest_due(schedule, _at(f"2026-11-21 {after}"), _at(f"2026-11-21 {now}"))
    assert due == (None if expected is None else _at(f"2026-11-21 {expected}"))


def test_an_expression_nobody_understands_is_an_error():
    with pytest.raises(ValueError, match="neither rate, cron nor at"):
        latest_due(_schedule("every day"), 0, 1)
