"""What happened, plan by plan, for a person who has to understand why a seed fails."""

from __future__ import annotations

from collections import deque
from typing import Any

from pipeline.instants import format_instant
from tests.simulation.clock import Clock, instant

_KEPT, _SHOWN = 2_000, 70


class Violation(AssertionError):
    """An invariant does not hold: what, when, and the timeline that led there."""


class Timeline:
    """The newest events. They are kept as they came and made text only when somebody asks."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._events: deque[tuple[int, str, str, tuple[Any, ...]]] = deque(maxlen=_KEPT)

    def add(self, who: str, what: str, *values: object) -> None:
        """Add an event; `what` has a ``{}`` for each value."""
        self._events.append((self._clock.now, who, what, values))

    def text(self, most: int = _SHOWN) -> str:
        """The newest events, a line each, oldest first."""
        lines = []
        for when, who, what, values in list(self._events)[-most:]:
            lines.append(f"{format_instant(instant(when))}  {who:<14} {what.format(*values)}")
        return "\n".join(lines)

    def violated(self, invariant: str, what: str) -> Violation:
        """The error for an invariant that does not hold now."""
        when = format_instant(instant(self._clock.now))
        return Violation(f"{invariant}\n{when}: {what}\n\nWhat led there:\n{self.text()}")
