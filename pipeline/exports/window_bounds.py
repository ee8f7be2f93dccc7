"""Which lengths the windows of a table may have: one, or steps between bounds, of which each divides the next.

So the ends of windows stay on one grid, whatever their length. Which of the lengths is the next is the planner's to say
(`pipeline.planning.window_lengths`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class WindowBounds:
    """The bounds as the settings have them, in minutes; these are the usual ones."""

    shortest: int = 15
    longest: int = 240


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
