"""How long windows are where the settings give bounds instead of a length: long while little changes, short while much does.

DynamoDB bills an incremental export 10 MB at least. A window that is billed just that could have been longer for the same
money; one that is billed much more could have been shorter. So the next window is as long as the shortest length that would
have been billed more than the least, as far as the last merge knows: its commit says from when to when it reached and
what its exports were billed. The lengths there are: `pipeline.exports.window_bounds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from pipeline.exports.window_bounds import WindowLengths
from pipeline.exports.windows import SMALLEST_INCREMENTAL
from pipeline.job_kinds import LOAD, MERGE
from pipeline.table.marker import Commit, Marker, TableState


def window_length(allowed: WindowLengths, table: TableState) -> timedelta:
    """How long the next windows of a table are.

    The shortest length at first, after a full export, and where the last commit does not say what it was billed. Windows
    grow from merge to merge by a step, and shrink at once to what the bill asks for.
    """
    last = last_merge(table.commits)
    if last is None or last.billed_bytes is None:
        return allowed.shortest
    covered = last.watermark - last.start
    if last.billed_bytes <= SMALLEST_INCREMENTAL:
        return next((step for step in allowed.steps if step > covered), allowed.longest)
    # A backlog of several windows, each billed the least, comes to more than half a day: only the longest can be that long.
    enough = covered * (SMALLEST_INCREMENTAL / last.billed_bytes)
    return next((step for step in allowed.steps if step >= enough), allowed.longest)


def last_merge(commits: Sequence[Commit]) -> Marker | None:
    """The marker of the newest merge; None where there is none, or a load is newer.

    A backfill goes over old ground once more: what it was billed says nothing about the pace of changes.
    """
    newest = next((commit.marker for commit in commits if commit.marker.job in (MERGE, LOAD)), None)
    return newest if newest and newest.job == MERGE else None
