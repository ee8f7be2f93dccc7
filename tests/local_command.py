"""``python -m local …`` as a person runs it, in a process of its own; or many of its verbs in one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from tests.sources import ROOT

#: A handful of rows is not worth the second compiler's work.
_QUICK_JVM = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


class Run(Protocol):
    """Runs a verb with its arguments; what came of it."""

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]: ...


def run_local(*arguments: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Run a verb with its arguments, for so many seconds at most; its output is kept."""
    command = [sys.executable, "-m", "local", *arguments]
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **_QUICK_JVM},
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )


@contextmanager
def many_verbs() -> Iterator[Run]:
    """A process that runs verbs one after the other: all but the first find Java started, which is most of what they take."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.local_verbs"],
        cwd=ROOT,
        env={**os.environ, **_QUICK_JVM},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        asked, answers = process.stdin, process.stdout
        assert asked is not None and answers is not None

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            print(json.dumps(arguments), file=asked, flush=True)
            return subprocess.CompletedProcess(arguments, **json.loads(answers.readline()))

        yield run
