"""The daily digest: what the commits of whole UTC days brought, read off the table itself.

A day is over when the watermark has passed its midnight, and a commit belongs to the day its history ends in. So the sum
is complete when it is sent, however late that is, and no clock is asked. The table's own commits are counted, because
they are what is true: work that was rolled back is not in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from pipeline.instants import floor_to, format_instant, format_optional, parse_instant, parse_optional
from pipeline.job_kinds import BACKFILL, LOAD
from pipeline.table.marker import Commit, Marker

_DAY = timedelta(days=1)
#: The newest, where several days are summed up: two days of the shortest windows.
_MOST_REPORTS = 192


@dataclass(frozen=True)
class Digest:
    """The sum of the commits after `start` up to `end`, both midnights.

    `jobs`: how many of each; `counts`: of records; `job_ids`: under which the jobs have left their reports; `found`: what
    those have found (`pipeline.table.drift.summed`), once they have been read. `anew`: the instant of the full export that
    the table was made anew by since the last digest, if nothing of before is left of it. `left_from`: from when on the sum is
    whole, if commits since the last digest have expired.
    """

    start: datetime
    end: datetime
    jobs: Mapping[str, int]
    counts: Mapping[str, int]
    job_ids: tuple[str, ...] = ()
    found: Mapping[str, Any] = field(default_factory=dict)
    anew: datetime | None = None
    left_from: datetime | None = None

    @property
    def days(self) -> str:
        """The day, or the first and the last, as people write them."""
        first, last = f"{self.start:%Y-%m-%d}", f"{self.end - _DAY:%Y-%m-%d}"
        return first if first == last else f"{first} to {last}"

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for the event that is handed from state to state."""
        return {
            "start": format_instant(self.start),
            "end": format_instant(self.end),
            "jobs": dict(self.jobs),
            "counts": dict(self.counts),
            "job_ids": list(self.job_ids),
            "found": dict(self.found),
            "anew": format_optional(self.anew),
            "left_from": format_optional(self.left_from),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Digest | None:
        """Read what `to_json` wrote; None for an empty object: no day is to be summed up."""
        if not raw:
            return None
        start, end = parse_instant(raw["start"]), parse_instant(raw["end"])
        anew, left_from = (parse_optional(raw.get(name)) for name in ("anew", "left_from"))
        return cls(start, end, raw["jobs"], raw["counts"], tuple(raw["job_ids"]), raw["found"], anew, left_from)


def digest_due(commits: Sequence[Commit], watermark: datetime | None, digested: datetime | None) -> Digest | None:
    """Sum up the days that are over and not told yet; None where there is none, or nothing happened.

    `commits`: newest first, as far back as the table's history is kept. With `digested` None only the last day is summed up:
    the mails of the days before were others.
    """
    if watermark is None:
        return None
    kept = [commit.marker for commit in commits]
    end = floor_to(watermark, _DAY)
    start, anew = _first_kept(kept, digested) if digested else (end - _DAY, None)
    markers = list(_within(kept, start, end))
    jobs: dict[str, int] = {}
    counts: dict[str, int] = {}
    for marker in markers:
        jobs[marker.job] = jobs.get(marker.job, 0) + 1
        for name, count in marker.counts.items():
            counts[name] = counts.get(name, 0) + count
    job_ids = tuple(marker.job_id for marker in markers[:_MOST_REPORTS])
    left_from = _left_from(kept, digested, start) if digested and not anew else None
    return Digest(start, end, jobs, counts, job_ids, anew=anew, left_from=left_from) if markers else None


def _first_kept(kept: Sequence[Marker], digested: datetime) -> tuple[datetime, datetime | None]:
    """The midnight from which on no commit has expired, and the instant of the load that is the oldest of them.

    Of days that have lost some, only a part could be summed up.
    """
    if not kept:
        return digested, None
    # A backfill right after its load ends where that does: of the two the load is the older.
    oldest = min(reversed(kept), key=lambda marker: marker.watermark)
    at = oldest.watermark
    anew = at if oldest.job == LOAD and at > digested else None
    day = floor_to(at, _DAY)
    if day <= digested:
        return digested, anew
    # Before the load that a table was made by nothing is left, and what ends at midnight belongs to the day before.
    return (day if at == day or anew else day + _DAY), anew


def _left_from(kept: Sequence[Marker], digested: datetime, start: datetime) -> datetime | None:
    """From when on the sum that begins at `start` is whole, if commits since the last digest have expired.

    Each begins where one before ended. A backfill goes over old ground, and brings the table nowhere.
    """
    begins = [marker.watermark if marker.job == BACKFILL else marker.start for marker in kept]
    oldest = min(begins, default=digested)
    return max(oldest, start) if oldest > digested else None


def _within(kept: Sequence[Marker], start: datetime, end: datetime) -> Iterator[Marker]:
    """Each job's newest marker in the stretch."""
    seen = set()
    for marker in kept:
        if start < marker.watermark <= end and marker.job_id not in seen:
            seen.add(marker.job_id)
            yield marker
