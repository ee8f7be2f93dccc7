"""When a schedule is due: rate(), cron() and at() expressions of EventBridge Scheduler, by the clock one hands in."""

import re
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

_AT = re.compile(r"at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)")


def latest_due(schedule: dict[str, Any], after: float, now: float) -> float | None:
    """The newest instant in (after, now] at which the schedule is due, in seconds since the epoch; None if there is none.

    A jump over several ticks is one answer: its last tick. `schedule` is Scheduler's record of it.
    """
    if schedule.get("State") != "ENABLED":
        return None
    start, end = (_epoch(schedule.get(name)) for name in ("StartDate", "EndDate"))
    if start is not None:
        after = max(after, start - 1)
    if end is not None:
        now = min(now, end)
    due = _newest(schedule, after, now)
    return due if due is not None and after < due <= now else None


def _newest(schedule: dict[str, Any], after: float, now: float) -> float | None:
    from ministack.services import eventbridge

    expression = schedule["ScheduleExpression"].strip()
    zone = ZoneInfo(schedule.get("ScheduleExpressionTimezone") or "UTC")
    if once := _AT.fullmatch(expression):
        return datetime.fromisoformat(once[1]).replace(tzinfo=zone).timestamp()
    if interval := eventbridge._parse_rate_seconds(expression):
        first = _epoch(schedule.get("StartDate")) or schedule["CreationDate"]
        return float(first + (now - first) // interval * interval)
    fields = eventbridge._parse_cron_fields(expression)
    if fields is None:
        raise ValueError(f"Schedule {schedule['Name']}: {expression} is neither rate, cron nor at")
    return _newest_cron(eventbridge, fields, after, now, zone)


def _newest_cron(eventbridge: Any, fields: Any, after: float, now: float, zone: ZoneInfo) -> float | None:
    """Walk from tick to tick in the schedule's own time zone."""
    newest = None
    tick = eventbridge._cron_next_fire(fields, _wall(after, zone))
    while tick is not None and (due := tick.replace(tzinfo=zone).timestamp()) <= now:
        newest = due
        tick = eventbridge._cron_next_fire(fields, _wall(due, zone))
    return newest


def _wall(epoch: float, zone: ZoneInfo) -> datetime:
    """The wall clock of a zone, labelled UTC, because MiniStack's cron knows no other."""
    return datetime.fromtimestamp(epoch, zone).replace(tzinfo=UTC)


def _epoch(value: Any) -> float | None:
    if value is None or isinstance(value, int | float):
        return value
    return datetime.fromisoformat(str(value).replace("Z", "+00:00")).timestamp()
