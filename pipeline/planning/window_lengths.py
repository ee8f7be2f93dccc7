"""How long windows are where the settings give bounds instead of a length: long while little changes, short while much does.

DynamoDB bills an incremental export 10 MB at least. A window that is billed just that could have been longer for the same
money; one that is billed much more could have been shorter. So the next window is as long as the shortest length that would
have been billed more than the least, as far as the last merge knows: its commit says from when to when it reached and
what its exports were billed. The lengths are steps of which each divides the next, so that ends stay on one grid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from pipeline.exports.windows import LONGEST_WINDOW
from pipeline.job_kinds import LOAD, MERGE
from pipeline.prices import SMALLEST_INCREMENTAL
from pipeline.table.marker import JOB, Marker, TableState


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


def window_length(allowed: WindowLengths, table: TableState) -> timedelta:
    """How long the next windows of a table are.

    The shortest length at first, after a full export, and where the last commit does not say what it was billed. Windows
    grow from merge to merge by a step, and shrink at once to what the bill asks for.
    """
    last = last_merge(table.commits) if allowed.shortest < allowed.longest else None
    if last is None or last.billed_bytes is None:
        return allowed.shortest
    covered = last.watermark - last.start
    windows = -(-covered // LONGEST_WINDOW)  # a backlog is cut into the fewest windows
    if last.billed_bytes <= SMALLEST_INCREMENTAL * windows:
        return next((step for step in allowed.steps if step > covered / windows), allowed.longest)
    enough = covered * (SMALLEST_INCREMENTAL / last.billed_bytes)
    return next((step for step in allowed.steps if step >= enough), allowed.longest)


def last_merge(commits: Sequence[Mapping[str, str]]) -> Marker | None:
    """The marker of the newest merge; None where a load is newer, or where it cannot be read.

    A backfill goes over old ground once more: what it was billed says nothing about the pace of changes.
    """
    newest = next((summary for summary in commits if summary.get(JOB) in (MERGE, LOAD)), None)
    if newest is None or newest[JOB] == LOAD:
        return None
    try:
        return Marker.from_properties(newest)
    except (KeyError, ValueError):
        return None
