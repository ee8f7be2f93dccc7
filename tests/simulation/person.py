"""The person: reads the mails, types the command they print after a while, and wishes something now and then."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from pipeline.errors import (
    ASK_AGAIN,
    RUN_NOW,
    ConflictingChanges,
    InputRefused,
    JobRefused,
    KeyMismatch,
    PipelineError,
    RecoveryTooShort,
    WishGivenUp,
    error_names,
)
from pipeline.instants import format_instant
from pipeline.mails.commands import filled
from pipeline.mails.frame import CLEARED, FAILURE, SUCCESS, WARNING
from pipeline.planning.actions import UP_TO_DATE, Export, Halt, Idle
from pipeline.planning.execution_input import wish_text
from pipeline.planning.half_done import MOST_TRIES
from pipeline.planning.journal import RunPlan
from tests.simulation.account import DEPLOYMENT, Account
from tests.simulation.clock import DAY, HOUR, MINUTE, Process, instant, seconds
from tests.simulation.post import Sent
from tests.simulation.run import Run
from tests.simulation.source import LONGEST_PERIOD, Source

Start = Callable[[str, Mapping[str, Any]], Run]


class Person:
    """Knows nothing but the mails. `start` starts an execution."""

    def __init__(self, account: Account, start: Start) -> None:
        self._account, self._start, self._dice = account, start, account.dice
        self._fulfilled: set[int] = set()
        self._watches = False
        #: The reason for which a mail has told a command; and which runs were started by a command for which, and when.
        self._told: dict[str, str] = {}
        self._typed: dict[int, tuple[str, str, int]] = {}

    def reads(self, mail: Sent) -> None:
        """Take note of a mail; what only a person can mend is mended after minutes or half a day, by what it says."""
        if mail.status == SUCCESS:
            self._fulfilled.add(mail.run)
        elif mail.status == CLEARED:
            self._is_content()
        elif mail.status == WARNING and self._dice.random() < 0.5:
            self._will_type(mail.facts["command"])
        elif mail.status == FAILURE:
            self._reads_of_a_failure(mail)

    def _reads_of_a_failure(self, mail: Sent) -> None:
        kind = error_names().get(mail.facts["error"], PipelineError)
        wishes_on = mail.run not in self._fulfilled
        self._check_heals(mail)
        if mail.facts["heals_by_itself"] or mail.facts["error"] == InputRefused.__name__:
            return
        if kind.command != ASK_AGAIN or wishes_on:
            self._told[mail.facts["command"]] = _reason(mail)
            self._will_type(mail.facts["command"])
        if mail.facts["ask_again"] and wishes_on:
            self._will_type(mail.facts["ask_again"])
        self._looks_again()

    def _check_heals(self, mail: Sent) -> None:
        """Who types what a mail says, while nothing else is wrong, is not told to type the same for the same reason."""
        command, reason, typed = self._typed.pop(mail.run, ("", "", 0))
        if (mail.facts["command"], _reason(mail)) != (command, reason) or reason in _OWN_FAULT:
            return
        if not self._account.standing and self._account.left_alone_since < typed:
            raise self._account.timeline.violated("a mail's command heals", f"{reason} after {command}")

    def sees_the_end(self, run: Run) -> None:
        """Who has started a run sees how it ended, also where no mail could be sent."""
        if run.by != "a person":
            return
        wish = wish_text(run.input)
        if wish and run.outcome == "KILLED" and run.number not in self._fulfilled:
            self._will_type(filled(ASK_AGAIN, "orders", DEPLOYMENT, wish))
        elif isinstance(run.plan, Idle) and run.plan.reason == UP_TO_DATE and run.outcome == "SUCCEEDED":
            self._is_content()
        elif self._watches:
            self._looks_again()

    def _looks_again(self) -> None:
        """Start a run by hand after half a day without an all-clear: its failure is always mailed."""
        self._watches = True
        if _RUN_NOW not in self._account.awaits_person:
            self._account.awaits_person.add(_RUN_NOW)
            self._account.clock.after(self._dice.randint(4 * HOUR, 12 * HOUR), lambda: self._acts(_RUN_NOW))

    def _is_content(self) -> None:
        self._watches = False
        self._account.awaits_person.discard(_RUN_NOW)

    def _will_type(self, command: str) -> None:
        if command not in self._account.awaits_person:
            self._account.awaits_person.add(command)
            self._account.after_a_while(command, self._acts)

    def must_help(self, run: Run) -> bool:
        """Whether the world as it is needs a person, for the reason that a failed run has named."""
        assert run.failure is not None
        account, state, error, by = self._account, self._account.table.state, run.failure.error, run.by
        if error in _OWN_FAULT:
            return by == "a person"
        if error == WishGivenUp.__name__:
            return account.jobs.a_wish_has_failed_often() or _is_passed_by(account, run.claimed)
        if error == RecoveryTooShort.__name__:
            return account.needs_more_history
        plan = run.plan.plan if isinstance(run.plan, Export) else run.claimed
        if error in (ConflictingChanges.__name__, KeyMismatch.__name__):
            return account.source is not None and plan is not None and _is_met(account.source, plan)
        if isinstance(run.plan, Halt) and issubclass(run.failure.error_class, JobRefused):
            return plan is not None and account.jobs.refusals[plan.start, plan.end] >= MOST_TRIES
        if account.source is None or account.source.recovery_since is None or state.marker is None:
            return error == "WatermarkMissing" and state.exists
        recreated = state.marker.source_id != account.source.table.id
        lost = state.marker.watermark < instant(account.source.earliest(account.clock.now))
        return {"TableRecreated": recreated, "HistoryLost": lost}.get(error, False)

    def wishes(self) -> Process:
        """Every now and then: more than an update, an update by hand, or only to know what would be done."""
        while True:
            yield self._dice.randint(HOUR, 16 * DAY)
            wish: dict[str, Any] = {"table": "orders"}
            kind = self._dice.choice(("backfill", "backfill", "full", "verify", "maintain", "update"))
            watermark = self._account.table.state.watermark
            if kind == "backfill":
                back = self._dice.choice((10 * MINUTE, 2 * HOUR, DAY, 3 * DAY, 20 * DAY))
                latest = self._account.clock.now if watermark is None else seconds(watermark)
                wish["from"] = format_instant(instant(latest - self._dice.randint(back // 2, back)))
            if kind != "update":
                wish["mode"] = kind
            if self._dice.random() < 0.2:
                wish["dry_run"] = True
            self._start("a person", wish)

    def _acts(self, command: str) -> None:
        account = self._account
        if command not in account.awaits_person:
            return
        account.timeline.add("person", "types {}", command)
        account.awaits_person.discard(command)
        account.trouble(by_person=True)
        for pattern, act in _COMMANDS:
            if found := re.search(pattern, command):
                started = act(self, found)
                if isinstance(started, Run):
                    self._typed[started.number] = (command, self._told.get(command, ""), account.clock.now)
                return
        raise account.timeline.violated("a mail's command can be typed", command)

    def _starts(self, found: re.Match[str]) -> Run:
        return self._start("a person", json.loads(found[1]))

    def _deploys(self, _found: re.Match[str]) -> None:
        """The stack as the settings say; the person has seen to the source table before."""
        account = self._account
        account.standing.discard("the source table is gone")
        if account.source is None:
            account.create_source(account.clock.now)

    def _repairs(self, _found: re.Match[str]) -> None:
        """What the stack owns is as it should be again, which a deployment of the same template does not look at."""
        account = self._account
        account.exports.standing = ""
        account.down = {name: error for name, error in account.down.items() if error.heals_by_itself}
        account.standing -= {"the bucket is gone", "a permission is gone"}

    def _turns_recovery_on(self, _found: re.Match[str]) -> None:
        account = self._account
        account.standing.discard("recovery is off")
        if account.source is not None and account.source.recovery_since is None:
            account.source.recovery_since = account.clock.now

    def _has_history_kept(self, _found: re.Match[str]) -> None:
        """For 35 days from now on; what is gone does not come back."""
        source = self._account.source
        if source is not None:
            if source.recovery_since is not None:
                source.recovery_since = source.earliest(self._account.clock.now)
            source.period_days = LONGEST_PERIOD

    def _sets_control(self, found: re.Match[str]) -> None:
        self._account.parameters.control = found[1]
        self._account.standing -= {"control is misspelt", "paused", "paused for weeks"}

    def _looks(self, _found: re.Match[str]) -> None:
        """At an execution, which changes nothing."""

    def _removes_claims(self, found: re.Match[str]) -> None:
        """What the mail says to see to first: no run is at work on the table, or the person looks again later."""
        if self._account.working:
            self._account.awaits_person.add(found[0])
            self._account.after_a_while(found[0], self._acts)
            return
        self._account.parameters.runs = {}
        self._account.standing.discard("a claim is garbled")


def _reason(mail: Sent) -> str:
    """Why a mail tells its command: the error, and of a wish that is given up which one."""
    error = str(mail.facts["error"])
    return f"{error}: {mail.facts['message']}" if error == WishGivenUp.__name__ else error


def _is_passed_by(account: Account, plan: RunPlan | None) -> bool:
    """Whether source or table is another one than what was in force had been begun for."""
    source = account.source
    if plan is None or source is None or account.table.state.watermark != plan.end:
        return plan is not None
    return plan.source_id != source.table.id or plan.start < instant(source.earliest(account.clock.now))


def _is_met(source: Source, plan: RunPlan) -> bool:
    """Whether the windows of a plan hold records that contradict each other."""
    start, end = seconds(plan.start), seconds(plan.end)
    return any(start <= at < end for at in source.contradictions)


#: What a person got wrong needs no mending: they were told.
_OWN_FAULT = {"InputRefused", "AnotherRunAtWork", "TablePaused"}
_RUN_NOW = filled(RUN_NOW, "orders", DEPLOYMENT)
_COMMANDS: tuple[tuple[str, Callable[[Person, re.Match[str]], Run | None]], ...] = (
    (r"start-execution .*--input '(.*)'$", Person._starts),
    (r"^aws stepfunctions get-execution-history .* --execution-arn \S+$", Person._looks),
    (r"^TIDEMARK_STACK=\S+ AWS_REGION=\S+ make deploy$", Person._deploys),
    (r"^TIDEMARK_STACK=\S+ AWS_REGION=\S+ make repair$", Person._repairs),
    (r"update-continuous-backups .*PointInTimeRecoveryEnabled=true$", Person._turns_recovery_on),
    (r"update-continuous-backups .*RecoveryPeriodInDays=35$", Person._has_history_kept),
    (r"put-parameter --region \S+ --overwrite --type String --name \S+/control --value (RUN)$", Person._sets_control),
    (
        r"^aws ssm get-parameters-by-path --region \S+ --path \S+/run .* aws ssm delete-parameters --region \S+ --names$",
        Person._removes_claims,
    ),
)
