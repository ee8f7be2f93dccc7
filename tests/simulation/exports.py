"""DynamoDB's exports: tokens that make asking twice one request, times it refuses, and exports that go wrong."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pipeline.errors import ExportRefused, HistoryLost, PitrOff, TableNotFound
from pipeline.exports.requests import MOST_REQUESTS, ExportRequest
from pipeline.exports.windows import LONGEST_WINDOW, SHORTEST_WINDOW
from pipeline.modes import BACKFILL
from pipeline.planning.journal import RunPlan
from tests.simulation.clock import DAY, HOUR, MINUTE, Clock, instant
from tests.simulation.source import Source
from tests.simulation.timeline import Timeline

#: How long DynamoDB remembers a token after its export has ended.
_TOKEN_LIFE = 8 * HOUR
#: When an export that never ends is given up, and how long it takes at most until damaged files are noticed.
_HANGING, _UNTIL_REFUSED = 96 * HOUR, 2 * HOUR
#: What an export has failed of is the answer to who asks within its hour, and "now" is five minutes ago.
_HEARD_AGAIN = 65 * MINUTE
#: After very many failures an export is found in the hour in which it was asked for and the next one, by that "now".
_LATE_LIFE = 55 * MINUTE
_NEVER = 10_000 * DAY


@dataclass
class Export:
    """One export. `failure`: the code it ends with as FAILED; `damage`: what is wrong with its files.

    `refusals`: the ids of the jobs that have refused it, so that whoever does the same work knows. `given_to`: of those that
    were to read it.
    """

    arn: str
    request: ExportRequest
    source: Source
    started: int
    ends: int
    failure: str = ""
    damage: str = ""
    refusals: list[str] = field(default_factory=list)
    given_to: set[str] = field(default_factory=set)

    def status(self, now: int) -> str:
        """IN_PROGRESS, COMPLETED or FAILED."""
        if now < self.ends:
            return "IN_PROGRESS"
        return "FAILED" if self.failure else "COMPLETED"

    def describe(self, now: int) -> dict[str, Any]:
        """The part of its description that the product reads."""
        status, started = self.status(now), instant(self.started)
        return {"ExportArn": self.arn, "ExportStatus": status, "StartTime": started, "FailureCode": self.failure}

    def given(self, job_id: str) -> Export:
        """The same export, which a job is to read."""
        self.given_to.add(job_id)
        return self

    def is_sound(self, now: int) -> bool:
        """Whether nobody needs another export of the same stretch."""
        return not self.damage and self.status(now) != "FAILED" and self.ends - self.started < _NEVER


@dataclass
class Flaw:
    """What the next exports suffer from: a failure's code, damaged files, slowness, no end."""

    failure: str = ""
    damage: str = ""
    hours: int = 0
    never_ends: bool = False


class Exports:
    """Every export asked for. `flaw` is what the next ones suffer from, `standing` what all do until it is mended."""

    def __init__(self, clock: Clock, dice: random.Random, timeline: Timeline) -> None:
        self._clock, self._dice, self._timeline = clock, dice, timeline
        self._by_token: dict[str, Export] = {}
        self._of_work: dict[tuple[ExportRequest, str, tuple[datetime, ...]], list[Export]] = {}
        self.by_arn: dict[str, Export] = {}
        self.flaws: list[Flaw] = []
        self.standing = ""
        self.made = 0
        self.trouble: Callable[[int], object] = lambda _until: None

    def ask(self, source: Source | None, request: ExportRequest, token: str, plan: RunPlan, taken_over: bool) -> Export:
        """Ask for an export of whatever table has the name now, for a plan. Raises what lambdas/aws/source.py would.

        `taken_over`: the plan is of work that another run has left, or that its own run had claimed, perhaps from another.
        """
        now = self._clock.now
        known = self._by_token.get(token)
        if known is not None and known.ends + _TOKEN_LIFE > now:
            if known.request != request:
                raise self._timeline.violated("another request has another token", f"{known.request}, then {request}")
            return known
        if source is None:
            raise TableNotFound(f"{request}: no such table")
        self._refuse_illegal(source, request, plan)
        self._refuse_needless(request, plan, taken_over)
        made = self._made(source, request)
        self._by_token[token] = self.by_arn[made.arn] = made
        self._of_work.setdefault((request, plan.mode, plan.bounds), []).append(made)
        self._timeline.add("DynamoDB", "starts {}: {}{}", made.arn, request, _says(made))
        if self.made % 1_000 == 0:
            self._forget()
        return made

    def _refuse_illegal(self, source: Source, request: ExportRequest, plan: RunPlan) -> None:
        now = self._clock.now
        if source.recovery_since is None:
            raise PitrOff(f"{request}: recovery is off")
        start, end = (request.at,) * 2 if request.window is None else (request.window.start, request.window.end)
        assert start is not None and end is not None  # a request has one of the two
        if start < instant(source.earliest(now)):
            late = ExportRefused if plan.mode == BACKFILL else HistoryLost
            raise late(f"{request}: before the earliest restorable time")
        if end > instant(source.latest(now)):
            raise self._timeline.violated("exports are legal", f"{request} ends after the latest restorable time")
        if end - start and not SHORTEST_WINDOW <= end - start <= LONGEST_WINDOW:
            raise ExportRefused(f"{request}: not 15 minutes to 24 hours")

    def _refuse_needless(self, request: ExportRequest, plan: RunPlan, taken_over: bool) -> None:
        """No stretch is paid for twice while its export is sound, and every token of it is known or a job was given it.

        What was asked for after very many failures is found for about an hour.
        """
        former, now = self._of_work.get((request, plan.mode, plan.bounds), []), self._clock.now
        findable = all(export.ends + _TOKEN_LIFE > now for export in former) and not plan.attempt
        sound = [e for e in former if e.is_sound(now) and e.source.table.id == plan.source_id]
        if sound and sum(export.status(now) == "FAILED" for export in former) >= MOST_REQUESTS:
            findable = findable and now - sound[-1].started < _LATE_LIFE
        if sound and (findable or (taken_over and any(plan.job_id in export.given_to for export in sound))):
            raise self._timeline.violated("nothing is exported twice", f"{request}: {sound[-1].arn} is sound")

    def _made(self, source: Source, request: ExportRequest) -> Export:
        self.made += 1
        now, flaw = self._clock.now, self.flaws.pop(0) if self.flaws else Flaw()
        lasts = self._dice.randint(2 * MINUTE, 12 * MINUTE) + flaw.hours * HOUR
        failure = self.standing or flaw.failure
        if failure:
            lasts = self._dice.randint(5, 4 * MINUTE)
        ends = now + (_NEVER if flaw.never_ends and not failure else lasts)
        made = Export(f"export/{self.made}", request, source, now, ends, failure, "" if failure else flaw.damage)
        if flaw.never_ends:
            self.trouble(now + _HANGING)
        elif failure or flaw.hours or flaw.damage:
            self.trouble(max(ends + (_UNTIL_REFUSED if flaw.damage else 0), now + (_HEARD_AGAIN if failure else 0)))
        return made

    def _forget(self) -> None:
        old = self._clock.now - 5 * DAY
        self._by_token = {token: export for token, export in self._by_token.items() if export.ends > old}
        self._of_work = {work: made for work, made in self._of_work.items() if made[-1].ends > old}
        # A job's may be taken again as long as the source keeps its history.
        self.by_arn = {arn: export for arn, export in self.by_arn.items() if export.ends > old - 35 * DAY}


def _says(export: Export) -> str:
    troubles = [export.failure and f"fails with {export.failure}", export.damage and f"damaged: {export.damage}"]
    troubles.append("never ends" if export.ends - export.started >= _NEVER else "")
    return "".join(f" ({trouble})" for trouble in troubles if trouble)
