"""Which lengths the windows of a table may have: one, or steps between bounds, of which each divides the next.

So the ends of windows stay on one grid, whatever their length. Which of the lengths is the next is the planner's to say
(`pipeline.planning.window_lengths`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pipeline.exports.windows import LONGEST_WINDOW, SHORTEST_WINDOW
from pipeline.setting_checks import expect, is_whole, known, names_of, whole

#: Windows as long as the changes ask for, within the usual bounds.
_AUTO = "auto"
#: DynamoDB's own bounds, in minutes.
_LEAST, _MOST = (length // timedelta(minutes=1) for length in (SHORTEST_WINDOW, LONGEST_WINDOW))
_ALLOWED = f'a whole number from {_LEAST} to {_MOST}, "{_AUTO}", or an object with "shortest" and "longest"'


@dataclass(frozen=True)
class WindowBounds:
    """The bounds as the settings have them, in minutes; these are the usual ones."""

    shortest: int = 15
    longest: int = 240


def parse_windows(raw: Any, where: str) -> int | WindowBounds:
    """One length, or the bounds of lengths that follow the changes; ``auto`` is the usual bounds. Raises SettingRefused."""
    if raw == _AUTO:
        return WindowBounds()
    if not isinstance(raw, Mapping):
        expect(is_whole(raw, _LEAST, _MOST), f"{where}.window_minutes", raw, _ALLOWED)
        return int(raw)
    where = f"{where}.window_minutes"
    known(raw, names_of(WindowBounds), where)
    shortest = whole(raw, "shortest", WindowBounds.shortest, _LEAST, _MOST, where)
    longest = whole(raw, "longest", WindowBounds.longest, _LEAST, _MOST, where)
    expect(longest % shortest == 0, f"{where}.longest", longest, f"a multiple of shortest, which is {shortest}")
    return WindowBounds(shortest, longest)


@dataclass(frozen=True)
class WindowLengths:
    """The bounds between which the length of windows moves; `longest` is a multiple of `shortest`, or the same."""

    shortest: timedelta
    longest: timedelta

    @classmethod
    def of(cls, minutes: int | WindowBounds) -> WindowLengths:
        """One length, or the bounds of many."""
        bounds = minutes if isinstance(minutes, WindowBounds) else WindowBounds(minutes, minutes)
        return cls(timedelta(minutes=bounds.shortest), timedelta(minutes=bounds.longest))

    @property
    def steps(self) -> tuple[timedelta, ...]:
        """The lengths there are, from the shortest to the longest: each divides the next, in the smallest steps possible."""
        found = [self.shortest]
        while found[-1] < self.longest:
            left = self.longest // found[-1]
            found.append(found[-1] * next(factor for factor in range(2, left + 1) if left % factor == 0))
        return tuple(found)

    def up_to(self, most: timedelta) -> WindowLengths:
        """The same without the steps that are longer than `most`; the shortest always stays."""
        return WindowLengths(self.shortest, max(step for step in self.steps if step <= max(most, self.shortest)))
