"""What a table's settings mean for the planner: how long windows are, and how much history they need of the source."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from pipeline.exports.window_bounds import WindowLengths
from pipeline.planning.window_lengths import window_length
from pipeline.settings import TableSettings
from pipeline.table.marker import TableState

#: A tick may come late, and the restorable range trails the present; the history asked for must outlast both.
TIME_TO_ASK = timedelta(hours=1)


@dataclass(frozen=True)
class Rules:
    """By which rules a table's runs are planned.

    `window_length`: the grid that the next windows end on. `history_needed`: how much history the source must keep.
    `maintain_every`: after how much history the schedule puts the files in order; zero for never.
    `rebuilds`: whether the schedule loads the table anew where history is lost.
    """

    window_length: timedelta
    history_needed: timedelta = timedelta()
    maintain_every: timedelta = timedelta()
    rebuilds: bool = False


def rules_of(settings: TableSettings, recovery_days: int, table: TableState) -> Rules:
    """The rules by the settings, the source's recovery period, and the last bill, which windows follow."""
    return Rules(
        window_length(windows_within(settings, recovery_days), table),
        history_needed(settings),
        settings.maintain_every,
        settings.rebuilds,
    )


def history_needed(settings: TableSettings) -> timedelta:
    """How much history the source must keep at the least: the shortest window, a tick, and time to ask for its export."""
    return settings.windows.shortest + _until_asked(settings)


def windows_within(settings: TableSettings, recovery_days: int) -> WindowLengths:
    """How long windows may be so that a recovery period of so many days outlasts them; the shortest always may."""
    return settings.windows.up_to(timedelta(days=recovery_days) - _until_asked(settings))


def _until_asked(settings: TableSettings) -> timedelta:
    return timedelta(minutes=settings.tick_minutes) + TIME_TO_ASK
