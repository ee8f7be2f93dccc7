"""The account: source, exports, parameters, jobs, table and executions of one table, as the services see them."""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any

from pipeline.deployment import Deployment
from pipeline.errors import PipelineError, TableNotFound
from pipeline.instants import format_instant
from pipeline.mails.told import Told
from pipeline.modes import FULL, TOLD_TO_THE_END, VERIFY
from pipeline.planning.horizon import Horizon
from pipeline.planning.journal import Claim, newest_claim
from pipeline.planning.observation import SourceHistory
from pipeline.planning.rules import history_needed, rules_of
from pipeline.settings import HALT, Settings
from tests.simulation.clock import DAY, HOUR, MINUTE, Clock
from tests.simulation.exports import Exports
from tests.simulation.jobs import Jobs
from tests.simulation.post import Post, Sent
from tests.simulation.source import LONGEST_PERIOD, Source
from tests.simulation.table import IcebergTable
from tests.simulation.timeline import Timeline

SERVICES = ("dynamodb", "ssm", "glue", "s3", "emr", "states", "sns", "lambda")
MACHINE = "arn:aws:states:eu-west-1:111122223333:stateMachine:Tidemark"
DEPLOYMENT = Deployment(
    **{
        **{f.name: f.name for f in fields(Deployment)},
        "default_table": "orders",
        "bucket": "a-bucket",
        "parameter_prefix": "/tidemark/Tidemark",
        "state_machine_arn": MACHINE,
    }
)


@dataclass
class Parameters:
    """Parameter Store below the table's path."""

    control: str = "RUN"
    recorded: str = ""
    runs: dict[str, str] = field(default_factory=dict)
    told: str = ""


class Account:
    """One table's world. `down`: services that fail now, with the error that calls end in."""

    def __init__(
        self, seed: int, clock: Clock, window_minutes: int | dict[str, int], on_lost_history: str = HALT
    ) -> None:
        self.seed, self.clock = seed, clock
        self.dice = random.Random(seed)
        self.timeline = Timeline(clock)
        said = {"name": "orders", "window_minutes": window_minutes, "tick_minutes": 15}
        self.settings = Settings.parse({"tables": [{**said, "on_lost_history": on_lost_history}]}).tables[0]
        #: Asked for by every plan, and always the same here.
        self.digest = self.settings.digest
        self.parameters = Parameters()
        self.table = IcebergTable()
        self.exports = Exports(clock, self.dice, self.timeline)
        self.jobs = Jobs(clock, self.dice, self.timeline, self.table)
        self.jobs.trouble = self.exports.trouble = self.trouble
        self.running: set[str] = set()
        self.working: set[str] = set()
        self.down: dict[str, type[PipelineError]] = {}
        self.clock_error = 0
        self.mails = 0
        self.post = Post(self.timeline)
        #: Commands that a person has been told to type and has not typed yet.
        self.awaits_person: set[str] = set()
        #: Until when something was wrong, and the same without what the person did.
        self.trouble_until = self.left_alone_since = clock.now
        self.standing: set[str] = set()
        self.on_mail: Callable[[Sent], None] = lambda _mail: None
        self.on_end: Callable[[Any], None] = lambda _run: None
        self._sources = 0
        self.source: Source | None = None
        self.create_source(clock.now - DAY)

    def create_source(self, born: int) -> None:
        """Create the source table, with recovery on from the start; under the same name it is another table."""
        self._sources += 1
        self.source = Source(self._sources, born, recovery_since=born)
        self.jobs.meddled_at = self.clock.now

    @property
    def window(self) -> timedelta:
        """How long windows are now."""
        days = self.source.period_days if self.source else LONGEST_PERIOD
        return rules_of(self.settings, days, self.table.state).window_length

    @property
    def needs_more_history(self) -> bool:
        """Whether the source keeps less history than the settings need."""
        return self.source is not None and history_needed(self.settings) > timedelta(days=self.source.period_days)

    def trouble(self, until: int = 0, *, by_person: bool = False) -> None:
        """Something is wrong now, or until an instant: what runs meanwhile may fail."""
        self.trouble_until = max(self.trouble_until, until, self.clock.now)
        if not by_person:
            self.left_alone_since = self.trouble_until

    def calm_since(self) -> int | None:
        """Since when nothing is wrong; None while something is."""
        return None if self.standing or self.trouble_until >= self.clock.now else self.trouble_until

    def after_a_while(self, command: str, act: Callable[[str], object]) -> None:
        """Let a person act after minutes or half a day."""
        self.clock.after(self.dice.randint(5 * MINUTE, self.dice.choice((HOUR, 12 * HOUR))), lambda: act(command))

    def read(self) -> Parameters:
        """All of the table's parameters at once."""
        return copy(self.parameters)

    def look_at_source(self) -> SourceHistory:
        """The source table and its restorable range. Raises TableNotFound."""
        if self.source is None:
            raise TableNotFound("the source table 'orders' does not exist")
        return self.source.history(self.clock.now, self.clock_error)

    def begins_to_work(self, run: str) -> None:
        """A run goes on to change things; no other may be at it."""
        if self.working - {run}:
            raise self.timeline.violated("never two workers at once", f"{run} beside {', '.join(self.working)}")
        self.working.add(run)

    def create_claim(self, claim: Claim) -> bool:
        """Create ``run/<n>`` if nobody has."""
        if str(claim.number) in self.parameters.runs:
            return False
        self._check_end_was_told(claim)
        self.parameters.runs = {**self.parameters.runs, str(claim.number): claim.to_text()}
        return True

    def newest_number(self) -> int:
        """The number of the claim in force; 0 without one."""
        return max(map(int, self.parameters.runs), default=0)

    def _check_end_was_told(self, following: Claim) -> None:
        """No wish makes room for other work before its end was mailed; who asks for everything anew hears of that."""
        before = newest_claim(self.parameters.runs)
        if before is None or before.plan.mode not in TOLD_TO_THE_END or following.plan.mode in (FULL, before.plan.mode):
            return
        plan, state = before.plan, self.table.state
        seen = before.with_report(self.jobs.report(plan.job_id), owner_runs=False)
        is_shown = plan.mode == VERIFY or (state.marker is not None and state.marker.job_id == plan.job_id)
        has_ended = is_shown if seen.is_done(state) else not seen.committed
        if has_ended and plan.job_id not in self.post.told_ends and self.clock.now - self.post.failed_at > DAY:
            raise self.timeline.violated("who has wished something is told how it ended", f"{plan.job_id}: nothing")

    def remove_claims_before(self, number: int) -> None:
        """Remove the claims older than the one before `number`."""
        self.parameters.runs = {n: text for n, text in self.parameters.runs.items() if int(n) >= number - 1}

    def record(self, watermark: str) -> None:
        """Write last-export-time, which must never be ahead of the table."""
        shown = self.table.state.watermark
        quiet = self.clock.now - self.jobs.meddled_at > HOUR
        if quiet and (shown is None or watermark > format_instant(shown)):
            raise self.timeline.violated(
                "the watermark is never ahead of the data", f"{watermark} recorded, {shown} shown"
            )
        self.parameters.recorded = watermark

    def horizon(self) -> Horizon | None:
        """Where the watermark stands in the source's history in truth; None where there is no such thing now."""
        marker = self.table.state.marker
        if self.source is None or marker is None or marker.source_id != self.source.table.id:
            return None
        return self.source.history(self.clock.now, 0).horizon(marker.watermark)

    def write_told(self, told: Told, run: int) -> None:
        """Write what the mails have said."""
        self.post.records(told, run)
        self.parameters.told = told.to_text()

    def tell(self, mail: Sent) -> None:
        """A mail has gone out."""
        self.mails += 1
        self.post.takes(mail)
        self.on_mail(mail)


#: A table that has been wrong for so long after the last trouble is stuck: one tick, and two rounds of one run.
GRACE = HOUR + HOUR // 2
#: The same while a person has something to do: reads half a day late, is refused, and looks again.
PATIENCE = 2 * DAY
