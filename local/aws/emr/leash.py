"""`python leash.py COMMAND…`: run a command that must not outlive whoever holds the other end of standard input.

A process of its own, because nothing in a process that was killed can clean up after it. Signals go to the whole
process group, which the caller makes.
"""

import os
import signal
import subprocess
import sys
import threading


def main(command: list[str]) -> int:
    """Run the command to its end and return its exit code, 128 + n for one that signal n ended."""
    # A pipe nobody writes to: programs that end with their standard input, as Spark's gateway does, live on.
    child = subprocess.Popen(command, stdin=subprocess.PIPE)
    threading.Thread(target=_end_when_let_go, daemon=True).start()
    code = child.wait()
    return code if code >= 0 else 128 - code


def _end_when_let_go() -> None:
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    # A signal meant for the group is the command's to answer. Not SIG_IGN: the command would inherit that.
    signal.signal(signal.SIGTERM, lambda *_: None)
    exit_code = main(sys.argv[1:])
    # Not sys.exit: a thread is still reading standard input.
    os._exit(exit_code)
