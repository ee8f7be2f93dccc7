"""The horizon: how long the source's history still reaches back to the watermark.

DynamoDB keeps the history of the recovery period, 35 days at most. A table that is paused or failing for longer than that
has lost its changes, and only a new full export helps: whoever gets the mails must hear of it long before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pipeline.instants import format_instant, parse_instant

#: What DynamoDB keeps unless told otherwise, in days.
DEFAULT_RECOVERY_DAYS = 35
#: Percent of the recovery period used up at which a warning is mailed. The last one is too late: history is lost.
LEVELS = (50, 75, 90, 100)


@dataclass(frozen=True)
class Horizon:
    """The watermark within the source's history. `recovery_days` is the length of the recovery period.

    "Now" is `latest`, the latest restorable time: some five minutes before the present.
    """

    watermark: datetime
    earliest: datetime
    latest: datetime
    recovery_days: int = DEFAULT_RECOVERY_DAYS

    @property
    def is_lost(self) -> bool:
        """Whether changes after the watermark can no longer be exported."""
        return self.watermark < self.earliest

    @property
    def left(self) -> timedelta:
        """How long until history is lost, if the watermark stays; zero when it is.

        Not measured from the earliest restorable time: that stands still while recovery has not been on for a whole period.
        """
        if self.is_lost:
            return timedelta(0)
        return max(self.watermark + timedelta(days=self.recovery_days) - self.latest, timedelta(0))

    @property
    def used_percent(self) -> float:
        """How much of the recovery period has passed since the watermark: 0 to 100."""
        if self.is_lost:
            return 100.0
        used = (self.latest - self.watermark) / timedelta(days=self.recovery_days)
        return min(max(100 * used, 0.0), 100.0)

    @property
    def level(self) -> int:
        """The highest of LEVELS that is reached; 0 below the first."""
        used = self.used_percent
        return max((level for level in LEVELS if level <= used), default=0)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for the event that is handed from state to state."""
        return {
            "watermark": format_instant(self.watermark),
            "earliest": format_instant(self.earliest),
            "latest": format_instant(self.latest),
            "recovery_days": self.recovery_days,
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Horizon | None:
        """Read what `to_json` wrote; None for an empty object: no table yet, or recovery is off."""
        if not raw:
            return None
        return cls(
            parse_instant(raw["watermark"]),
            parse_instant(raw["earliest"]),
            parse_instant(raw["latest"]),
            int(raw["recovery_days"]),
        )


def horizon_of_record(
    recorded: str, earliest: datetime | None, latest: datetime | None, recovery_days: int
) -> Horizon | None:
    """The horizon by the operator's view of the watermark, where nobody has seen the table; None where it tells nothing.

    `earliest` and `latest` are None with recovery off. Raises ValueError where `recorded` is no instant.
    """
    if earliest is None or latest is None:
        return None
    watermark = parse_instant(recorded)
    # What lies in the future somebody else has written; it must not end a warning. And of history that is lost nobody knows
    # here whether a full export at work makes it good: the next plan says what helps.
    return Horizon(watermark, earliest, latest, recovery_days) if earliest <= watermark <= latest else None
