"""The benchmark's results as lines, as a Markdown page, and as a chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.bench.work import WAYS, Measured

_HEAD = "| work | records | way | seconds | MB/s | written, MB | shuffles | shuffled, MB | peak memory, MB |"


@dataclass(frozen=True)
class Result:
    """One piece of work by one way: a load (`index` -1) or a window's merge into a table of `items` items.

    `raw_bytes`: the size of what was read, before compression.
    """

    way: str
    items: int
    index: int
    records: int
    raw_bytes: int
    measured: Measured

    @property
    def is_load(self) -> bool:
        """Whether it is a load."""
        return self.index < 0

    @property
    def title(self) -> str:
        """What was done."""
        return f"load {self.items:,}" if self.is_load else f"merge {self.records:,} into {self.items:,}"


def line(result: Result) -> str:
    """One result for a terminal."""
    m = result.measured
    return (
        f"{result.title:34} {result.way:16} {m.seconds:7.1f} s  {result.raw_bytes / m.seconds / 1e6:6.1f} MB/s  "
        f"written {m.written_bytes / 1e6:8.1f} MB  {m.shuffles} shuffles  peak {m.peak_memory_bytes / 1e6:6.0f} MB"
    )


def chart_of(page: Path) -> Path:
    """Where the chart of a page lies."""
    return page.with_suffix(".png")


def write_page(page: Path, results: Sequence[Result], machine: str) -> None:
    """Write the page and its chart."""
    page.parent.mkdir(parents=True, exist_ok=True)
    _draw(chart_of(page), results)
    rows = [_HEAD, "|" + "---|" * (_HEAD.count("|") - 1), *map(_row, results)]
    title = f"# Benchmarks\n\nOne run of `make bench`, every piece of work in a fresh process: {machine}.\n\n"
    chart = f"![Seconds and bytes written, by size of table]({chart_of(page).name})\n\n"
    page.write_text(title + chart + "\n".join(rows) + "\n")


def _row(result: Result) -> str:
    m = result.measured
    cells = [
        result.title,
        f"{result.records:,}",
        result.way,
        f"{m.seconds:.1f}",
        f"{result.raw_bytes / m.seconds / 1e6:.1f}",
        f"{m.written_bytes / 1e6:.1f}",
        str(m.shuffles),
        f"{m.shuffled_bytes / 1e6:.1f}",
        f"{m.peak_memory_bytes / 1e6:.0f}" if m.peak_memory_bytes else "unknown",
    ]
    return f"| {' | '.join(cells)} |"


def _draw(file: Path, results: Sequence[Result]) -> None:
    # Only this needs the plotting library, which takes a second to import.
    from matplotlib.figure import Figure

    indexes = sorted({result.index for result in results})
    figure = Figure(figsize=(4 * len(indexes), 6.5), layout="constrained")
    axes = figure.subplots(2, len(indexes), squeeze=False)
    for column, index in enumerate(indexes):
        some = [result for result in results if result.index == index]
        _plot(axes[0][column], some, "seconds", lambda result: result.measured.seconds)
        _plot(axes[1][column], some, "MB written", lambda result: result.measured.written_bytes / 1e6)
        axes[0][column].set_title("load" if index < 0 else f"merge of window {index + 1}")
    axes[0][0].legend()
    figure.savefig(file, dpi=110)


def _plot(axes: Any, results: Sequence[Result], unit: str, of: Any) -> None:
    for way, marker in zip(WAYS, "os", strict=True):
        some = [result for result in results if result.way == way]
        axes.plot([result.items for result in some], [of(result) for result in some], marker=marker, label=way)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("items in the table")
    axes.set_ylabel(unit)
    axes.grid(alpha=0.3)
