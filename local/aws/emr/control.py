"""How a job run ends before its process does: the wish, and the two ways to end other than well."""

import math
from dataclasses import dataclass
from threading import Thread

from local.aws.clock import CLOCK


class JobFailed(Exception):
    """The job run ends as FAILED; the text becomes its state details."""


class JobCancelled(Exception):
    """The job run ends as CANCELLED; the text becomes its state details."""


@dataclass
class Control:
    """What the thread of a job run listens to: why it shall end early, and how gently."""

    reason: str = ""
    # How long a process that is asked to end may take before it is killed.
    grace_seconds: float = 0.0
    # Nobody will look at the job run any more; it leaves no logs.
    abandoned: bool = False
    # The instant, by the virtual clock, after which the job run has taken too long.
    deadline: float = math.inf
    thread: Thread | None = None

    def stop_if_asked(self) -> None:
        """Raise JobCancelled once there is a reason to."""
        if not self.reason and CLOCK.time() > self.deadline:
            self.reason = "Job run was cancelled because it ran longer than its execution timeout"
        if self.reason:
            raise JobCancelled(self.reason)
