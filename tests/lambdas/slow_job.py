"""Jobs for the local AWS that take as long as a test wants: Spark's place is taken, in the launcher's process."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from local.aws.emr.control import JobCancelled
from local.aws.emr.store import STORE

STAND_IN = f"{__name__}:until_cancelled"
TOO_SLOW = f"{__name__}:too_slow"


def until_cancelled(_arguments: Sequence[str], _credentials: Mapping[str, str]) -> int:
    """Be at work until a job run is cancelled, as all are when a test's account is put back; an exit code."""
    while all(run["state"] != "CANCELLING" for run in STORE.job_runs.values()):
        time.sleep(0.02)
    return 1


def too_slow(_arguments: Sequence[str], _credentials: Mapping[str, str]) -> int:
    """Be cancelled at once, as a job run is that takes longer than it may."""
    raise JobCancelled("Job run was cancelled because it ran longer than its execution timeout")
