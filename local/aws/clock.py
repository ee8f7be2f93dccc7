"""The clock of the local AWS: real time plus an offset, so that hours of windows pass in seconds.

It goes back only together with everything else, to a snapshot. `CLOCK` can stand in for the module `time` in the
services that must follow it. Lambda and Spark processes see the real clock; the product takes its "now" from DynamoDB's
latest restorable time, which follows this one.
"""

import time as real_time
from datetime import UTC, datetime
from typing import Any


class Clock:
    """A settable stand-in for the module `time`; whatever is not about "now" is the real module's."""

    def __init__(self) -> None:
        self.offset = 0.0

    def time(self) -> float:
        """Seconds since the epoch, virtual."""
        return real_time.time() + self.offset

    def time_ns(self) -> int:
        """Nanoseconds since the epoch, virtual."""
        return real_time.time_ns() + int(self.offset * 1e9)

    def now(self) -> datetime:
        """The virtual present, aware, UTC."""
        return datetime.fromtimestamp(self.time(), UTC)

    def advance(self, seconds: float) -> None:
        """Move on by `seconds`; never back, because history that was handed out must not become the future."""
        if seconds < 0:
            raise ValueError(f"The clock cannot go back by {-seconds} s")
        self.offset += seconds

    def set(self, epoch: float) -> None:
        """Move on to an instant, in seconds since the epoch; one that has passed is refused."""
        self.advance(epoch - self.time())

    def go_back_to(self, epoch: float) -> None:
        """Be at an instant again, in seconds since the epoch; only for who puts back everything that was then."""
        self.offset = epoch - real_time.time()

    def __getattr__(self, name: str) -> Any:
        return getattr(real_time, name)


CLOCK = Clock()
