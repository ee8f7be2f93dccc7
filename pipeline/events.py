"""Events: what the states of the state machine hand to each other, key by key. Types only; at run time they are dicts.

What each state is given stands in statemachine/continuous_export.asl.json. Instants and times are text, as
`pipeline.instants` has them, and empty where there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

#: An export as it goes from Plan by way of StartExports and CheckExports to the mails; `from` is no name for a field of a class.
ExportEvent = TypedDict(
    "ExportEvent",
    {
        # Of which instant it is a full export, or which window it is of; as `ExportRequest.to_json` has it.
        "at": str,
        "from": str,
        "to": str,
        # Once it is asked for.
        "arn": str,
        "retry": int,
        # Once it is complete: the URI of its manifest, its records, and what is paid for.
        "manifest": str,
        "items": int,
        "billed_bytes": int,
    },
    total=False,
)


class SourceEvent(TypedDict):
    """The source table as `pipeline.identity.SourceTable` knows it. `key`: its attributes, each as ``name:S``."""

    arn: str
    id: str
    key: list[str]


class PlanEvent(TypedDict, total=False):
    """What Plan answers with, and every later state is given as ``plan``; empty for NotifyFailure if planning failed.

    The state machine switches on `kind`: Export, Maintain, Record, Idle or Halt; any other, as DryRun, ends the execution.
    """

    kind: str
    planned_at: str
    #: The source's latest restorable time when it was looked at.
    seen_at: str

    # The table, what its settings say, and what it is filled from.
    table: str
    iceberg_table: str
    buckets: int
    columns_file: str
    hash_secret: str
    compare_old_images: bool
    snapshot_days: int
    tick_minutes: int
    success_mail: str
    source: SourceEvent

    # Of Export and Maintain (`pipeline.planning.actions.Export`). `mode` is also that of a wish whose end a Record or a Halt
    # tells, and `job_id` the Record's.
    mode: str
    job: str
    job_id: str
    claim: int
    attempt: int
    exports: list[ExportEvent]
    start: str
    end: str
    #: The execution that had begun it.
    taken_over_from: str
    #: Whether its own execution had claimed it before, and the answer was lost: nobody knows any more from whom.
    adopted: bool
    #: Why the schedule does what nobody has asked for.
    because: str

    # Of Record: what the table shows, what the parameter says, and what was not recorded (`pipeline.planning.actions.Record`).
    watermark: str
    recorded: str
    unrecorded: str
    fulfils: bool

    # Of Idle.
    reason: str
    until: str

    # Of Idle and Halt: in words.
    message: str

    # Of Halt: the error and its remedy, both once more as the cause of a failed execution, and the wish whose end it tells.
    error: str
    remedy: str
    cause: str
    ends: str
    asked: str

    # For the mails (`pipeline.mails.outlook`): the horizon now and after the plan, as `Horizon.to_json` has it, whether the
    # table is as it should be, whether maintenance is, whether the schedule maintains, the days to be summed up, what is known
    # of the rows, the names of the news, whether lost history is made good by itself, whether recovery is off, and the
    # execution that is at work.
    history: dict[str, Any]
    history_after: dict[str, Any]
    works: bool
    maintained: bool
    maintains: bool
    digest: dict[str, Any]
    rows: dict[str, str]
    news: list[str]
    rebuilds: bool
    pitr_off: bool
    at_work: str

    # Of a dry run: the kind of what would be done, and what it would cost (`pipeline.prices.Estimate`).
    planned: str
    estimated_usd: float
    estimate: dict[str, Any]


class StateEvent(TypedDict, total=False):
    """What the state machine gives the functions, each its part."""

    #: The execution's, as whoever started it has given it.
    input: Any
    execution: str
    startedAt: str
    plan: PlanEvent
    exports: list[ExportEvent]

    # Plan's: when its state was entered, whether no round was before, the table of the rounds before, or "", and how often
    # the state was tried before.
    enteredAt: str
    first: bool
    table: str
    retries: int

    # CheckExports's: how often it has looked before.
    checks: int

    # NotifySuccess's: what RecordWatermark answers with (`pipeline.planning.rounds`), the job run, and when it was entered.
    report: Mapping[str, Any]
    jobRun: Mapping[str, Any]
    endedAt: str

    # NotifyFailure's: which state has failed with what, as `pipeline.mails.failure_names` reads it, of which job run, and
    # whether somebody has redriven the execution.
    failure: Mapping[str, Any]
    clientToken: str
    redriven: bool
