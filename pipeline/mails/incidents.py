"""Incidents: what a failure, a success or a look is worth telling, so that there is one mail per incident and not one per tick.

What opens an incident, and is told in it:

- The first failure of a scheduled run. Each other failure is told once while it is open; the same one again is silence.
- Never the failure of a run that a person has started: that person is always told, whatever is open.

What ends it, with an all-clear:

- A run that works again: a round of an update or a full export is carried out, or the table is found up to date.
- Of what failed in maintenance: maintenance that succeeds, and nothing else.
- Of a failed full export, which a person may have asked for: a full export that was carried out since.

What does not end it, or ends it without an all-clear:

- A run ends only what failed before it began: one that has worked for hours knows nothing of what came meanwhile.
- A round does not end RecoveryTooShort: only a table that is found up to date shows that its source keeps enough history.
- A person's wish that a scheduled run went on with is dropped when others work again, which does not fulfil it: no all-clear.
- What failed in maintenance is dropped where the schedule maintains no more, once the table is up to date: no all-clear.

The parameter ``told`` keeps what has been told. It is written when a mail is sent, when such a wish is dropped, and when
the table has been verified or made anew. A halt that goes on for days writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from pipeline.errors import HistoryLost, RecoveryTooShort
from pipeline.mails.digest import Digest
from pipeline.mails.told import LONGEST_NAME, MOST_REMEMBERED, FailureKind, Incident, Told, ToldFailure
from pipeline.modes import BRINGS_FORWARD, FULL, MAINTAIN
from pipeline.planning.horizon import Horizon
from pipeline.table.continuity import NOTHING_KNOWN, Doubt, Rows


@dataclass(frozen=True)
class News:
    """What is to be mailed now, and what has been told once it is.

    `failed`: the failure at hand is to be told. `over`: the incident that has ended. `closed`: one has ended of which no
    all-clear tells, which is only to be recorded. `warning`: the horizon's level to warn of, or 0. `safe_again`: the
    warnings no longer hold. `digest`: the days to sum up. `doubt`: rows were not what changes say. `trusted_again`: that no
    longer holds.
    """

    told: Told
    failed: bool = False
    over: Incident | None = None
    closed: bool = False
    warning: int = 0
    safe_again: bool = False
    digest: Digest | None = None
    doubt: Doubt | None = None
    trusted_again: bool = False

    @property
    def names(self) -> list[str]:
        """What there is to mail or to record, by name, for the log and for the state machine to count."""
        happened = {
            "Failed": self.failed,
            "IncidentOver": self.over,
            "IncidentClosed": self.closed,
            "HistoryShort": self.warning,
            "HistorySafe": self.safe_again,
            "Digest": self.digest,
            "RowsDoubted": self.doubt,
            "RowsTrusted": self.trusted_again,
        }
        return [name for name, is_news in happened.items() if is_news]


def after_failure(told: Told, kind: FailureKind, tick: datetime, horizon: Horizon | None, ended: str = "") -> News:
    """What a failed run of the schedule is worth telling. `tick` is the time the schedule meant it for.

    `ended`: the job id of a wish that no run goes on with after the failure, or "": each is told, also within one incident.
    """
    kind = replace(kind, error=kind.error[:LONGEST_NAME])
    # The failure says already that history is lost, or the next one will, where the table does not rebuild itself: a warning
    # of it in the same minute would be one mail too many.
    heard = kind.error == HistoryLost.__name__ or bool(ended and horizon and horizon.is_lost)
    news = _of_the_horizon(told, horizon, heard=heard)
    going_on = told.incident if told.incident and not told.incident.ending else None
    failures = going_on.failures if going_on else ()
    if any(one.kind == kind for one in failures) and ended in ("", told.ended):
        return news
    now = ToldFailure(kind, tick, horizon.watermark if horizon else None)
    first, *later = *(one for one in failures if one.kind != kind), now
    incident = Incident((first, *later[1 - MOST_REMEMBERED :]))  # the first tells since when
    return replace(news, failed=True, told=replace(news.told, incident=incident, ended=ended or told.ended))


def round_works(mode: str) -> bool:
    """Whether a round of this mode, carried out, shows that the schedule's runs work again.

    A backfill goes over old ground, and a corrected parameter ("") over none: the window that could not be merged, or the full
    export that the table needs, is still to come.
    """
    return mode in BRINGS_FORWARD


def after_look(
    told: Told,
    began: datetime,
    *,
    works: bool,
    horizon: Horizon | None,
    digest: Digest | None = None,
    rows: Rows = NOTHING_KNOWN,
    maintained: bool = False,
    maintains: bool = True,
    by_round: bool = False,
) -> News:
    """What a run that has not failed is worth telling. `began`: its tick, or when a person started it.

    `works`: it carried out a round that shows so (`by_round`), or found the table up to date; `maintained`: the round was
    maintenance, or what was done last; `maintains`: the schedule does so at all. What only a table that is up to date can
    show, that its source keeps enough history, no round ends. `rows`: what is known of the table's. A doubt is told once,
    until the table has been verified or made anew; what is found of before, not at all.
    """
    # Who only looks on sees the table as it was before a run at work made it anew.
    if (works or by_round) and horizon and told.trusted and horizon.watermark < told.trusted:
        # Somebody has rolled it back, and its rows are those of before again.
        told = replace(told, trusted=None)
    news, incident = _of_the_horizon(told, horizon), told.incident
    if incident:
        can_end = [one for one in incident.failures if not (by_round and one.kind.error == RecoveryTooShort.__name__)]
        before = [one for one in can_end if one.since <= began]
        ends_maintenance = maintained or (works and not maintains)
        ended = tuple(one for one in before if (ends_maintenance if one.kind.mode == MAINTAIN else works))
        made_good = tuple(one for one in ended if _is_made_good(one, rows.trusted, maintained=maintained))
        news = _of_the_incident(news, incident, ended, made_good)
    if digest:
        news = replace(news, digest=digest, told=replace(news.told, digested=digest.end))
    return _of_the_rows(news, rows)


def _of_the_incident(
    news: News, incident: Incident, ended: tuple[ToldFailure, ...], made_good: tuple[ToldFailure, ...]
) -> News:
    """What is over of an incident; the rest of it goes on. What may be a person's wish ends with it, and is not called over."""
    if not ended:
        return news
    left = tuple(one for one in incident.failures if one not in ended)
    own = tuple(one for one in made_good if not one.kind.is_of_a_wish)
    told = replace(news.told, incident=Incident(left) if left else None)
    return replace(news, over=replace(incident, failures=own) if own else None, closed=not own, told=told)


def _is_made_good(failure: ToldFailure, trusted: datetime | None, *, maintained: bool) -> bool:
    """Whether what failed is done. That updates work says nothing of a full export: the table must have been made anew."""
    if failure.kind.mode != FULL:
        return maintained or failure.kind.mode != MAINTAIN
    return trusted is not None and (failure.watermark is None or trusted > failure.watermark)


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
