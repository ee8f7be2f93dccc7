"""A job's process and everything it starts end with it, and with us."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from local.aws.emr.control import Control, JobCancelled
from local.aws.emr.process import run_to_end

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


def run(command: list[str], folder: Path, control: Control) -> int:
    return run_to_end(command, {"PATH": os.environ["PATH"]}, folder / "stdout", folder / "stderr", control)


def test_output_and_exit_code_are_the_commands(tmp_path: Path) -> None:
    code = run(["sh", "-c", "echo out; echo err >&2; exit 7"], tmp_path, Control())

    assert code == 7
    assert (tmp_path / "stdout").read_text() == "out\n"
    assert (tmp_path / "stderr").read_text() == "err\n"


def test_the_command_sees_no_environment_but_the_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "mine")
    run(["env"], tmp_path, Control())

    assert "AWS_PROFILE" not in (tmp_path / "stdout").read_text()


def test_a_signal_that_ends_the_command_is_in_its_exit_code(tmp_path: Path) -> None:
    assert run(["sh", "-c", "kill -9 $$"], tmp_path, Control()) == 128 + signal.SIGKILL


@pytest.mark.parametrize("grace_seconds", [0.0, 5.0])
def test_cancelling_ends_the_whole_group(tmp_path: Path, grace_seconds: float) -> None:
    control = Control()
    seen: list[int] = []

    def ask_to_stop() -> None:
        seen.extend(process_ids(tmp_path))
        control.reason, control.grace_seconds = "enough", grace_seconds

    threading.Thread(target=ask_to_stop).start()
    started = time.monotonic()
    with pytest.raises(JobCancelled, match="enough"):
        run(PARENT_AND_CHILD, tmp_path, control)

    assert time.monotonic() - started < 30
    assert len(seen) == 2
    assert gone(seen)


def test_what_a_finished_command_left_running_is_ended(tmp_path: Path) -> None:
    assert run(["sh", "-c", "sleep 60 & echo $! > pids"], tmp_path, Control()) == 0
    assert gone(process_ids(tmp_path))


def test_killing_the_holder_ends_the_group(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import os, sys\n"
            "from pathlib import Path\n"
            "from local.aws.emr.control import Control\n"
            "from local.aws.emr.process import run_to_end\n"
            f"folder = Path({str(tmp_path)!r})\n"
            f"run_to_end({PARENT_AND_CHILD!r}, dict(os.environ), folder / 'stdout', folder / 'stderr', Control())\n",
        ]
    )
    try:
        found = process_ids(tmp_path)
        assert all(map(is_alive, found))
    finally:
        holder.kill()
        holder.wait()

    assert gone(found)
