"""``python -m tests.deployed.crash_matrix``: walk all points on a deployment of its own, and print what came of each.

Ends with a table, a row a point, or with the points that did not heal and exit code 1. Writes nothing else.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
import traceback
from pathlib import Path

from local.control import LocalAws
from local.deployed import Deployed, deploy
from tests.deployed.crash_matrix.points import Point, points
from tests.deployed.crash_matrix.walk import KNOBS, Outcome, Walk, WalkWithoutSpark, walk_for
from tests.deployed.world import DEFAULTS, World

_SETTINGS = {
    "defaults": DEFAULTS,
    "tables": [{"name": "orders", "mail": {"success": ["data@example.com"], "failure": ["on-call@example.com"]}}],
}
_HEAD = "| point | how the run gets there | the struck run | healed | after, minutes | mails: failed, all clear, ok | seconds |"


def main() -> int:
    """Read the arguments, deploy, walk, tell; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.deployed.crash_matrix", description=__doc__)
    parser.add_argument("--only", default="", help="walk the points in whose names this is found, a regular expression")
    asked = parser.parse_args()
    wanted = [point for point in points() if re.search(asked.only, point.name)]
    with tempfile.TemporaryDirectory() as folder:
        aws = LocalAws.start(Path(folder) / "aws")
        try:
            stack = deploy(aws, _SETTINGS, Path(folder) / "deployment")
            aws.set_knobs(**KNOBS)
            aws.snapshot()
            return _walk(stack, wanted)
        finally:
            aws.stop()


def _walk(stack: Deployed, wanted: list[Point]) -> int:
    started, failed = time.monotonic(), []
    print(_HEAD, "|---|---|---|---|---|---|---|", sep="\n", flush=True)
    for kind in (WalkWithoutSpark, Walk):
        walk: Walk | None = None
        for point in (one for one in wanted if walk_for(one) is kind):
            try:
                walk = walk or _begin(kind, stack)
                print(row(walk.at(point)), flush=True)
            except AssertionError as wrong:
                failed.append(point.name)
                walk = None
                print(f"| {point.name} | | NOT HEALED | {_reason(wrong)} | | | |", flush=True)
    print(f"\n{len(wanted)} points in {time.monotonic() - started:.0f} s; not healed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def _reason(wrong: AssertionError) -> str:
    """What was found, or where it was if that says nothing."""
    where = traceback.extract_tb(wrong.__traceback__)[-1]
    return f"{str(wrong)[:600] or 'not so'}: {where.line}"


def _begin(kind: type[Walk], stack: Deployed) -> Walk:
    """A walk on the freshly deployed account."""
    stack.aws.restore()
    return kind(World(stack))


def row(found: Outcome) -> str:
    """One line of the table."""
    mails = ", ".join(map(str, found.mails))
    told = (found.point.name, found.situation.name, found.ended, found.healed, f"{found.minutes:.0f}", mails)
    return f"| {' | '.join(told)} | {found.seconds:.1f} |"


if __name__ == "__main__":
    sys.exit(main())
