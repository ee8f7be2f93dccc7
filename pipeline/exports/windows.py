"""Export windows: half-open stretches of table history, and how a backlog is cut into them.

DynamoDB exports windows of 15 minutes to 24 hours between whole seconds. Windows of one chain touch exactly: a gap
loses writes, and an overlap leaves ghost rows (an item inserted in the overlap and deleted later in the second
window leaves no record there).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pipeline.instants import floor_to, format_instant, whole_second

SHORTEST_WINDOW = timedelta(minutes=15)
LONGEST_WINDOW = timedelta(hours=24)
#: Bytes: DynamoDB bills no window less, however quiet it was.
SMALLEST_INCREMENTAL = 10_000_000


@dataclass(frozen=True, order=True)
class ExportWindow:
    """A half-open stretch of table history: start is inside, end is not."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        """Refuse what DynamoDB would refuse: fractions of seconds, fewer than 15 minutes, more than 24 hours."""
        if self.start != whole_second(self.start) or self.end != whole_second(self.end):
            raise ValueError(f"a window runs between whole seconds, not from {self.start} to {self.end}")
        if not SHORTEST_WINDOW <= self.length <= LONGEST_WINDOW:
            raise ValueError(f"a window lasts 15 minutes to 24 hours; {self} lasts {self.length}")

    def __str__(self) -> str:
        return f"[{format_instant(self.start)}, {format_instant(self.end)})"

    @property
    def length(self) -> timedelta:
        """How much history the window holds."""
        return self.end - self.start


def windows_between(bounds: Sequence[datetime]) -> tuple[ExportWindow, ...]:
    """Return the touching windows that the given bounds, oldest first, delimit."""
    return tuple(ExportWindow(start, end) for start, end in zip(bounds, bounds[1:]))


def closed_windows(
    watermark: datetime, latest_restorable: datetime, window_length: timedelta
) -> tuple[ExportWindow, ...]:
    """Cut everything closed since `watermark` into as few legal windows as possible, oldest first.

    A window is closed when its end, a multiple of `window_length` since 1970, is not after `latest_restorable`.
    Empty when nothing is closed yet. The windows touch, start at `watermark`, and end on the grid.
    """
    end = floor_to(latest_restorable, window_length)
    return cut(watermark, end, window_length) if end - watermark >= SHORTEST_WINDOW else ()


def next_close(watermark: datetime, window_length: timedelta) -> datetime:
    """Return the instant that must become restorable before another window is closed."""
    end = floor_to(watermark, window_length) + window_length
    return end if end - watermark >= SHORTEST_WINDOW else end + window_length


def cut(start: datetime, end: datetime, grid: timedelta) -> tuple[ExportWindow, ...]:
    """Cut ``[start, end)``, at least 15 minutes long, into the fewest legal windows.

    Their ends lie on the grid where that costs no further window: always, if the grid divides half a day and
    `end` is on it.
    """
    bounds = [start]
    while end - bounds[-1] > LONGEST_WINDOW:
        reach = bounds[-1] + LONGEST_WINDOW
        on_grid = floor_to(reach, grid)
        following = on_grid if _as_few(bounds[-1], on_grid, end) else reach
        bounds.append(min(following, end - SHORTEST_WINDOW))
    return windows_between([*bounds, end])


def _as_few(start: datetime, first_end: datetime, end: datetime) -> bool:
    """Whether the fewest windows from `start` to `end` are still enough when the first one ends at `first_end`."""
    fewest = -((start - end) // LONGEST_WINDOW)
    return first_end - start >= SHORTEST_WINDOW and end - first_end <= LONGEST_WINDOW * (fewest - 1)
