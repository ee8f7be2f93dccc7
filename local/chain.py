"""Which of a folder's exports to apply to a table, in which order: the chain, checked before anything is applied.

A chain is a full export followed by windows that each start where the last ended. Pure: manifests in, steps out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from local.found_exports import FoundExport
from pipeline.errors import Gap, ManifestUnreadable, Overlap
from pipeline.exports.manifests import check_source
from pipeline.identity import SourceTable
from pipeline.instants import format_instant


@dataclass(frozen=True)
class Chain:
    """What is new for the table: a full export to load first, if any, then the windows to merge."""

    base: FoundExport | None
    windows: tuple[FoundExport, ...]

    @property
    def is_empty(self) -> bool:
        """Whether the table already shows everything."""
        return self.base is None and not self.windows


def chain_for(exports: Sequence[FoundExport], source: SourceTable, watermark: datetime | None) -> Chain:
    """Return what is new after `watermark` (None: there is no table yet).

    The base is the full export from which windows lead furthest, the newest of several. Where there is a table, it is only
    needed, as a rebuild, where the windows from the watermark do not lead as far. Windows that lie wholly before the point
    reached have been applied already, or are part of it.
    Raises OtherTable, OtherTableId, Gap or Overlap, naming both ends.
    """
    for export in exports:
        check_source(export.manifest, source)
    base = _base(exports, watermark)
    if base is None and watermark is None:
        raise ManifestUnreadable(
            "the folder holds no full export, and there is no table to merge windows into",
            "Put a full export into the folder, from which the windows go on.",
        )
    reached = base.manifest.end if base else watermark
    assert reached is not None  # one of the two is there
    windows = _longest_path(exports, reached)
    _check_nothing_beyond(exports, windows[-1].manifest.end if windows else reached)
    return Chain(base, windows)


def _windows(exports: Sequence[FoundExport]) -> list[FoundExport]:
    return [export for export in exports if not export.manifest.is_full]


def _base(exports: Sequence[FoundExport], watermark: datetime | None) -> FoundExport | None:
    """The full export to start from: what leads furthest, the newest of several. None where windows lead as far."""
    later = [e for e in exports if e.manifest.is_full and (watermark is None or e.manifest.end > watermark)]
    base = max(later, key=lambda e: (_reached(exports, e.manifest.end), e.manifest.end), default=None)
    if base and watermark and _reached(exports, watermark) >= _reached(exports, base.manifest.end):
        return None
    return base


def _reached(exports: Sequence[FoundExport], start: datetime) -> datetime:
    """How far touching windows lead from `start`."""
    path = _longest_path(exports, start)
    return path[-1].manifest.end if path else start


def _longest_path(exports: Sequence[FoundExport], start: datetime) -> tuple[FoundExport, ...]:
    """The touching windows that lead furthest from `start`. The same stretch may have been exported more than once."""
    came_by: dict[datetime, FoundExport] = {}
    for window in sorted(_windows(exports), key=lambda export: export.manifest.start):
        if window.manifest.start == start or window.manifest.start in came_by:
            came_by.setdefault(window.manifest.end, window)
    path: list[FoundExport] = []
    at = max(came_by, default=start)
    while at != start:
        path.insert(0, came_by[at])
        at = came_by[at].manifest.start
    return tuple(path)


def _check_nothing_beyond(exports: Sequence[FoundExport], reached: datetime) -> None:
    """Refuse windows that go on beyond the chain: they start after its end (a gap) or before it (an overlap)."""
    for manifest in (window.manifest for window in _windows(exports) if window.manifest.end > reached):
        here = f"the export {manifest.export_arn} covers {manifest.window}; the chain ends at {format_instant(reached)}"
        if manifest.start > reached:
            raise Gap(f"{here}, and the changes between are missing")
        raise Overlap(f"{here}, inside it")
