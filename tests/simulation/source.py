"""The source table as a function of time, its restorable range, and the records an export of it holds.

Every key changes at its own pace and is deleted now and then, so the content at any instant is known without keeping it,
and a lost, doubled or overlapping window leaves a table that differs. As with DynamoDB, an item that came and went
within one window has no record in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pipeline.exports.requests import ExportRequest
from pipeline.exports.windows import SMALLEST_INCREMENTAL
from pipeline.identity import KeyAttribute, SourceTable
from pipeline.planning.observation import SourceHistory
from tests.simulation.clock import DAY, MINUTE, instant, seconds

ARN = "arn:aws:dynamodb:eu-west-1:111122223333:table/orders"
KEY = (KeyAttribute("id", "S"),)
LONGEST_PERIOD = 35
#: How far the restorable range trails the present.
TRAIL = 5 * MINUTE
#: Seconds between two changes of a key: some change in every window, one hardly ever.
_PACES = (311, 1_009, 4_001, 40_009, 400_009)
#: What a change weighs, in bytes, season after season: some are quiet, in some the shortest window is billed twice the least.
_WEIGHTS, _SEASON = (1_000, 400_000, 6_000_000), 5 * DAY
#: Of so many changes of a key in turn the last is its deletion.
_LIFE = 3

Rows = dict[int, int]


@dataclass
class Source:
    """One source table; a table created anew under the same name is another one. Times are seconds since 1970.

    `recovery_since` is None while point-in-time recovery is off. `contradictions`: how a job refuses the records of a second.
    """

    number: int
    born: int
    recovery_since: int | None
    period_days: int = LONGEST_PERIOD
    contradictions: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Its identity never changes."""
        self.table = SourceTable(ARN, f"id-of-table-{self.number}", KEY)

    def earliest(self, now: int) -> int:
        """The earliest restorable time."""
        assert self.recovery_since is not None
        return max(self.recovery_since, now - self.period_days * DAY)

    def latest(self, now: int) -> int:
        """The latest restorable time."""
        assert self.recovery_since is not None
        return max(self.recovery_since, now - TRAIL)

    def history(self, now: int, clock_error: int) -> SourceHistory:
        """What the table and its recovery answer; `clock_error`: seconds that the answer is behind."""
        if self.recovery_since is None:
            return SourceHistory(self.table, None, None)
        latest = max(self.recovery_since, self.latest(now) - clock_error)
        return SourceHistory(self.table, instant(self.earliest(now)), instant(latest), recovery_days=self.period_days)

    def version(self, key: int, time: int) -> int | None:
        """The version of an item just before `time`, or None where there is no such item."""
        number = self._changes(key, time)
        return None if number % _LIFE == 0 else number

    def rows(self, at: int) -> Rows:
        """The whole content just before an instant."""
        versions = ((key, self.version(key, at)) for key in range(len(_PACES)))
        return {key: version for key, version in versions if version is not None}

    def records(self, request: ExportRequest) -> Mapping[int, int | None]:
        """What an export holds: each key's new version, or None for a deletion."""
        if request.window is None:
            return dict(self.rows(seconds(_moment(request))))
        start, end = seconds(request.window.start), seconds(request.window.end)
        found = {}
        for key in range(len(_PACES)):
            if self._changes(key, start) != self._changes(key, end):
                before, after = self.version(key, start), self.version(key, end)
                if before is not None or after is not None:
                    found[key] = after
        return found

    def contradiction(self, request: ExportRequest) -> str:
        """How a job refuses an export that nothing else is wrong with; empty where it does not."""
        if request.window is None:
            return ""
        start, end = seconds(request.window.start), seconds(request.window.end)
        return next((name for at, name in self.contradictions.items() if start <= at < end), "")

    def billed(self, request: ExportRequest) -> int:
        """What DynamoDB bills for an export: everything written in the window, the minimum at least; nothing for a full one."""
        if request.window is None:
            return 0
        start, end = seconds(request.window.start), seconds(request.window.end)
        written = sum(self._changes(key, end) - self._changes(key, start) for key in range(len(_PACES)))
        return max(SMALLEST_INCREMENTAL, written * _WEIGHTS[end // _SEASON % len(_WEIGHTS)])

    def _changes(self, key: int, time: int) -> int:
        """How often an item has changed before `time`."""
        return max(0, time - self.born - 7 * key) // _PACES[key]


def _moment(request: ExportRequest) -> datetime:
    assert request.at is not None  # a request without a window is a full one
    return request.at
