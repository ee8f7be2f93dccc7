"""``python -m local …`` as a person runs it, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.sources import ROOT

#: A handful of rows is not worth the second compiler's work.
_QUICK_JVM = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


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
