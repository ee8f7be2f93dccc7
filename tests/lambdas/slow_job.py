"""A job for the local AWS that takes as long as a test wants: Spark's place is taken, in the launcher's process."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from local.aws.emr.store import STORE

STAND_IN = f"{__name__}:until_cancelled"


def until_cancelled(_arguments: Sequence[str], _credentials: Mapping[str, str]) -> int:
    """Be at work until a job run is cancelled, as all are when a test's account is put back; an exit code."""
    while all(run["state"] != "CANCELLING" for run in STORE.job_runs.values()):
        time.sleep(0.02)
    return 1
