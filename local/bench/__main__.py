"""``python -m local.bench``: the product's jobs beside the obvious way, on the same data, in the same run.

Of each size of table: one load, then the merges of windows, each in a fresh process. Prints a table, and draws the chart
and writes the page that `docs/benchmarks.md` is a copy of. Numbers are for comparing with each other in one run; nothing
here passes or fails.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from local.bench import orders, results
from local.bench.results import Result
from local.bench.work import WAYS, Measured, Work

_FOLDER = Path(".local/bench")
_SIZES = (50_000, 200_000, 1_000_000)
#: Each size's windows: a count of changes, or a share of the table's items.
_WINDOWS: tuple[float, ...] = (5_000, 0.01)


def main() -> int:
    """Measure everything; returns 0."""
    parser = argparse.ArgumentParser(prog="python -m local.bench", description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=_SIZES, help="sizes of table (default: 50k, 200k, 1M)")
    parser.add_argument("--folder", type=Path, default=_FOLDER, help="where data and tables go (default: .local/bench)")
    parser.add_argument("--page", type=Path, help="write the results there as Markdown, with a chart beside it")
    asked = parser.parse_args()
    found = []
    for result in _measured(asked.folder, asked.items):
        found.append(result)
        print(results.line(result), flush=True)  # noqa: T201 - a command of a person's
    page = asked.page or asked.folder / "benchmarks.md"
    results.write_page(page, found, _machine())
    print(f"\n{page} and {results.chart_of(page).name} hold the results")  # noqa: T201 - as above
    return 0


def _measured(folder: Path, sizes: list[int]) -> Iterator[Result]:
    for items in sizes:
        exports = folder.resolve() / f"exports-{items}"
        full = orders.write_full(exports, items)
        counts = [int(share * items) if share < 1 else int(share) for share in _WINDOWS]
        changes = [orders.write_changes(exports, items, count, index) for index, count in enumerate(counts)]
        for index, export in enumerate([full, *changes], start=-1):
            for way in WAYS:
                warehouse = folder.resolve() / way.replace(" ", "-") / str(items)
                if index < 0:
                    shutil.rmtree(warehouse, ignore_errors=True)
                measured = _in_a_process(Work(way, index, str(export.summary), str(warehouse)))
                yield Result(way, items, index, export.items, export.raw_bytes, measured)
        shutil.rmtree(exports)


def _in_a_process(work: Work) -> Measured:
    command = [sys.executable, "-m", "local.bench.work", json.dumps(asdict(work))]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{work} failed:\n{ended.stderr[-4000:]}")
    return Measured(**json.loads(ended.stdout.splitlines()[-1]))


def _machine() -> str:
    return f"{os.cpu_count()} processors ({platform.machine()}), Python {platform.python_version()}"


if __name__ == "__main__":
    sys.exit(main())
