"""Incidents: what a failure, a success or a look is worth telling, so that there is one mail per incident and not one per tick.

An incident begins with the first failure of a scheduled run and is over when a run works again: a round is carried out,
or the table is found up to date; one of maintenance alone, when that succeeds. In between every failure that has not been
told yet is told once; the same one again is silence. What has been told is kept in the parameter ``told``, which changes
only when a mail is sent, or the table has been verified or made anew: a halt that goes on for days writes nothing. A run
that a person has started is no part of this: that person is always told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pipeline.errors import HistoryLost
from pipeline.instants import format_instant, parse_instant
from pipeline.mails.digest import Digest
from pipeline.planning.execution_input import FULL, MAINTAIN, UPDATE
from pipeline.planning.horizon import Horizon
from pipeline.table.continuity import NOTHING_KNOWN, Doubt, Rows

#: A parameter holds 4,096 characters; more different failures than these in one incident are told again.
MOST_REMEMBERED = 12
_LONGEST_NAME = 100


@dataclass(frozen=True)
class Kind:
    """What makes two failures the same: the error's name, the state it was in, and what the run was to do there.

    `mode` is the plan's, or "" where nothing was planned. Messages play no part: they hold instants.
    """

    error: str
    state: str
    mode: str = ""

    def __str__(self) -> str:
        return f"{self.error} in {self.state}" + (f" ({self.mode})" if self.mode not in ("", UPDATE) else "")


@dataclass(frozen=True)
class Incident:
    """Failures without success between them: since which tick, at which watermark, and what has been told, oldest first.

    `ending`: its all-clear is being mailed, or has been; whatever fails now is another incident.
    """

    since: datetime
    watermark: datetime | None
    kinds: tuple[Kind, ...]
    ending: bool = False

    @property
    def is_of_maintenance(self) -> bool:
        """Whether nothing but maintenance has failed: the table is followed all the while."""
        return all(kind.mode == MAINTAIN for kind in self.kinds)

    def ticks_until(self, end: datetime, tick: timedelta) -> int:
        """How many ticks of the schedule had no success, if `end` is the first that has."""
        return max(1, -((self.since - end) // tick))


@dataclass(frozen=True)
class Told:
    """What the mails have said so far: the open incident, the horizon's level, and until which midnight days are summed up.

    `given_up`: the job id of the last wish that was told to be given up. `doubted`: at which watermark rows were not what
    changes say. `trusted`: the watermark at which the table was verified or made anew last.
    """

    incident: Incident | None = None
    level: int = 0
    digested: datetime | None = None
    given_up: str = ""
    doubted: datetime | None = None
    trusted: datetime | None = None

    def to_text(self) -> str:
        """Write it as its parameter's value."""
        raw: dict[str, Any] = {"level": self.level, "digested": _optional(self.digested)}
        if self.given_up:
            raw["given_up"] = self.given_up
        if self.doubted:
            raw["doubted"] = format_instant(self.doubted)
        if self.trusted:
            raw["trusted"] = format_instant(self.trusted)
        if self.incident:
            raw["incident"] = {
                "since": format_instant(self.incident.since),
                "watermark": _optional(self.incident.watermark),
                "kinds": [[k.error[:_LONGEST_NAME], k.state, k.mode] for k in self.incident.kinds],
                **({"ending": True} if self.incident.ending else {}),
            }
        return json.dumps(raw, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> Told:
        """Read what `to_text` wrote. Anything else counts as nothing told: a mail twice is better than none."""
        try:
            return cls._from_json(json.loads(text)) if text else cls()
        except (ValueError, KeyError, TypeError, AttributeError):
            return cls()

    @classmethod
    def _from_json(cls, raw: Mapping[str, Any]) -> Told:
        found = raw.get("incident")
        incident = found and Incident(
            parse_instant(found["since"]),
            _instant(found["watermark"]),
            tuple(Kind(*kind) for kind in found["kinds"]),
            ending=bool(found.get("ending", False)),
        )
        doubted, trusted = (_instant(raw.get(name, "")) for name in ("doubted", "trusted"))
        digested, given_up = _instant(raw["digested"]), str(raw.get("given_up", ""))
        return cls(incident, int(raw["level"]), digested, given_up, doubted, trusted)


@dataclass(frozen=True)
class News:
    """What is to be mailed now, and what has been told once it is.

    `failed`: the failure at hand is to be told. `over`: the incident that has ended. `warning`: the horizon's level to warn
    of, or 0. `safe_again`: the warnings no longer hold. `digest`: the days to sum up. `doubt`: rows were not what changes
    say. `trusted_again`: that no longer holds.
    """

    told: Told
    failed: bool = False
    over: Incident | None = None
    warning: int = 0
    safe_again: bool = False
    digest: Digest | None = None
    doubt: Doubt | None = None
    trusted_again: bool = False

    @property
    def names(self) -> list[str]:
        """What there is to mail, by name, for the log and for the state machine to count."""
        happened = {
            "Failed": self.failed,
            "IncidentOver": self.over,
            "HistoryShort": self.warning,
            "HistorySafe": self.safe_again,
            "Digest": self.digest,
            "RowsDoubted": self.doubt,
            "RowsTrusted": self.trusted_again,
        }
        return [name for name, is_news in happened.items() if is_news]


def after_failure(told: Told, kind: Kind, tick: datetime, horizon: Horizon | None, given_up: str = "") -> News:
    """What a failed run of the schedule is worth telling. `tick` is the time the schedule meant it for.

    `given_up`: the job id of a wish that is given up by the failure, or "": each is told, also within one incident.
    """
    kind = replace(kind, error=kind.error[:_LONGEST_NAME])
    # The failure says already that history is lost; a warning of it in the same minute would be one mail too many.
    heard = kind.error == HistoryLost.__name__
    news = _of_the_horizon(told, horizon, heard=heard)
    going_on = told.incident if told.incident and not told.incident.ending else None
    incident = going_on or Incident(tick, horizon.watermark if horizon else None, ())
    if kind in incident.kinds and given_up in ("", told.given_up):
        return news
    kinds = (*(known for known in incident.kinds if known != kind), kind)
    incident = replace(incident, kinds=kinds[-MOST_REMEMBERED:])
    return replace(news, failed=True, told=replace(news.told, incident=incident, given_up=given_up or told.given_up))


def round_works(mode: str) -> bool:
    """Whether a round of this mode, carried out, shows that the schedule's runs work again; "" is a corrected parameter.

    A backfill goes over old ground: the window that could not be merged is still to come.
    """
    return mode in ("", UPDATE, FULL)


def after_look(
    told: Told,
    *,
    works: bool,
    horizon: Horizon | None,
    digest: Digest | None = None,
    rows: Rows = NOTHING_KNOWN,
    maintained: bool = False,
) -> News:
    """What a run that has not failed is worth telling.

    `works`: it carried a round out, or found the table up to date; `maintained`: the round was maintenance. `rows`: what is
    known of the table's. A doubt is told once, until it has been verified or made anew; what is found of before, not at all.
    """
    news, incident = _of_the_horizon(told, horizon), told.incident
    if incident and (maintained if incident.is_of_maintenance else works):
        news = replace(news, over=incident, told=replace(news.told, incident=None))
    if digest:
        news = replace(news, digest=digest, told=replace(news.told, digested=digest.end))
    return _of_the_rows(news, rows)


def _of_the_rows(news: News, rows: Rows) -> News:
    told, doubt = news.told, rows.doubt
    if doubt and told.doubted is None and (told.trusted is None or doubt.watermark > told.trusted):
        return replace(news, doubt=doubt, told=replace(told, doubted=doubt.watermark))
    # A doubt that was not told yet is settled as well. A table that was rolled back past one shows a load from before it.
    known = told.doubted or told.trusted  # the doubt is the later of the two, else it would not have been told
    if rows.trusted and (known is None or rows.trusted >= known):
        settled = replace(told, doubted=None, trusted=rows.trusted)
        return replace(news, trusted_again=told.doubted is not None, told=settled)
    return news


def ending(told: Told, news: News) -> Told:
    """What is recorded before the all-clear of the news is mailed; what had been told, where there is none.

    If the run dies between the mail and its record, the same failure would otherwise pass for told, and be silent after
    an all-clear; and so would other rows that are not what changes say.
    """
    if news.over and told.incident:
        told = replace(told, incident=replace(told.incident, ending=True))
    return replace(told, doubted=None, trusted=news.told.trusted) if news.trusted_again else told


def all_clear_later(news: News, told: Told) -> News:
    """The news without its all-clear: the next look finds the end of the incident in `told` again."""
    kept = replace(news.told, incident=told.incident)
    if news.trusted_again:
        kept = replace(kept, doubted=told.doubted, trusted=told.trusted)
    return replace(news, over=None, trusted_again=False, told=kept)


def _of_the_horizon(told: Told, horizon: Horizon | None, *, heard: bool = False) -> News:
    """A level is told once, when it is reached; all are forgotten when the table has caught up."""
    if horizon is None:
        return News(told)
    if horizon.level > told.level:
        return News(replace(told, level=horizon.level), warning=0 if heard else horizon.level)
    if told.level and not horizon.level:
        return News(replace(told, level=0), safe_again=True)
    return News(told)


def _optional(instant: datetime | None) -> str:
    return format_instant(instant) if instant else ""


def _instant(text: object) -> datetime | None:
    return parse_instant(text) if text and isinstance(text, str) else None
