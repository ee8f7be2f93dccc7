"""Who is at work: the processes of functions and jobs, by the access key they make their calls with, and how they die.

A fault knows the caller of a call; this knows the process behind it. A function that serves two invocations at once has
two processes under one key: both die.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from local.aws.callers import Caller
from local.aws.states import Execution, current_execution, stop


@dataclass
class Work:
    """A process under way: how it is killed, how long it may take, the execution it works for, and how it was ended."""

    access_key: str
    kill: Callable[[], None]
    timeout_seconds: float
    execution: Execution | None
    killed: bool = False
    timed_out: bool = False


_at_work: list[Work] = []
_lock = Lock()


@contextmanager
def at_work(access_key: str, kill: Callable[[], None], timeout_seconds: float = float("inf")) -> Iterator[Work]:
    """Around the work of a process that makes its calls with this key."""
    work = Work(access_key, kill, timeout_seconds, current_execution())
    with _lock:
        _at_work.append(work)
    try:
        yield work
    finally:
        with _lock:
            _at_work.remove(work)


def kill(caller: Caller) -> list[Work]:
    """End the caller's processes at once; returns them, none for a caller without a process."""
    found = _of(caller)
    for work in found:
        work.killed = True
        work.kill()
    return found


def kill_and_stop(caller: Caller) -> None:
    """End the caller's processes and the executions they work for."""
    for work in _of(caller):
        # First the execution: it must not see how its function ends.
        if work.execution is not None:
            stop(work.execution)
    kill(caller)


def shortest_timeout(caller: Caller) -> float:
    """How long the caller's process may take in all, in seconds."""
    return min((work.timeout_seconds for work in _of(caller)), default=float("inf"))


def time_out(caller: Caller) -> None:
    """End the caller's processes as those whose time is over."""
    for work in _of(caller):
        work.timed_out = True
        work.kill()


def _of(caller: Caller) -> list[Work]:
    with _lock:
        return [work for work in _at_work if work.access_key == caller.access_key]
