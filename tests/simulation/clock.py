"""Virtual time: processes are generators that yield how many seconds they wait; nothing else makes time pass."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from pipeline.instants import EPOCH

MINUTE, HOUR, DAY = 60, 3_600, 86_400
YEAR = 365 * DAY

Process = Generator[int, None, Any]


def instant(seconds: int) -> datetime:
    """Seconds since 1970 as the product's instants."""
    return EPOCH + timedelta(seconds=seconds)


def seconds(moment: datetime) -> int:
    """The other way round; the product's instants are whole seconds."""
    return round((moment - EPOCH).total_seconds())


class Clock:
    """The present, in seconds since 1970, and what is going to happen."""

    def __init__(self, start: int) -> None:
        self.now = start
        self._order = count()
        self._agenda: list[tuple[int, int, Process | Callable[[], object]]] = []

    def at(self, when: int, what: Process | Callable[[], object]) -> None:
        """Start a process, or do something once, at an instant."""
        heapq.heappush(self._agenda, (max(when, self.now), next(self._order), what))

    def after(self, delay: int, what: Process | Callable[[], object]) -> None:
        """The same, so many seconds from now."""
        self.at(self.now + delay, what)

    def run_until(self, end: int) -> None:
        """Let everything happen that is due before `end`."""
        agenda = self._agenda
        while agenda and agenda[0][0] < end:
            self.now, _, what = heapq.heappop(agenda)
            if callable(what):
                what()
                continue
            delay = next(what, None)
            if delay is not None:
                heapq.heappush(agenda, (self.now + delay, next(self._order), what))
        self.now = end
