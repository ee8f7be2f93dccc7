"""Verbs of ``python -m local`` in one process, one after the other, so that Java starts once for all of them.

A line of the input is the words of one, as JSON; the line of the output that answers it tells what came of it.
"""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout

from local.__main__ import main


def carried_out(words: list[str]) -> dict[str, object]:
    """Carry out one verb: its exit code, and what it has written."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code: object = main(words)
        except SystemExit as ended:
            code = ended.code
    return {"returncode": code, "stdout": out.getvalue(), "stderr": err.getvalue()}


if __name__ == "__main__":
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    # Java may write, too, and would do so among the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        print(json.dumps(carried_out(json.loads(line))), file=answers, flush=True)
