"""What a table's settings ask of the source's recovery period: history must not be gone before its window is exported."""

from __future__ import annotations

from datetime import timedelta

from pipeline.marker import TableState
from pipeline.settings import TableSettings
from pipeline.window_lengths import WindowLengths, window_length

#: A tick may come late, and the restorable range trails the present; the history asked for must outlast both.
_TIME_TO_ASK = timedelta(hours=1)


def history_needed(settings: TableSettings) -> timedelta:
    """How much history the source must keep at the least: the shortest window, a tick, and time to ask for its export."""
    return settings.windows.shortest + _until_asked(settings)


def windows_within(settings: TableSettings, recovery_days: int) -> WindowLengths:
    """How long windows may be so that a recovery period of so many days outlasts them; the shortest always may."""
    return settings.windows.up_to(timedelta(days=recovery_days) - _until_asked(settings))


def next_window(settings: TableSettings, recovery_days: int, table: TableState) -> timedelta:
    """How long the next windows of a table are, by its settings, the source's recovery period and the last bill."""
    return window_length(windows_within(settings, recovery_days), table)


def _until_asked(settings: TableSettings) -> timedelta:
    return timedelta(minutes=settings.tick_minutes) + _TIME_TO_ASK
