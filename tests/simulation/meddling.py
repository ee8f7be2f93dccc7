"""What others do to the table, its parameters and its claims, and what should never stand in the source's history."""

from __future__ import annotations

import random

from tests.simulation.account import Account
from tests.simulation.clock import Process

#: How a job refuses records that it cannot follow, however often they are exported.
_CONTRADICTIONS = ("ConflictingChanges", "KeyMismatch")


class Meddling:
    """Each changes something at once, and is done with it."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._dice: random.Random = account.dice

    def _table_rolled_back(self) -> Process:
        self._meddle()
        self._account.table.roll_back(self._dice.choice((1, 1, 2, 5, 40)))
        yield 0

    def _table_dropped(self) -> Process:
        self._meddle()
        self._account.table.drop()
        yield 0

    def _table_written_by_a_stranger(self) -> Process:
        self._meddle()
        self._account.table.replace_by_a_stranger()
        yield 0

    def _meddle(self) -> None:
        self._account.jobs.meddled_at = self._account.clock.now
        self._account.trouble()

    def _claim_garbled(self) -> Process:
        runs = self._account.parameters.runs
        if runs:
            newest = max(runs, key=int)
            self._account.parameters.runs = {**runs, newest: self._dice.choice(("", "{}", runs[newest][:-9], "RUN"))}
            self._account.standing.add("a claim is garbled")
            yield 0

    def _parameter_wrong(self) -> Process:
        self._account.parameters.recorded = self._dice.choice(("", "2030-01-01T00:00:00Z", "yesterday"))
        yield 0

    def _records_contradict(self) -> Process:
        """Every export of the present has them, until a full export passes over it."""
        if self._account.source is not None:
            self._account.source.contradictions[self._account.clock.now] = self._dice.choice(_CONTRADICTIONS)
        yield 0
