"""The run journal: claims in Parameter Store, and what each says of its run.

A claim is the parameter ``run/<n>``, created only if it is absent: of two starters exactly one gets it. It holds the
whole plan, so that a run which died is finished by the next one: same exports, same attempts, same tokens. The highest
number is the claim in force; older ones are removed by the run that made it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from pipeline.errors import LONGEST_TEXT, ClaimUnreadable, PipelineError, error_names
from pipeline.exports.requests import ExportRequest
from pipeline.exports.windows import windows_between
from pipeline.instants import format_instant, parse_instant
from pipeline.job_kinds import JOBS, LOAD, MERGE
from pipeline.modes import MAINTAIN, MODES, REPORTED_AS, UPDATE, WISHES_FOR_ROWS
from pipeline.run_reports import ALREADY_THERE, COMMITTED
from pipeline.table.marker import TableState

_NUMBER = re.compile(r"[1-9][0-9]{0,17}")
#: What a text ends in that is no claim, written by hand as it may be: `Infinity`, or brackets without end.
_NO_CLAIM = (ValueError, KeyError, TypeError, OverflowError, RecursionError)
_EXECUTION = re.compile(r"arn:[^:\s]+:states:[^:\s]+:\d{12}:execution:[^:\s]+:[^:\s]+")


@dataclass(frozen=True)
class RunPlan:
    """What a run sets out to do. `bounds`: one instant for a full export, else the ends of touching windows.

    `mode` is the wish it serves. `attempt` counts exports of the same stretch made anew because the former files were
    damaged; of all but an update from the number of its first claim, so that what is asked for again is other work.
    Maintenance, at the watermark, needs no export.
    """

    mode: str
    source_id: str
    bounds: tuple[datetime, ...]
    attempt: int = 0

    @property
    def requests(self) -> tuple[ExportRequest, ...]:
        """The exports the plan needs, in order."""
        if self.mode == MAINTAIN:
            return ()
        if self.is_full:
            return (ExportRequest(at=self.bounds[0]),)
        return tuple(ExportRequest(window=window) for window in windows_between(self.bounds))

    @property
    def is_full(self) -> bool:
        """Whether the plan reads a full export: to replace the table's content by it, or to compare the two."""
        return len(self.bounds) == 1 and self.mode != MAINTAIN

    @property
    def start(self) -> datetime:
        """The first instant the plan reads."""
        return self.bounds[0]

    @property
    def end(self) -> datetime:
        """The table's watermark once the plan is carried out; a verification and maintenance leave it there."""
        return self.bounds[-1]

    @property
    def job(self) -> str:
        """The kind of job that carries the plan out, as `pipeline.job_kinds` has them."""
        if self.mode in JOBS:  # it is carried out by the kind of job that is called like it
            return self.mode
        return LOAD if self.is_full else MERGE

    @cached_property
    def job_id(self) -> str:
        """The name of the plan's work: the same for the same work, whoever does it and however often it is tried."""
        bounds = ",".join(format_instant(bound) for bound in self.bounds)
        identity = "|".join([self.source_id, self.mode, bounds, str(self.attempt)])
        end = format_instant(self.end).replace("-", "").replace(":", "")
        return f"{self.mode}-{end}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"

    def next_attempt(self) -> RunPlan:
        """The same stretch, exported anew."""
        return replace(self, attempt=self.attempt + 1)


def is_second_try(number: int, attempt: int) -> bool:
    """Whether a claim is not the first of its plan's work, so that a run before has left it.

    `attempt`: its plan's. An update does not count from its first claim, so that it always passes for one.
    """
    return number > attempt


@dataclass(frozen=True)
class Claim:
    """One claim as found: its number, the ARN of the execution that made it, and its plan.

    `tries`: one more than the job has refused the same stretch before, in a way that does not heal or for its files, by the
    same settings, of which `settings` is the digest. `counted`: the client token of the job run that refused last before
    the claim: its report says nothing of the claim's own.
    `owner_runs`: whether that execution still runs. `refused_with`: the error's name, if the claim's job has refused,
    `refusal` what it said, `remedy` what it advised, as much of both as is handed on, and `refused_by` the client token of
    that job run.
    `committed`: whether it says that it has committed, also where the table was rolled back since.
    `reported`: whether the plan's job has left the report that is the proof that it was done, where no commit tells.
    `failed_runs`: how many job runs of a wish have ended without success.
    """

    number: int
    owner: str
    plan: RunPlan
    tries: int = 1
    settings: str = ""
    counted: str = ""
    owner_runs: bool = False
    refused_with: str = ""
    refusal: str = ""
    remedy: str = ""
    refused_by: str = ""
    committed: bool = False
    reported: bool = False
    failed_runs: int = 0

    @property
    def is_second_try(self) -> bool:
        """Whether a run before has claimed the same work, and left it."""
        return is_second_try(self.number, self.plan.attempt)

    @property
    def refused_as(self) -> type[PipelineError] | None:
        """What its job has refused it with; None where it has not, or with nothing of the product's."""
        return error_names().get(self.refused_with)

    def asks_for_report(self, execution: str, *, owner_runs: bool) -> bool:
        """Whether its job's report says something new to an execution: whoever works for another one need not ask yet."""
        return not owner_runs or (self.owner == execution and self.plan.mode in REPORTED_AS)

    def with_report(self, report: Mapping[str, Any], *, owner_runs: bool) -> Claim:
        """The claim with what its parameter cannot know: whether its owner runs, and what its job's report says.

        `report` is empty where there is none, or nobody has asked for it.
        """
        outcome = report.get("outcome", "")
        return replace(
            self.with_refusal(report),
            owner_runs=owner_runs,
            committed=outcome in (ALREADY_THERE, COMMITTED),
            reported=outcome == REPORTED_AS.get(self.plan.mode),
        )

    def counts_failed_runs(self, table: TableState) -> bool:
        """Whether it matters how often its job has failed, which counts of a wish only."""
        return not self.owner_runs and self.plan.mode in WISHES_FOR_ROWS and not self.is_done(table)

    def with_refusal(self, report: Mapping[str, Any]) -> Claim:
        """The claim with what its job's report says of a refusal; without, where the report is older than the claim."""
        # Somebody may have written it by hand.
        error, client_token = str(report.get("error") or ""), report.get("client_token", "")
        if not error or (client_token and client_token == self.counted):
            return self
        refusal, remedy = (str(report.get(part) or "")[:LONGEST_TEXT] for part in ("message", "remedy"))
        return replace(self, refused_with=error, refused_by=client_token, refusal=refusal, remedy=remedy)

    def is_done(self, table: TableState) -> bool:
        """Whether the table already shows what the plan was to bring: its job's commit, or all its history.

        A backfill or a full export leaves the watermark where others may have put it, so only the job's id counts there.
        A verification commits nothing, and maintenance may find nothing to do; their report is the proof that it was done.
        """
        if self.plan.mode in REPORTED_AS:
            return self.reported
        if self.plan.job_id in table.job_ids:
            return True
        watermark = table.watermark
        return self.plan.mode == UPDATE and watermark is not None and self.plan.end <= watermark

    def to_text(self) -> str:
        """Write the claim as its parameter's value."""
        return json.dumps(
            {
                "owner": self.owner,
                "mode": self.plan.mode,
                "source_id": self.plan.source_id,
                "bounds": [format_instant(bound) for bound in self.plan.bounds],
                "attempt": self.plan.attempt,
                "tries": self.tries,
                "settings": self.settings,
                "counted": self.counted,
            },
            separators=(",", ":"),
        )

    @classmethod
    def from_text(cls, number: int, text: str) -> Claim:
        """Read what `to_text` wrote. Raises one of `_NO_CLAIM` for anything else."""
        raw = json.loads(text)
        if raw["mode"] not in MODES:
            raise ValueError(f"mode is {raw['mode']!r}")
        if _EXECUTION.fullmatch(raw["owner"]) is None:
            raise ValueError(f"owner is {raw['owner']!r}, which is no execution")
        if not isinstance(raw["source_id"], str):
            raise ValueError(f"source_id is {raw['source_id']!r}")
        bounds = tuple(parse_instant(bound) for bound in raw["bounds"])
        plan = RunPlan(raw["mode"], raw["source_id"], bounds, int(raw["attempt"]))
        if not bounds or not (plan.requests or plan.mode == MAINTAIN):  # the requests refuse windows that cannot be
            raise ValueError(f"bounds are {raw['bounds']!r}")
        return cls(number, raw["owner"], plan, int(raw["tries"]), raw["settings"], raw["counted"])


def newest_claim(runs: Mapping[str, str]) -> Claim | None:
    """The claim in force among the parameters below ``run/``: name (a number) to value.

    Raises ClaimUnreadable for what this product did not write: nobody knows then whether another run is at work.
    """
    if not runs:
        return None
    wrong = [name for name in runs if _NUMBER.fullmatch(name) is None]
    if wrong:
        raise ClaimUnreadable(f"there is a parameter run/{wrong[0]} where only run/ and a number may be")
    name = max(runs, key=int)
    try:
        return Claim.from_text(int(name), runs[name])
    except _NO_CLAIM as error:
        raise ClaimUnreadable(f"run/{name} is {runs[name]!r}, which is no claim: {error!r}") from error
