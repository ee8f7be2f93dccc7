"""The person: reads the mails, types the command they print after a while, and wishes something now and then."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from pipeline.errors import PipelineError, error_names
from pipeline.instants import format_instant
from tests.simulation.account import Account
from tests.simulation.clock import DAY, HOUR, MINUTE, Process, instant, seconds
from tests.simulation.post import Sent

Start = Callable[[str, Mapping[str, Any]], object]


class Person:
    """Knows nothing but the mails. `start` starts an execution."""

    def __init__(self, account: Account, start: Start) -> None:
        self._account, self._start, self._dice = account, start, account.dice

    def reads(self, mail: Sent) -> None:
        """Take note of a mail; what only a person can mend is mended after minutes or half a day, by what it says."""
        kind = error_names().get(mail.kind[0], PipelineError)
        told_to_act = mail.status == "FAILURE" and not kind.heals_by_itself and mail.kind[0] not in _OWN_FAULT
        if told_to_act and mail.command not in self._account.awaits_person:
            self._account.awaits_person.add(mail.command)
            self._account.after_a_while(mail.command, self._acts)

    def must_help(self, error: str, by: str) -> bool:
        """Whether the world as it is needs a person, for the reason that was named."""
        account, state = self._account, self._account.table.state
        if error in _OWN_FAULT:
            return by == "a person"
        if account.source is None or account.source.recovery_since is None or state.marker is None:
            return error == "WatermarkMissing" and state.exists
        recreated = state.marker.source_id != account.source.table.id
        lost = state.marker.watermark < instant(account.source.earliest(account.clock.now))
        return {"TableRecreated": recreated, "HistoryLost": lost}.get(error, False)

    def wishes(self) -> Process:
        """Every now and then: a backfill, a full export, an update by hand, or only what would be done."""
        while True:
            yield self._dice.randint(HOUR, 16 * DAY)
            wish: dict[str, Any] = {"table": "orders"}
            kind = self._dice.choice(("backfill", "backfill", "full", "update"))
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
        account.timeline.add("person", "types {}", command)
        account.awaits_person.discard(command)
        account.trouble()
        for pattern, act in _COMMANDS:
            if found := re.search(pattern, command):
                act(self, found)
                return
        raise account.timeline.violated("a mail's command can be typed", command)

    def _starts(self, found: re.Match[str]) -> None:
        self._start("a person", json.loads(found[1]))

    def _deploys(self, _found: re.Match[str]) -> None:
        """What the stack owns is as it should be again; and what it does not own, the person has seen to."""
        account = self._account
        account.exports.standing = ""
        account.down = {name: error for name, error in account.down.items() if error.heals_by_itself}
        account.standing -= {"the bucket is gone", "a permission is gone", "the source table is gone"}
        if account.source is None:
            account.create_source(account.clock.now)

    def _turns_recovery_on(self, _found: re.Match[str]) -> None:
        account = self._account
        account.standing.discard("recovery is off")
        if account.source is not None and account.source.recovery_since is None:
            account.source.recovery_since = account.clock.now

    def _sets_control(self, found: re.Match[str]) -> None:
        self._account.parameters.control = found[1]
        self._account.standing.discard("control is misspelt")

    def _removes_claims(self, found: re.Match[str]) -> None:
        """What the mail says to see to first: no run is at work on the table, or the person looks again later."""
        if self._account.working:
            self._account.awaits_person.add(found[0])
            self._account.after_a_while(found[0], self._acts)
            return
        self._account.parameters.runs = {}
        self._account.standing.discard("a claim is garbled")


#: What a person got wrong needs no mending: they were told.
_OWN_FAULT = {"InputRefused", "AnotherRunAtWork"}
_COMMANDS: tuple[tuple[str, Callable[[Person, re.Match[str]], None]], ...] = (
    (r"start-execution .*--input '(.*)'$", Person._starts),
    (r"^make deploy$", Person._deploys),
    (r"update-continuous-backups .*PointInTimeRecoveryEnabled=true$", Person._turns_recovery_on),
    (r"put-parameter --overwrite --name \S+/control --value (RUN)$", Person._sets_control),
    (r"^aws ssm delete-parameters .*/run .*", Person._removes_claims),
)
