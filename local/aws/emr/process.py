"""A process with everything it starts, which ends with us, whatever ends us."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from local.aws.emr import leash


class ProcessGroup:
    """A command under way, in the folder of its output files, with no environment but the given."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], stdout: Path, stderr: Path) -> None:
        with stdout.open("ab") as out, stderr.open("ab") as err:
            self._leader = subprocess.Popen(
                [sys.executable, "-S", leash.__file__, *command],
                cwd=stdout.parent,
                env=dict(environment),
                # The leash: held by nobody but us, so its other end sees it closed when we are gone.
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                process_group=0,
            )

    @property
    def exit_code(self) -> int | None:
        """What the command ended with, 128 + n when signal n ended it; None while it runs."""
        return _code(self._leader.poll())

    def wait(self, seconds: float) -> int | None:
        """The exit code as soon as there is one, within so many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return _code(self._leader.wait(seconds))
        return None

    def kill(self) -> None:
        """Kill the command and whatever it has started; somebody else waits for its end."""
        self._signal(signal.SIGKILL)

    def end(self, grace_seconds: float = 0.0) -> None:
        """End the command and whatever it has left running; it is asked before, when there is time for an answer."""
        if grace_seconds and self.exit_code is None:
            self._signal(signal.SIGTERM)
            self.wait(grace_seconds)
        self._signal(signal.SIGKILL)
        self._leader.wait()
        if self._leader.stdin is not None:
            self._leader.stdin.close()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._leader.pid, number)


def _code(returned: int | None) -> int | None:
    """Popen's return code as a shell's."""
    return 128 - returned if returned is not None and returned < 0 else returned
