"""A process with everything it starts, which ends with us, whatever ends us."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from local.aws.emr import leash
from local.aws.emr.control import Control, JobCancelled

_POLL_SECONDS = 0.1


def run_to_end(
    command: Sequence[str], environment: Mapping[str, str], stdout: Path, stderr: Path, control: Control
) -> int:
    """Run a command in the folder of its output files; returns its exit code.

    Raises JobCancelled, when the whole process group is gone, once `control` says so.
    """
    with stdout.open("wb") as out, stderr.open("wb") as err:
        running = subprocess.Popen(
            [sys.executable, "-S", leash.__file__, *command],
            cwd=stdout.parent,
            env=dict(environment),
            # The leash: held by nobody but us, so its other end sees it closed when we are gone.
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            process_group=0,
        )
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return running.wait(_POLL_SECONDS)
            control.stop_if_asked()
    except JobCancelled:
        if control.grace_seconds:
            _signal_group(running.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(control.grace_seconds)
        raise
    finally:
        _signal_group(running.pid, signal.SIGKILL)
        running.wait()
        if running.stdin is not None:
            running.stdin.close()


def _signal_group(leader: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, number)
