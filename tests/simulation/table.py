"""The Iceberg table: snapshots with rows and marker, commits that may lose a race, and what somebody else may do to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from pipeline.job_order import JobOrder
from pipeline.table.marker import NO_TABLE, Commit, Marker, TableState
from tests.simulation.source import Rows

#: Older snapshots have expired: as many as a few days of short windows make.
_KEPT = 200
_JOB_IDS = 60
#: Nobody looks further back than past a few backfills, but for the loads.
_COMMITS = 10


@dataclass(frozen=True)
class Snapshot:
    """One commit: the rows, what the table says of itself, the jobs that made it, and the watermark of the last load."""

    rows: Rows
    state: TableState
    number: int
    jobs: tuple[str, ...] = ()
    loaded: datetime | None = None


class IcebergTable:
    """The ancestors of ``main``, oldest first; none where there is no table."""

    def __init__(self) -> None:
        self.snapshots: list[Snapshot] = []
        #: The watermark of the last maintenance that has ended.
        self.put_in_order: datetime | None = None
        self._committed = 0

    @property
    def state(self) -> TableState:
        """What the table says of itself now."""
        return self.snapshots[-1].state if self.snapshots else NO_TABLE

    @property
    def rows(self) -> Rows:
        """What a reader sees now."""
        return self.snapshots[-1].rows if self.snapshots else {}

    @property
    def loaded(self) -> datetime | None:
        """At which watermark the table was made anew last."""
        return self.snapshots[-1].loaded if self.snapshots else None

    @property
    def version(self) -> int:
        """Another number after every change of the table, whoever made it."""
        return self.snapshots[-1].number if self.snapshots else -self._committed

    def at(self, instant: datetime) -> Rows | None:
        """What the newest snapshot shows that is at an instant; None where none is."""
        markers = ((snapshot.state.marker, snapshot.rows) for snapshot in reversed(self.snapshots))
        return next((rows for marker, rows in markers if marker and marker.watermark == instant), None)

    def is_being_maintained(self, order: JobOrder) -> None:
        """Remember it as a table property, which makes no snapshot."""
        self.snapshots[-1] = replace(self.snapshots[-1], state=replace(self.state, maintained=order.end))

    def is_maintained(self, order: JobOrder) -> None:
        """A commit that says nothing of where the table is, on top of whatever is there, if anything is."""
        self.put_in_order = order.end
        if self.snapshots:
            self._add(replace(self.snapshots[-1], number=self._next()))

    def commit(self, order: JobOrder, rows: Rows, billed: int) -> None:
        """Add a snapshot with the marker that jobs write."""
        source = order.source
        marker = Marker(order.end, order.start, order.job, order.job_id, source.arn, source.id, {}, billed)
        done = (*(self.snapshots[-1].jobs[1 - _JOB_IDS :] if self.snapshots else ()), order.job_id)
        newest, older = self.state.commits[: _COMMITS - 1], self.state.commits[_COMMITS - 1 :]
        made = Commit(marker, marker.to_properties())
        commits = (made, *newest, *(one for one in older if one.marker.job == "load"))
        state = TableState(True, marker, frozenset(done), commits, self.state.maintained)
        loaded = order.end if order.job == "load" else self.loaded
        self._add(Snapshot(rows, state, self._next(), done, loaded))

    def roll_back(self, commits: int) -> None:
        """Make an older snapshot the newest."""
        left, maintained = self.snapshots[: max(1, len(self.snapshots) - commits)], self.state.maintained
        if left:
            state = replace(left[-1].state, maintained=maintained)
            self.snapshots = [*left[:-1], replace(left[-1], state=state, number=self._next())]

    def drop(self) -> None:
        """Remove the table."""
        self._next()
        self.snapshots = []

    def replace_by_a_stranger(self) -> None:
        """Somebody else writes the table anew, without a marker."""
        self.snapshots = [Snapshot({}, TableState(exists=True), self._next())]

    def _add(self, snapshot: Snapshot) -> None:
        self.snapshots.append(snapshot)
        if len(self.snapshots) > 2 * _KEPT:
            del self.snapshots[:-_KEPT]

    def _next(self) -> int:
        self._committed += 1
        return self._committed
