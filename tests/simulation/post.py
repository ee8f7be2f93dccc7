"""What the mails may say, and must: one for each incident, none missing, none of what has not happened.

Kept apart from the product's own rules: from the mails that went out, and from what the runs that sent them recorded. A
mail may come twice only where the run that sent it first could not record it, or where the record could not be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pipeline.errors import HistoryLost, RecoveryTooShort, WishGivenUp
from pipeline.mails.frame import CLEARED, FAILURE, SUCCESS, WARNING
from pipeline.mails.told import MOST_REMEMBERED, Told, ToldFailure
from pipeline.modes import BACKFILL, FULL, MAINTAIN, VERIFY
from pipeline.planning.actions import UP_TO_DATE, Idle
from tests.simulation.timeline import Timeline, Violation

if TYPE_CHECKING:
    from tests.simulation.run import Run

Kind = tuple[str, str, str]


@dataclass(frozen=True)
class Sent:
    """One mail that the topic took: by which run, and what it says.

    `of_schedule`: it is part of an incident, and no answer to a person. `known`: how often ``told`` had been written when
    its writer read it, None where it could not. `facts`: the mail's own. `mode`: that of the plan at hand. `loaded`: at which
    watermark the table had been made anew last.
    """

    run: int
    status: str
    of_schedule: bool = False
    known: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    mode: str = ""
    loaded: datetime | None = None

    @property
    def kind(self) -> Kind:
        """Error, state and mode of a failure."""
        return self.facts.get("error", ""), self.facts.get("state", ""), self.mode

    @property
    def level(self) -> int:
        """What a warning is about. The last one is not sent beside a wish's end whose mail says that history is lost."""
        is_said = bool(self.facts.get("wish_ended")) and self.facts.get("history_left_seconds") == 0
        return 100 if is_said else int(self.facts.get("level_percent", 0))


@dataclass
class Mailed:
    """What a run has mailed since it read ``told`` last."""

    kinds: set[Kind] = field(default_factory=set)
    level: int = 0
    cleared: bool = False


class Post:
    """Sees every mail and every record of it. Raises Violation through the timeline."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        #: How often ``told`` has been written.
        self.version = 0
        #: What has failed, at which tick first, and where the table was then.
        self._failures: dict[Kind, ToldFailure] = {}
        self._level = 0
        #: Whether the open incident is recorded as ending, and whether an all-clear has been mailed and not recorded.
        self._ending = self._over = False
        #: The version since which the open incident is as it is.
        self._since = 0
        #: The job ids of the wishes whose end has been mailed, and when a run could not mail something.
        self.told_ends: set[str] = set()
        self.failed_at = 0
        self._mailed: dict[int, Mailed] = {}
        self._known: dict[int, int] = {}

    def reads(self, run: int) -> int:
        """A run has read ``told``; returns the version."""
        self._mailed[run] = Mailed()
        self._known[run] = self.version
        return self.version

    def takes(self, mail: Sent) -> None:
        """A mail has gone out."""
        self.told_ends.add(mail.facts.get("wish_ended" if mail.status == FAILURE else "job_id", ""))
        if mail.status != SUCCESS:
            self._timeline.add("mail", "{} {} {} {}", mail.run, mail.status, " ".join(mail.kind), mail.level or "")
        if not mail.of_schedule:
            return
        mailed = self._mailed.setdefault(mail.run, Mailed())
        if mail.known == self.version:
            again = mail.kind in self._kinds and not mail.facts.get("wish_ended")  # each wish by itself
            if mail.status == FAILURE and again and not self._ending:
                raise self._wrong("one mail for one incident", f"{' '.join(mail.kind)} has been told")
            if mail.status == WARNING and mail.level <= self._level:
                raise self._wrong("a warning comes once", f"{mail.level} after {self._level}")
            if mail.status == CLEARED and not _own(self._kinds) and not self._level:
                raise self._wrong("an all-clear ends something", "nothing had been told")
        if mail.status == CLEARED:
            over = {(one["error"], one["state"], one["mode"]) for one in mail.facts.get("failures", ())}
            if wrong := (over - _own(over)) | {
                kind for kind in _full(over) if not self._is_made_good(kind, mail.loaded)
            }:
                raise self._wrong("an all-clear speaks of what is over", f"{wrong}")
        if mail.status == FAILURE:
            mailed.kinds.add(mail.kind)
        mailed.level = max(mailed.level, mail.level)
        if mail.status == CLEARED:
            mailed.cleared, self._over = True, bool(self._kinds)

    def records(self, told: Told, run: int) -> None:
        """A run writes ``told``: nothing that it has not mailed, unless another one has written meanwhile."""
        incident = told.incident
        failures = {(f.kind.error, f.kind.state, f.kind.mode): f for f in incident.failures} if incident else {}
        kinds, mailed = {*failures}, self._mailed.get(run, Mailed())
        if self._known.get(run) == self.version:
            anew = self._ending or len(kinds) == MOST_REMEMBERED
            gone = set() if anew or mailed.cleared else _own(self._kinds - kinds) - _full(self._kinds)
            if kinds - self._kinds - mailed.kinds or gone:
                raise self._wrong(
                    "told is what was mailed", f"run {run} writes {told.to_text()}, and has mailed {mailed}"
                )
            heard = any(error == HistoryLost.__name__ for error, _, _ in kinds)
            if told.level > max(self._level, mailed.level) and not heard:
                raise self._wrong("told is what was mailed", f"run {run} writes level {told.level}")
        self.version += 1
        was_ending, self._ending = self._ending, incident is not None and incident.ending
        if kinds != self._kinds:
            self._since = self.version
        self._failures, self._level = failures, told.level
        if not self._ending:
            self._over = False
        # What announces an all-clear comes before its mail; every other record comes after.
        if was_ending or not self._ending or mailed.cleared:
            self._mailed[run] = Mailed()
        self._known[run] = self.version

    def has_told(self, run: Run) -> None:
        """A run is through with telling, and nothing has failed: what it has mailed is recorded."""
        left = self._mailed.get(run.number, Mailed())
        if left != Mailed() and not run.untold:
            raise self._wrong("what was mailed is recorded", f"run {run.number} has mailed {left}")

    def has_worked(self, run: Run, *, maintained: bool = False) -> None:
        """A run has shown that runs work again, or has maintained: what it could know of an incident is over.

        What failed of maintenance is over when that succeeds, and nothing else is then. Of what has failed at a later tick
        the run knows nothing.
        """
        before = {kind for kind, failure in self._failures.items() if failure.since <= run.meant_for}
        left = _own({kind for kind in before if (kind[2] == MAINTAIN) is maintained})
        if not isinstance(run.plan, Idle):
            left = {kind for kind in left if kind[0] != RecoveryTooShort.__name__}  # a round says nothing of it
        if left and run.known is not None and self._since <= run.known and not run.untold:
            raise self._wrong("the end of an incident is told", f"run {run.number} worked, {left} stays open")

    def ends(self, run: Run) -> None:
        """A run has ended: no failure of the schedule is silent, nor a warning that was due, nor an all-clear."""
        self._mailed.pop(run.number, None)
        self._known.pop(run.number, None)
        if run.outcome == "KILLED" or run.untold or run.dry:
            return
        if run.outcome == "SUCCEEDED" and isinstance(run.plan, Idle) and run.plan.reason == UP_TO_DATE:
            self.has_worked(run)
            if run.outlook["maintained"]:
                self.has_worked(run, maintained=True)
        scheduled = "scheduled_time" in run.input
        if run.known != self.version:
            return
        if run.outcome == "FAILED" and scheduled:
            assert run.failure is not None
            if (self._over or self._ending) and not any(mailed.cleared for mailed in self._mailed.values()):
                raise self._wrong("no failure is silent", f"run {run.number} failed after an all-clear")
            failed = (run.failure.error, run.failure.state)
            if failed not in {(error, state) for error, state, _ in self._kinds}:
                raise self._wrong("no failure is silent", f"run {run.number} failed with {failed}; told: {self._kinds}")
        if scheduled or isinstance(run.plan, Idle):
            seen = run.horizon.level if run.horizon else 0
            truth = run.account.horizon() if seen > self._level else None
            if truth and truth.level > self._level:
                raise self._wrong(
                    "who may lose history is warned", f"{truth} is at {truth.level}, told was {self._level}"
                )

    @property
    def _kinds(self) -> set[Kind]:
        return {*self._failures}

    def _is_made_good(self, kind: Kind, loaded: datetime | None) -> bool:
        """Whether the table has been made anew since a failure of a full export."""
        then = self._failures[kind].watermark if kind in self._failures else None
        return loaded is not None and (then is None or loaded > then)

    def _wrong(self, invariant: str, what: str) -> Violation:
        return self._timeline.violated(invariant, what)


def _full(kinds: set[Kind]) -> set[Kind]:
    """Of failures those of full exports, which a person may have asked for: over once one was carried out, or without a word."""
    return {kind for kind in kinds if kind[2] == FULL}


def _own(kinds: set[Kind]) -> set[Kind]:
    """Of failures those of the schedule's own work: of what a person has asked for no all-clear tells."""
    return {k for k in kinds if k[2] not in (BACKFILL, VERIFY) and k[0] != WishGivenUp.__name__}
