"""``python -m tests.spark.oracle --tables 100 --seed 1``: go through the lives of many random tables, two for each seed.

Ends with how many items lived, or with the differences of the first table that is not what its source was, and exit code 1.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.spark.oracle.handled import HandledLife
from tests.spark.oracle.life import Life
from tests.spark.oracle.scale import as_large, large_in
from tests.spark.session import session_with
from tests.spark.shop import Shop


def main() -> int:
    """Read the arguments, live, compare, tell; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.spark.oracle", description=__doc__)
    parser.add_argument("--tables", type=int, default=50, help="how many seeds, two tables each")
    parser.add_argument("--seed", type=int, default=1, help="the first of them")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return _live(Path(folder), range(asked.seed, asked.seed + asked.tables))


def _live(folder: Path, seeds: range) -> int:
    warehouse, numbers = folder / "warehouse", itertools.count(1)
    spark = session_with(warehouse)

    def make(**options: Any) -> Shop:
        number = next(numbers)
        return Shop(spark, folder / f"bucket{number}", warehouse, f"orders{number}", **options)

    items, started = 0, time.monotonic()
    for count, seed in enumerate(seeds, 1):
        with as_large(large_in(seed)):
            for life in (Life(seed, make), HandledLife(seed, make)):
                lived = life.live()
                if lived.differences:
                    print(f"\nSeed {seed}:", *lived.differences, sep="\n")
                    return 1
                items += lived.items
        print(
            f"\r{2 * count} tables, {items} items, {time.monotonic() - started:.0f} s",
            end="",
            file=sys.stderr,
            flush=True,
        )
    print(f"\r{items} items of {2 * len(seeds)} tables were in the table what they were in the source.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
