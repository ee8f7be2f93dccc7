"""What the mails have said, as it is kept in the parameter ``told``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pipeline.errors import ControlUnknown, SettingsMissing, WishGivenUp
from pipeline.instants import format_instant, format_optional, parse_instant, parse_optional
from pipeline.modes import MAINTAIN, ONLY_WISHED, UPDATE

#: A parameter holds 4,096 characters; more different failures than these in one incident are told again, but for the first.
MOST_REMEMBERED = 12
#: Parameters that are made again later than this were not repaired: the table was removed.
_REPAIRED_WITHIN = timedelta(days=1)
#: What a run fails with where one of them is not there.
_GONE = (SettingsMissing.__name__, ControlUnknown.__name__)
#: Of an error's name; longer ones are cut.
LONGEST_NAME = 100


@dataclass(frozen=True)
class FailureKind:
    """What makes two failures the same: the error's name, the state it was in, and what the run was to do there.

    `mode` is the plan's, or "" where nothing was planned. Messages play no part: they hold instants.
    """

    error: str
    state: str
    mode: str = ""

    @property
    def is_of_a_wish(self) -> bool:
        """Whether a run failed for a person: that the schedule's own work succeeds again says nothing of it.

        Nobody can tell so of a full export, which the schedule may have begun by itself.
        """
        return self.mode in ONLY_WISHED or self.error == WishGivenUp.__name__

    @property
    def holds_up(self) -> bool:
        """Whether it keeps the table from being followed: neither a person's wish nor maintenance does, which updates outlive."""
        return not (self.is_of_a_wish or self.mode == MAINTAIN)

    @property
    def is_of_the_record(self) -> bool:
        """Whether nothing but last-export-time was to be corrected."""
        return (self.state, self.mode) == ("RecordWatermark", "")

    def __str__(self) -> str:
        what = "last-export-time" if self.is_of_the_record else self.mode
        return f"{self.error} in {self.state}" + (f" ({what})" if what not in ("", UPDATE) else "")


@dataclass(frozen=True)
class ToldFailure:
    """A failure that has been told: at which tick it came first, and where the table was then."""

    kind: FailureKind
    since: datetime
    watermark: datetime | None


@dataclass(frozen=True)
class Incident:
    """Failures without success between them that have been told, oldest first.

    `ending`: its all-clear is being mailed, or has been; whatever fails now is another incident.
    """

    failures: tuple[ToldFailure, ...]
    ending: bool = False

    @property
    def kinds(self) -> tuple[FailureKind, ...]:
        """What has failed, oldest first."""
        return tuple(failure.kind for failure in self.failures)

    @property
    def first(self) -> ToldFailure:
        """What failed first, of maintenance only where nothing else did: updates may have worked for long after that."""
        return next((one for one in self.failures if one.kind.mode != MAINTAIN), self.failures[0])

    @property
    def hindrance(self) -> FailureKind:
        """What holds the table up: the newest failure that does, or else the newest."""
        return next((kind for kind in reversed(self.kinds) if kind.holds_up), self.kinds[-1])

    @property
    def is_of_maintenance(self) -> bool:
        """Whether nothing but maintenance has failed: the table is followed all the while."""
        return all(kind.mode == MAINTAIN for kind in self.kinds)

    def ticks_until(self, end: datetime, tick: timedelta) -> int:
        """How many ticks of the schedule had no success, if `end` is the first that has."""
        return max(1, -((self.first.since - end) // tick))


@dataclass(frozen=True)
class Told:
    """What the mails have said so far: the open incident, the horizon's level, and until which midnight days are summed up.

    `ended`: the job id of the last wish whose end was told, whatever it was. `doubted`: at which watermark rows were not what
    changes say. `trusted`: the watermark at which the table was verified or made anew last, if it has not been rolled back to
    before that. `outlived`: the parameter says more, of before the table's removal from the deployment; this is to be written
    over it.
    """

    incident: Incident | None = None
    level: int = 0
    digested: datetime | None = None
    ended: str = ""
    doubted: datetime | None = None
    trusted: datetime | None = None
    outlived: bool = False

    @property
    def cannot_record(self) -> bool:
        """Whether it has been told that last-export-time could not be corrected, and nothing has worked since."""
        kinds = self.incident.kinds if self.incident else ()
        return any(kind.is_of_the_record for kind in kinds)

    def since_deployed(self, written: datetime, deployed: datetime | None) -> Told:
        """What still holds of it, as it was `written`, if the table has been in the deployment since `deployed`.

        The parameter stays where a table is removed and added again. An incident of before would silence the same failure,
        and its all-clear would count all the time between. What is known of rows, days and wishes is the table's own, and
        holds. `deployed` is None where nobody can tell: then the table has been there for long. What was told while the
        parameters were gone holds too, if they were soon made again: nothing tells a repair from a table that came back.
        """
        found = self.incident.failures if self.incident else ()
        if deployed is None or written >= deployed:
            return self
        gone = tuple(one for one in found if one.kind.error in _GONE)
        if deployed - written > _REPAIRED_WITHIN:
            gone = ()
        if gone == found and not self.level:
            return self
        left = replace(self.incident, failures=gone) if self.incident and gone else None
        return replace(self, incident=left, level=0, outlived=True)

    def to_text(self) -> str:
        """Write it as its parameter's value."""
        raw: dict[str, Any] = {"level": self.level, "digested": format_optional(self.digested)}
        if self.ended:
            raw["ended"] = self.ended
        if self.doubted:
            raw["doubted"] = format_instant(self.doubted)
        if self.trusted:
            raw["trusted"] = format_instant(self.trusted)
        if self.incident:
            raw["incident"] = {
                "failures": [_failure_to_json(failure) for failure in self.incident.failures],
                **({"ending": True} if self.incident.ending else {}),
            }
        return json.dumps(raw, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> Told:
        """Read what `to_text` wrote. Anything else counts as nothing told: a mail twice is better than none."""
        try:
            return cls._from_json(json.loads(text)) if text else cls()
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            return cls()

    @classmethod
    def _from_json(cls, raw: Mapping[str, Any]) -> Told:
        found = raw.get("incident") or {"failures": []}
        failures = tuple(map(_failure_from_json, found["failures"]))
        incident = Incident(failures, ending=bool(found.get("ending", False))) if failures else None
        doubted, trusted = (parse_optional(raw.get(name, "")) for name in ("doubted", "trusted"))
        digested, ended = parse_optional(raw["digested"]), str(raw.get("ended", ""))
        return cls(incident, int(raw["level"]), digested, ended, doubted, trusted)


def _failure_to_json(failure: ToldFailure) -> list[str]:
    kind = failure.kind
    since, watermark = format_instant(failure.since), format_optional(failure.watermark)
    return [kind.error[:LONGEST_NAME], kind.state, kind.mode, since, watermark]


def _failure_from_json(raw: list[str]) -> ToldFailure:
    *kind, since, watermark = raw
    if not all(isinstance(word, str) for word in kind):
        raise TypeError(f"{kind} is no kind of failure")
    return ToldFailure(FailureKind(*kind), parse_instant(since), parse_optional(watermark))
