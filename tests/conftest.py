"""What holds for all tests."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

# How long an example takes says something of the machine, nothing of the code; and one commit has one result everywhere.
settings.register_profile("tidemark", deadline=None, derandomize=True)
settings.load_profile("tidemark")

#: Where tests share something that takes long to start: one process takes all that lie in the same folder.
_TOGETHER = ("tests/deployed/", "tests/infra/")
#: A file there that is long enough to be worth a start of its own beside the others.
_ALONE = "tests/deployed/test_crash_matrix.py"
#: What is begun first, the longest: else one of them runs on alone at the end, on one processor. Those of the functions wait
#: for calls that are tried again, which the others beside them make use of.
_FIRST = (
    "tests/spark/oracle/",
    "tests/spark/",
    "tests/deployed/",
    "tests/lambdas/",
    "tests/simulation/",
    _ALONE,
    "tests/infra/",
    "tests/local/",
)
#: So many processes have a Spark session, and keep it to the end: each takes 2 GB, and is slow until Java has compiled what it
#: runs, for a minute of a processor.
_SESSIONS = 2


class _ByFixtures(LoadScopeScheduling):
    """Hands tests to processes in units that share fixtures: a folder below `_TOGETHER`, elsewhere a file."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file.rpartition("/")[0] if file.startswith(_TOGETHER) and file != _ALONE else file

    def _assign_work_unit(self, node: Any) -> None:
        if unit := self._next_for(node):
            self.workqueue.move_to_end(unit, last=False)
        super()._assign_work_unit(node)

    def _reschedule(self, node: Any) -> None:
        """Nothing more for a process that no unit suits: those with a session finish what is left."""
        if self.workqueue and not node.shutting_down and not self._next_for(node):
            node.shutdown()
        else:
            super()._reschedule(node)

    def _next_for(self, node: Any) -> str | None:
        """The next unit for the process: one with a session is for those that need it, while there are any."""
        with_session = [other for other, units in self.assigned_work.items() if any(map(_needs_session, units))]
        if node in with_session:
            return next(filter(_needs_session, self.workqueue), next(iter(self.workqueue), None))
        may_start_one = len(with_session) < _SESSIONS
        return next((unit for unit in self.workqueue if may_start_one or not _needs_session(unit)), None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bring the tests into the order in which their units are begun; within a unit they stay as they are."""
    items.sort(key=lambda item: _rank(item.nodeid))


def _rank(nodeid: str) -> int:
    """How early: as the longest of `_FIRST` that it lies below says."""
    below = [start for start in _FIRST if nodeid.startswith(start)]
    return _FIRST.index(max(below, key=len)) if below else len(_FIRST)


def _needs_session(unit: str) -> bool:
    return unit.startswith("tests/spark")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """What `make test` runs its processes with; xdist's own `loadgroup` groups nothing under pytest 9."""
    return _ByFixtures(config, log)
