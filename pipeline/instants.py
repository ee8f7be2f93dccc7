"""Instants as the product writes them: UTC, whole seconds, ISO-8601 with a ``Z``.

DynamoDB's windows are cut at whole seconds, so an instant with a fraction cannot be the end of one window and the
start of the next. Nothing here asks a clock.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

_FORM = re.compile(r"(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.0+)?(?:Z|\+00:00)")
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def parse_instant(text: str) -> datetime:
    """Read ``2026-11-21T02:15:00Z`` (a zero fraction is allowed, as in manifests).

    Raises ValueError naming the text and the form allowed.
    """
    found = _FORM.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ValueError(f"{text!r} is not an instant; write it as 2026-11-21T02:15:00Z (UTC, whole seconds)")
    try:
        return datetime.fromisoformat(f"{found[1]}T{found[2]}+00:00")
    except ValueError as wrong:
        raise ValueError(f"{text!r} is not an instant: {wrong}") from wrong


def parse_timestamp(text: str) -> datetime:
    """Read a time stamp of Step Functions' context, which carries milliseconds."""
    return datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)


def format_instant(instant: datetime) -> str:
    """Write an instant the one way the product writes it: ``2026-11-21T02:15:00Z``."""
    return f"{whole_second(instant).isoformat()[:19]}Z"


def format_optional(instant: datetime | None) -> str:
    """Write an instant as events and parameters have it; empty where there is none."""
    return format_instant(instant) if instant else ""


def parse_optional(text: object) -> datetime | None:
    """Read what `format_optional` wrote; None for what is no text, too. Raises ValueError as `parse_instant` does."""
    return parse_instant(text) if text and isinstance(text, str) else None


def whole_second(instant: datetime) -> datetime:
    """Cut an aware instant down to its whole second, in UTC."""
    if instant.tzinfo is timezone.utc and not instant.microsecond:
        return instant
    if instant.tzinfo is None:
        raise ValueError(f"{instant!r} has no time zone; every instant here is UTC")
    return instant.astimezone(timezone.utc).replace(microsecond=0)


def floor_to(instant: datetime, length: timedelta) -> datetime:
    """Return the last multiple of `length`, counted from 1970-01-01T00:00:00Z, that is not after `instant`."""
    return instant - (instant - EPOCH) % length
