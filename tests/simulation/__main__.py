"""``python -m tests.simulation --years 1000 --seed 1``: live through many seeds, one simulated year each, on all cores.

Ends with what was lived through, or with the timeline of the first seed that broke an invariant and exit code 1.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.simulation.many import live_through, summary


def main() -> int:
    """Read the arguments, simulate, tell; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--years", type=int, default=200, help="how many seeds, a simulated year each")
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    asked = parser.parse_args()
    started = time.monotonic()
    lived = []
    for one in live_through(range(asked.seed, asked.seed + asked.years)):
        if isinstance(one, str):
            print(one)
            return 1
        lived.append(one)
        print(f"\r{len(lived)} years", end="", file=sys.stderr, flush=True)
    print(f"\r{summary(lived)}\n{len(lived) / (time.monotonic() - started):.2f} years a second.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
