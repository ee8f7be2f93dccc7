"""Where within the windows a test begins, so that none closes while it runs."""

from __future__ import annotations

from datetime import timedelta

from local.control import LocalAws

#: The latest restorable time lags five minutes behind: it stands one minute after a boundary of every table's windows, and
#: no test lasts the fourteen minutes to the next.
_AFTER_THE_HOUR = timedelta(minutes=6)


def begin_inside_a_window(aws: LocalAws) -> None:
    """Move the clock on to that place, in the hour after this one."""
    now = aws.now()
    hour = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    aws.advance((hour + _AFTER_THE_HOUR - now).total_seconds())
