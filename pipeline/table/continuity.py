"""Continuity: whether a table's rows were what the changes merged into them say that the source held before. Pure.

Told by the counts of each commit and by what Iceberg counted of it, so that whoever looks at the table finds out, whatever
has become of the run that merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from pipeline.instants import format_instant, parse_instant
from pipeline.job_kinds import LOAD, VERIFY
from pipeline.table.marker import Commit
from pipeline.wording import number_of

#: What Iceberg calls a commit that only writes rows anew, as compaction does.
_REWRITES = "replace"
#: Every run that does not fail ends by looking, so there are few commits that nobody has looked at; a table of years has
#: many others.
_LOOKED_AT = 100


@dataclass(frozen=True)
class Doubt:
    """That rows were not what the changes say: found by which job, which brought the table up to which watermark."""

    watermark: datetime
    job_id: str
    said: str


class Rows(NamedTuple):
    """What is known of a table's rows: the newest doubt about them, or up to which watermark they are surely the source's."""

    doubt: Doubt | None = None
    trusted: datetime | None = None

    def to_json(self) -> dict[str, str]:
        """Plain JSON values, for the event that is handed from state to state."""
        if self.doubt:
            doubt = self.doubt
            return {"watermark": format_instant(doubt.watermark), "job_id": doubt.job_id, "said": doubt.said}
        return {"trusted": format_instant(self.trusted)} if self.trusted else {}

    @classmethod
    def from_json(cls, raw: Mapping[str, str]) -> Rows:
        """Read what `to_json` wrote."""
        if "said" in raw:
            return cls(doubt=Doubt(parse_instant(raw["watermark"]), raw["job_id"], raw["said"]))
        return cls(trusted=parse_instant(raw["trusted"])) if raw else NOTHING_KNOWN


NOTHING_KNOWN = Rows()


def rows_of_report(report: Mapping[str, Any]) -> Rows:
    """What a job's report, as it is handed on, says of the rows."""
    watermark = parse_instant(report["watermark"])
    if report["continuity"]:
        return Rows(doubt=Doubt(watermark, report["job_id"], report["continuity"]))
    return Rows(trusted=watermark) if report["job"] in (LOAD, VERIFY) else NOTHING_KNOWN


def rows_of_table(commits: Iterable[Commit]) -> Rows:
    """What a table's own commits, newest first, say of its rows since they were loaded; only so many are looked at."""
    for commit in islice(commits, _LOOKED_AT):
        try:
            found = _rows_of(commit)
        except (KeyError, ValueError):
            continue  # its counts are not to be read: it says nothing
        if found != NOTHING_KNOWN:
            return found
    return NOTHING_KNOWN


def _rows_of(commit: Commit) -> Rows:
    marker, summary = commit
    if marker.job == LOAD:
        return Rows(trusted=marker.watermark)
    # What stands in the table's properties alone has no counts of Iceberg's.
    if summary.get("operation", _REWRITES) == _REWRITES:
        return NOTHING_KNOWN
    said = continuity(marker.counts, summary)
    return Rows(doubt=Doubt(marker.watermark, marker.job_id, said)) if said else NOTHING_KNOWN


def continuity(counts: Mapping[str, int], summary: Mapping[str, str]) -> str:
    """Hold the counts against what Iceberg wrote, and name what old images were compared with: empty where all agree.

    They disagree where the table did not hold what the images say it held: after a gap, an overlap, or somebody else's
    hand in the table. `counts`: those of a commit. Sums say nothing where a merge has written whole files anew.
    """
    found = [f"{said}." for said in (_by_sums(counts, summary), _by_images(counts)) if said]
    conclusion = "So the table did not hold what the source held: run a verification."
    return " ".join([*found, conclusion]) if found else ""


def _by_sums(counts: Mapping[str, int], summary: Mapping[str, str]) -> str:
    if int(summary.get("deleted-data-files", 0)):
        # Somebody has set copy-on-write: rows beside those that change are written anew too, and nothing counts them apart.
        return ""
    written, said_written = int(summary.get("added-records", 0)), counts["inserted"] + counts["updated"]
    # A delete file of an earlier merge is written anew together with the new deletes, and counted again.
    removed = int(summary.get("added-position-deletes", 0)) - int(summary.get("removed-position-deletes", 0))
    said_removed = counts["updated"] + counts["deleted"]
    if (written, removed) == (said_written, said_removed):
        return ""
    return (
        f"By the export, {number_of(said_written, 'row')} should have been written and {said_removed} removed or replaced; "
        f"Iceberg counted {written} and {removed}"
    )


def _by_images(counts: Mapping[str, int]) -> str:
    """What `spark.merging.old_images` has found wrong, if anything was compared."""
    different, lonely = counts.get("images_different", 0), counts.get("images_without_row", 0)
    images = [
        *([f"{different} {'differs' if different == 1 else 'differ'} from the table's row"] if different else []),
        *([f"{lonely} {_have(lonely)} no row"] if lonely else []),
    ]
    said = [f"Of the old images, {' and '.join(images)}"] if images else []
    if rows := counts.get("rows_without_image", 0):
        said.append(f"{number_of(rows, 'row')} {_have(rows)} no old image")
    return "; ".join(said)


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
