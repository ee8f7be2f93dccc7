"""Many seeds on all cores, and what they lived through together."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing import get_context

from tests.simulation.clock import DAY, YEAR
from tests.simulation.simulation import Lived, simulate
from tests.simulation.timeline import Violation

#: A year makes many small objects and hardly a cycle; looking for cycles as often as usual costs a twentieth of it.
_OBJECTS_BETWEEN_COLLECTIONS = 200_000


def live_through(seeds: Iterable[int], days: int = YEAR // DAY) -> Iterator[Lived | str]:
    """What each seed lived through, in any order; a text instead where an invariant broke: the seed and its timeline."""
    # Not forked: a test's process may have threads of its own.
    with get_context("spawn").Pool(os.cpu_count(), gc.set_threshold, (_OBJECTS_BETWEEN_COLLECTIONS,)) as pool:
        yield from pool.imap_unordered(_one, [(seed, days) for seed in seeds])


def _one(asked: tuple[int, int]) -> Lived | str:
    seed, days = asked
    try:
        return simulate(seed, days)
    except Violation as violation:
        return f"Seed {seed}: {violation}"


def summary(lived: Sequence[Lived]) -> str:
    """The figures of several seeds, for people."""
    faults: Counter[str] = sum((one.faults for one in lived), Counter())
    errors: Counter[str] = sum((one.errors for one in lived), Counter())
    return "\n".join(
        [
            f"{len(lived)} tables lived through {sum(one.ticks for one in lived)} ticks:",
            f"  {sum(one.runs for one in lived)} runs, {sum(one.exports for one in lived)} exports, "
            f"{sum(one.commits for one in lived)} commits, {sum(one.verified for one in lived)} verifications, "
            f"{sum(one.mails for one in lived)} mails.",
            f"  {faults.total()} faults: {_listed(faults)}.",
            f"  {errors.total()} failed runs: {_listed(errors)}.",
            "No window was lost or doubled, nothing was stuck.",
        ]
    )


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())
