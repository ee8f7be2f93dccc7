"""The benchmark's results as lines, as a Markdown page, and as a chart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from local.bench.pieces import LOAD, MERGE
from local.bench.ratios import Ratio, Result, ratios
from local.bench.work import LOCAL_JAVA, PLAIN_JAVA, WAYS

_HEAD = (
    "| work | way | whole job, s | work, s | warm, s | MB/s | written, MB | shuffles | shuffled, MB | peak memory, MB |"
)
_INTRODUCTION = """\
One run of `make bench ITEMS="{sizes}"{java}` on {day}, on {machine}. Every job has a process of its own, as on
EMR Serverless: a new JVM, cold, and a Python that has PySpark and nothing else, as on the local AWS. It finds all modules
compiled; those of the job's own bundle EMR's compiles for each job, which takes a fifth of a second.

- **The bound** is the least that Spark does for a table of the same types, partitioned and merged alike: all types known
  before, nothing accounted for, nothing proven (`local/bench/bound.py`), by one plain MERGE. A merge may be quicker all the
  same where it brings fewer of the table's rows to its changes (docs/decisions/0018).
- **The obvious way** infers the schema from the data in a first job, reads them with it in a second, writes an
  unpartitioned copy-on-write table, and merges with one MERGE (`local/bench/obvious.py`). It loses values by design. Its
  load is the sum of its two jobs.
- *Whole job*: from the start of the process to the end of its session. *Work*: without the session. *Warm*: the third
  merge of the kind in one session, each of other changes. MB/s: of DynamoDB JSON, before compression, while at work.
- All is measured three times, the ways in turn, because a machine's pace changes from minute to minute; the medians
  stand here. Only merges of many changes, and loads that take minutes, are measured once.
"""
_JAVAS = {
    LOCAL_JAVA: """\
- All find Java's archive of classes laid ready, as jobs do here. Tidemark's merges, and the bound's, run with Java's first
  compiler only and its serial collector, as every job on the local AWS (docs/decisions/0014); all loads, and the obvious
  way, with both compilers and the parallel collector, with which they are quicker.
""",
    PLAIN_JAVA: """\
- Java is as Spark starts it by itself: no archive of its classes is laid ready, Spark's jars are as they come, and nothing
  is said of compilers and collectors but what Tidemark's jobs say on EMR Serverless (docs/decisions/0014).
""",
}


@dataclass(frozen=True)
class Setting:
    """On which Java, where and when a run of the bench was."""

    java: str
    machine: str
    day: date


def line(result: Result) -> str:
    """One result for a terminal."""
    m = result.measured
    return (
        f"{result.piece.title:46} {result.way:16} {m.job_seconds:7.1f} s, at work {m.seconds:7.1f} s "
        f"{result.piece.raw_bytes / m.seconds / 1e6:6.1f} MB/s  warm {m.warm_seconds:5.1f} s  "
        f"written {m.written_bytes / 1e6:7.1f} MB  peak {m.peak_memory_bytes / 1e6:6.0f} MB"
    )


def ratio_line(ratio: Ratio) -> str:
    """One ratio for a terminal."""
    return f"{ratio.title:60} {ratio.found:7.2f}  {ratio.aim:13} {ratio.met}"


def chart_of(page: Path) -> Path:
    """Where the chart of a page lies."""
    return page.with_suffix(".png")


def write_page(page: Path, results: Sequence[Result], setting: Setting) -> None:
    """Write the page and its chart."""
    sizes = sorted({result.piece.items for result in results if result.piece.kind == LOAD})
    page.parent.mkdir(parents=True, exist_ok=True)
    _draw(chart_of(page), results)
    parts = [
        "# Benchmarks",
        _introduction(setting, " ".join(map(str, sizes))),
        f"![Seconds and bytes written, by size of table]({chart_of(page).name})",
        "## Ratios",
        _table(
            "| what | found | aim | met |",
            [f"| {r.title} | {r.found:.2f} | {r.aim} | {r.met} |" for r in ratios(results)],
        ),
        "## Results",
        _table(_HEAD, list(map(_row, results))),
    ]
    page.write_text("\n\n".join(parts) + "\n")


def _introduction(setting: Setting, sizes: str) -> str:
    java = "" if setting.java == LOCAL_JAVA else f" BENCH_JAVA={setting.java}"
    said = _INTRODUCTION.format(machine=setting.machine, day=setting.day, sizes=sizes, java=java)
    return (said + _JAVAS[setting.java]).rstrip()


def _table(head: str, rows: list[str]) -> str:
    return "\n".join([head, "|" + "---|" * (head.count("|") - 1), *rows])


def _row(result: Result) -> str:
    m = result.measured
    cells = [
        result.piece.title,
        result.way,
        f"{m.job_seconds:.1f}",
        f"{m.seconds:.1f}",
        f"{m.warm_seconds:.1f}" if m.warm_seconds else "",
        f"{result.piece.raw_bytes / m.seconds / 1e6:.1f}",
        f"{m.written_bytes / 1e6:.1f}",
        str(m.shuffles),
        f"{m.shuffled_bytes / 1e6:.1f}",
        f"{m.peak_memory_bytes / 1e6:.0f}" if m.peak_memory_bytes else "unknown",
    ]
    return f"| {' | '.join(cells)} |"


def _draw(file: Path, results: Sequence[Result]) -> None:
    # Only this needs the plotting library, which takes a second to import.
    from matplotlib.figure import Figure

    shown: list[tuple[str, str, Callable[[Result], float]]] = [
        (LOAD, "load: seconds of work", lambda result: result.measured.seconds),
        (MERGE, "merge: seconds of the whole job", lambda result: result.measured.job_seconds),
        (MERGE, "merge: seconds, warm", lambda result: result.measured.warm_seconds),
        (MERGE, "merge: MB written", lambda result: result.measured.written_bytes / 1e6),
    ]
    figure = Figure(figsize=(4 * len(shown), 3.6), layout="constrained")
    for axes, (kind, title, of) in zip(figure.subplots(1, len(shown)), shown, strict=True):
        _plot(axes, [result for result in results if result.piece.kind == kind], of)
        axes.set_title(title)
    figure.axes[0].legend()
    figure.savefig(file, dpi=110)


def _plot(axes: Any, results: Sequence[Result], of: Callable[[Result], float]) -> None:
    for number, (way, marker) in enumerate(zip(WAYS, "o^s", strict=True)):
        some = [result for result in results if result.way == way]
        if some:
            sizes, found = [result.piece.items for result in some], [of(result) for result in some]
            axes.plot(sizes, found, f"C{number}{marker}-", label=way)
    measured = sorted({result.piece.items for result in results})
    axes.set_xscale("log")
    axes.set_xticks(measured, [f"{items:,}" for items in measured])
    axes.set_xticks([], minor=True)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("items in the table")
    axes.grid(alpha=0.3)
