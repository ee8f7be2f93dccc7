"""Who works in a folder keeps others out of it, by a file that stays locked as long as it is open."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO


def held(file: Path) -> IO[bytes] | None:
    """The file, made where there is none, open and locked until it is closed or this process ends; None where another has it."""
    hold = file.open("ab")  # what is there stays: it may be a link to something of somebody's
    try:
        fcntl.flock(hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        hold.close()
        return None
    return hold
