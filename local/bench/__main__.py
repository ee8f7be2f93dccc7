"""``python -m local.bench``: the product's jobs beside other ways to do the same, on the same data, in the same run.

Prints every result and the ratios between them, and writes a page with a chart. Numbers are for comparing with each
other in one run; nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from local.bare_python import bare_python
from local.bench import pieces, results
from local.bench.pieces import Piece
from local.bench.ratios import Result, ratios
from local.bench.work import LOCAL_JAVA, OBVIOUS, PLAIN_JAVA, Measured, Work, median_of, total_of

_FOLDER = Path(".local/bench")
_SIZES = (250_000, 1_000_000)


def main() -> int:
    """Measure everything; returns 0."""
    parser = argparse.ArgumentParser(prog="python -m local.bench", description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=_SIZES, help="sizes of table (default: 250k, 1M)")
    parser.add_argument("--folder", type=Path, default=_FOLDER, help="where data and tables go (default: .local/bench)")
    parser.add_argument("--page", type=Path, help="write the results there as Markdown, with a chart beside it")
    parser.add_argument(
        "--java",
        choices=(LOCAL_JAVA, PLAIN_JAVA),
        default=LOCAL_JAVA,
        help="started as for jobs here, or as Spark does by itself (default: local)",
    )
    asked = parser.parse_args()
    found = []
    for result in _measured(asked.folder.resolve(), asked.items, asked.java):
        found.append(result)
        print(results.line(result), flush=True)  # noqa: T201 - a command of a person's
    page = asked.page or asked.folder / "benchmarks.md"
    results.write_page(page, found, results.Setting(asked.java, _machine(), datetime.now(UTC).date()))
    print("", *map(results.ratio_line, ratios(found)), sep="\n")  # noqa: T201 - as above
    print(f"\n{page} and {results.chart_of(page).name} hold the results")  # noqa: T201 - as above
    return 0


def _measured(folder: Path, sizes: list[int], java: str) -> Iterator[Result]:
    for items in sizes:
        for piece in pieces.of_orders(folder, items):
            yield from _results(folder / str(items), piece, java)
        shutil.rmtree(folder / str(items))
    for piece in pieces.of_widths(folder):
        yield from _results(folder / piece.kind, piece, java)


def _results(folder: Path, piece: Piece, java: str) -> Iterator[Result]:
    """Each way's result; where a piece is measured in turns, every turn finds the table as the first one did."""
    tables = {way: folder / way.replace(" ", "-") for way in piece.ways}
    found: dict[str, list[Measured]] = {way: [] for way in piece.ways}
    with tempfile.TemporaryDirectory(dir=folder.parent) as kept:
        for turn in range(piece.turns):
            for way, table in tables.items():
                _laid(table, Path(kept, way), piece, turn)
                found[way].append(_done(way, piece, table, java))
    for way, turns in found.items():
        yield Result(piece, way, median_of(turns))


def _laid(table: Path, kept: Path, piece: Piece, turn: int) -> None:
    """Lay a table as a turn is to find it: none for a load, else as the first turn found it."""
    if piece.is_load:
        shutil.rmtree(table, ignore_errors=True)
    elif turn:
        shutil.rmtree(table)
        shutil.copytree(kept, table)
    elif piece.turns > 1:
        shutil.copytree(table, kept)


def _done(way: str, piece: Piece, table: Path, java: str) -> Measured:
    """What all jobs of a way took; it has one, but for the obvious way's load, which has two."""
    detects = (True, False) if way == OBVIOUS and piece.is_load else (False,)
    table.mkdir(parents=True, exist_ok=True)
    return total_of([_in_a_process(Work(way, piece.rounds, str(table), time.time(), only, java)) for only in detects])


def _in_a_process(work: Work) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        command = [str(bare_python(Path(folder))), "-m", "local.bench.work", json.dumps(asdict(work))]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{work} failed:\n{ended.stderr[-4000:]}")
    return Measured(**json.loads(ended.stdout.splitlines()[-1]))


def _machine() -> str:
    return f"{os.cpu_count()} processors ({platform.machine()}), Python {platform.python_version()}"


if __name__ == "__main__":
    sys.exit(main())
