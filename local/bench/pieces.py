"""What is measured: pieces of work, each done by several ways on the same data, in an order in which each finds its table."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from local.bench import exports, wide
from local.bench.exports import WrittenExport
from local.bench.work import BOUND, OBVIOUS, TIDEMARK, Round

LOAD, MERGE, MORE, WINDOWS, NARROW, WIDE = "load", "merge", "more changes", "many windows", "narrow", "wide"
#: Changes of a small merge; of one of ten times as many; windows of the one of many.
CHANGES, TIMES, MANY = 5_000, 10, 100
#: How often most is measured, the ways in turn: a machine's pace changes from minute to minute. The median counts.
_TURNS = 3
#: A load of more items takes minutes itself, over which the pace evens out.
_LONG_LOAD = 2_000_000
#: Bytes of the loads that show what width costs, before compression.
_BYTES_OF_A_WIDTH = 80_000_000
_WIDTHS = {NARROW: wide.NARROW, WIDE: wide.WIDE}


@dataclass(frozen=True)
class Piece:
    """A piece of work: what it is, into a table of how many items, how many records and bytes its first round reads.

    `rounds`: one job after the other in the same process. The first is what is measured, cold; the last, where there
    are several, is measured warm.
    """

    kind: str
    items: int
    records: int
    raw_bytes: int
    rounds: tuple[Round, ...]
    ways: tuple[str, ...]

    @property
    def is_load(self) -> bool:
        """Whether it makes its table, and needs none."""
        return self.kind in (LOAD, NARROW, WIDE)

    @property
    def turns(self) -> int:
        """How often each way is measured."""
        is_long = self.kind == MORE or (self.is_load and self.items > _LONG_LOAD)
        return 1 if is_long else _TURNS

    @property
    def title(self) -> str:
        """What is done."""
        if self.kind in _WIDTHS:
            return f"load {self.items:,} items of {_WIDTHS[self.kind]:,} attributes"
        if self.kind == LOAD:
            return f"load {self.items:,}"
        windows = f" in {MANY} windows" if self.kind == WINDOWS else ""
        return f"merge {self.records:,}{windows} into {self.items:,}"


def of_orders(folder: Path, items: int) -> Iterator[Piece]:
    """A load of so many orders, and the merges into them; the exports are there while the pieces are gone through."""
    data = folder / f"orders-{items}"
    full = exports.write_full(data, items)
    yield Piece(LOAD, items, full.items, full.raw_bytes, (Round((str(full.summary),)),), (TIDEMARK, BOUND, OBVIOUS))
    windows = _Windows(data, items)
    yield windows.piece(MERGE, [[CHANGES], [CHANGES], [CHANGES]], (TIDEMARK, BOUND, OBVIOUS))
    yield windows.piece(MORE, [[TIMES * CHANGES]], (TIDEMARK, OBVIOUS))
    yield windows.piece(WINDOWS, [[CHANGES // MANY] * MANY], (TIDEMARK,))
    shutil.rmtree(data)


def of_widths(folder: Path) -> Iterator[Piece]:
    """Loads of as many bytes in few and in many attributes."""
    for kind, attributes in _WIDTHS.items():
        item, data = partial(wide.item, attributes), folder / kind
        full = exports.write_full(data, _BYTES_OF_A_WIDTH // len(item(0)), item)
        yield Piece(kind, full.items, full.items, full.raw_bytes, (Round((str(full.summary),)),), (TIDEMARK,))
        shutil.rmtree(data)


class _Windows:
    """Windows that touch, and change different orders."""

    def __init__(self, folder: Path, items: int) -> None:
        self._folder, self._items = folder, items
        self._written = self._changed = 0

    def piece(self, kind: str, rounds: list[list[int]], ways: tuple[str, ...]) -> Piece:
        """A piece of these rounds: the changes of each window of each."""
        made = [(self._written, [self._window(changes) for changes in windows]) for windows in rounds]
        first = made[0][1]
        return Piece(
            kind,
            self._items,
            sum(window.items for window in first),
            sum(window.raw_bytes for window in first),
            tuple(
                Round(tuple(str(w.summary) for w in windows), begin, begin + len(windows)) for begin, windows in made
            ),
            ways,
        )

    def _window(self, changes: int) -> WrittenExport:
        written = exports.write_changes(self._folder, self._items, self._changed, changes, self._written)
        self._written, self._changed = self._written + 1, self._changed + changes
        return written
