"""A driver's process and everything it starts end with it, and with us."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from local.aws.emr.process import ProcessGroup

Start = Callable[[list[str]], ProcessGroup]

# A process whose child outlives it unless the group is ended; it writes both process ids.
PARENT_AND_CHILD = ["sh", "-c", "sleep 60 & echo $$ $! > pids; wait"]


def is_alive(process_id: int) -> bool:
    stat = Path(f"/proc/{process_id}/stat")
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def process_ids(folder: Path) -> list[int]:
    deadline = time.monotonic() + 10
    while not ((folder / "pids").exists() and (found := (folder / "pids").read_text().split())):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return [int(one) for one in found]


def gone(process_ids: list[int]) -> bool:
    deadline = time.monotonic() + 5
    while any(map(is_alive, process_ids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(is_alive, process_ids))


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[[list[str]], ProcessGroup]]:
    groups: list[ProcessGroup] = []

    def start(command: list[str]) -> ProcessGroup:
        groups.append(ProcessGroup(command, {"PATH": os.environ["PATH"]}, tmp_path / "stdout", tmp_path / "stderr"))
        return groups[-1]

    yield start
    for group in groups:
        group.end()


def test_output_and_exit_code_are_the_commands(tmp_path: Path, started: Start) -> None:
    group = started(["sh", "-c", "echo out; echo err >&2; exit 7"])

    assert group.wait(10) == 7
    assert group.exit_code == 7
    assert (tmp_path / "stdout").read_text() == "out\n"
    assert (tmp_path / "stderr").read_text() == "err\n"


def test_while_it_runs_there_is_no_exit_code(started: Start) -> None:
    group = started(["sleep", "60"])

    assert group.wait(0.05) is None
    assert group.exit_code is None


def test_the_command_sees_no_environment_but_the_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: Start
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "mine")
    started(["env"]).wait(10)

    assert "PATH=" in (tmp_path / "stdout").read_text()
    assert "AWS_PROFILE" not in (tmp_path / "stdout").read_text()


def test_standard_input_stays_open_and_silent(tmp_path: Path, started: Start) -> None:
    group = started(["sh", "-c", "cat; echo closed"])

    assert group.wait(0.3) is None
    group.end()
    assert (tmp_path / "stdout").read_text() == ""


def test_a_signal_that_ends_the_command_is_in_its_exit_code(started: Start) -> None:
    assert started(["sh", "-c", "kill -9 $$"]).wait(10) == 128 + signal.SIGKILL


@pytest.mark.parametrize("grace_seconds", [0.0, 5.0])
def test_to_end_it_ends_the_whole_group(tmp_path: Path, started: Start, grace_seconds: float) -> None:
    group = started(PARENT_AND_CHILD)
    found = process_ids(tmp_path)
    begun = time.monotonic()

    group.end(grace_seconds)

    assert time.monotonic() - begun < 30
    assert len(found) == 2
    assert gone(found)


def test_what_a_finished_command_left_running_is_ended(tmp_path: Path, started: Start) -> None:
    group = started(["sh", "-c", "sleep 60 & echo $! > pids"])
    assert group.wait(10) == 0

    group.end()

    assert gone(process_ids(tmp_path))


def test_killing_the_holder_ends_the_group(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import os, sys, time\n"
            "from pathlib import Path\n"
            "from local.aws.emr.process import ProcessGroup\n"
            f"folder = Path({str(tmp_path)!r})\n"
            f"group = ProcessGroup({PARENT_AND_CHILD!r}, dict(os.environ), folder / 'stdout', folder / 'stderr')\n"
            "time.sleep(60)\n",
        ]
    )
    try:
        found = process_ids(tmp_path)
        assert all(map(is_alive, found))
    finally:
        holder.kill()
        holder.wait()

    assert gone(found)
