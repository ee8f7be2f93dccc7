"""What the results say when held against each other, and what they ought to say: ratios carry over to other machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from local.bench.pieces import LOAD, MERGE, MORE, NARROW, TIMES, WIDE, WINDOWS, Piece
from local.bench.work import BOUND, OBVIOUS, TIDEMARK, Measured

_MOST, _LEAST = "at most", "at least"
#: By the table's items: how many times faster than the obvious way a cold job and a warm merge are, and how much less is written.
_MERGE_AIMS = {1_000_000: (2.5, 5.0, 50.0), 4_000_000: (4.5, 8.0, 200.0)}


@dataclass(frozen=True)
class Result:
    """A piece of work, done by one way."""

    piece: Piece
    way: str
    measured: Measured


@dataclass(frozen=True)
class Ratio:
    """A ratio of two results; `aim`: what it ought to be, "" where nothing is said."""

    title: str
    found: float
    aim: str = ""

    @property
    def met(self) -> str:
        """Whether it is what it ought to be, in a word; "" where nothing is said."""
        if not self.aim:
            return ""
        bound = float(self.aim.rpartition(" ")[2])
        return "yes" if (self.found <= bound if self.aim.startswith(_MOST) else self.found >= bound) else "no"


def ratios(results: Sequence[Result]) -> list[Ratio]:
    """Every ratio that the results allow."""
    done = {(result.piece.kind, result.piece.items, result.way): result.measured for result in results}
    sizes = sorted({result.piece.items for result in results if result.piece.kind in (LOAD, MERGE)})
    found = [ratio for items in sizes for ratio in _of_a_size(done, items)]
    return found + list(_of_growth(done, sizes)) + list(_of_width(results))


_Done = dict[tuple[str, int, str], Measured]


def _of_a_size(done: _Done, items: int) -> Iterator[Ratio]:
    ours, bound, obvious = (done.get((LOAD, items, way)) for way in (TIDEMARK, BOUND, OBVIOUS))
    if ours and bound and obvious:
        name = f"load of {items:,}: tidemark / the bound"
        yield Ratio(f"{name}, whole job", ours.job_seconds / bound.job_seconds, f"{_MOST} 1.3")
        yield Ratio(f"{name}, at work", ours.seconds / bound.seconds)
        name = f"load of {items:,}: the obvious way / tidemark"
        yield Ratio(f"{name}, whole jobs", obvious.job_seconds / ours.job_seconds, f"{_LEAST} 1")
        yield Ratio(f"{name}, at work", obvious.seconds / ours.seconds)
    ours, bound, obvious = (done.get((MERGE, items, way)) for way in (TIDEMARK, BOUND, OBVIOUS))
    if ours and bound and obvious:
        job, warm, written = (f"{_LEAST} {aim:g}" for aim in _MERGE_AIMS[items]) if items in _MERGE_AIMS else ("",) * 3
        name = f"merge into {items:,}: the obvious way / tidemark"
        yield Ratio(f"{name}, cold job", obvious.job_seconds / ours.job_seconds, job)
        yield Ratio(f"{name}, warm session", obvious.warm_seconds / ours.warm_seconds, warm)
        yield Ratio(f"{name}, bytes written", obvious.written_bytes / ours.written_bytes, written)
        name = f"merge into {items:,}: the obvious way / the bound"
        yield Ratio(f"{name}, cold job", obvious.job_seconds / bound.job_seconds)
        yield Ratio(f"{name}, warm session", obvious.warm_seconds / bound.warm_seconds)


def _of_growth(done: _Done, sizes: Sequence[int]) -> Iterator[Ratio]:
    merges = {items: done[(MERGE, items, TIDEMARK)] for items in sizes if (MERGE, items, TIDEMARK) in done}
    for items in merges:
        if 4 * items in merges:
            title = f"merge into {4 * items:,} / into {items:,}"
            yield Ratio(title, merges[4 * items].seconds / merges[items].seconds, f"{_MOST} 2")
    for kind, what, aim in ((MORE, f"{TIMES} times the changes", 2.5), (WINDOWS, "the same in many windows", 1.5)):
        for items, once in merges.items():
            other = done.get((kind, items, TIDEMARK))
            if other:
                yield Ratio(f"merge into {items:,}: {what} / once", other.seconds / once.seconds, f"{_MOST} {aim:g}")


def _of_width(results: Sequence[Result]) -> Iterator[Ratio]:
    paces = {r.piece.kind: r.measured.seconds / r.piece.raw_bytes for r in results if r.piece.kind in (NARROW, WIDE)}
    if len(paces) > 1:
        yield Ratio("load by the byte: many attributes / few", paces[WIDE] / paces[NARROW], f"{_MOST} 3")
