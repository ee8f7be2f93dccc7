"""What becomes of the work of a run that has failed: which run goes on with it, or what a person has to ask for. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pipeline.errors import (
    REBUILD,
    AwsUnavailable,
    DamagedExport,
    DatabaseMissing,
    ExportRefused,
    HistoryLost,
    InputRefused,
    JobFailed,
    TableFilesMissing,
    TableGone,
    VerificationFailed,
    WatermarkMissing,
    WatermarkNotCommitted,
    WishGivenUp,
)
from pipeline.events import PlanEvent, StateEvent
from pipeline.mails.failure_names import Failure
from pipeline.mails.unclaimed import may_have_claimed, unclaimed
from pipeline.modes import (
    BACKFILL,
    FULL,
    LEAVES_WATERMARK,
    MAINTAIN,
    REPORTED_AS,
    TOLD_TO_THE_END,
    UPDATE,
    VERIFY,
    WISHES_FOR_ROWS,
)
from pipeline.planning.execution_input import asking, is_dry_run, wish_text
from pipeline.planning.half_done import MOST_JOB_RUNS, MOST_TRIES
from pipeline.planning.horizon import Horizon
from pipeline.planning.journal import is_second_try
from pipeline.planning.wish_ends import ASK_LATER

_A_PERSON = "Nothing: a person must act."
_GOES_ON = "The schedule goes on with its own work; for what was asked for a person must act."
#: What cannot be recorded holds nothing up (`pipeline.planning.corrections`); what has failed may hold up more than that.
_NOT_RECORDED = "The schedule goes on where it can; last-export-time may stay as it is until a person acts."
_MAY_GO_ON = "The schedule goes on with its own work, unless that waits for a full export too; a person must act."
_DRY_RUN = "Nothing: a dry run begins nothing."
#: Of what moves no watermark nothing is left to record, so no run comes back to it.
_DONE = "Nothing more: what was asked for is done, and the job's report says what it has found."
_FOR_OTHERS = "But the cause must be removed before the next run."
_IF_TOLD = "(If a success mail for it has come, it is done.)"
_NOT_BEGUN = "Nothing: your request was not begun, and no later run will do it."
_MAY_BE_BEGUN = (
    "Your request may have been begun, though this run has failed; then the next run finishes it, and mails so. If it was "
    f"not, no later run will do it. {_IF_TOLD}"
)
_LOOK_FIRST = (
    "Look first at the table's parameters run/<n>: where one of them has this execution as its owner, and the mode that you "
    "asked for, your request was begun, and there is nothing to do. Only where none has, ask for it again."
)
#: Where a full export helps: a backfill from before it is refused, and what it was to bring is in the table then; and who
#: has asked for a full export gets its command anyway.
_FULL_BRINGS = {
    BACKFILL: "The full export brings what your backfill was to bring.",
    FULL: "The command asks for it again.",
}
#: Where there is no table, or history is lost and the settings say that the table rebuilds itself.
ANEW = "The next run makes the table anew from a full export by itself."
_ANEW_BRINGS = f"{ANEW} It then shows what the backfill was to bring."
#: What says that it is not done after all.
_UNDONE = (WatermarkNotCommitted, JobFailed, DatabaseMissing, TableFilesMissing)


@dataclass(frozen=True)
class Aftermath:
    """What becomes of it.

    `by_itself`: what the pipeline does, in words. `heals`: whether nobody need act. `missed`: what no run goes on with, as
    the input that asks for it (of one that was refused, and of a dry run, as it was given); "" where one does, or asking
    would not help. `remedy`: what helps where time has healed the cause, and no run goes on; "" where one does.
    """

    by_itself: str
    heals: bool = False
    missed: str = ""
    remedy: str = ""


def aftermath(event: StateEvent, failure: Failure, table: str) -> Aftermath:
    """What becomes of what a run was doing, and was to do. `event` is NotifyFailure's."""
    as_given = json.dumps(event["input"], separators=(",", ":"), ensure_ascii=False)
    if failure.error_class is InputRefused:
        return Aftermath(_A_PERSON, missed=as_given)
    is_dry = is_dry_run(event["input"])
    plan, missed = event["plan"], as_given if is_dry else unclaimed(event)
    if failure.error_class is WishGivenUp:
        return _of_given_up(event, table, missed)
    if is_dry:
        return Aftermath(_DRY_RUN, missed=missed)
    brought = _FULL_BRINGS.get(event["input"]["mode"], "") if missed and failure.error_class.command == REBUILD else ""
    if plan.get("ends"):
        return _of_an_end(failure, plan, missed, brought)
    return _of_a_request(failure, plan, missed, brought) if missed else _of_own_work(failure, plan, table)


def _of_an_end(failure: Failure, plan: PlanEvent, missed: str, brought: str) -> Aftermath:
    """Of a run that told a wish's end. What it was asked for itself is `missed`, or `brought` by a full export."""
    told = _without_a_full_export(plan) if plan.get("mode") == FULL else _GOES_ON
    if brought:
        return Aftermath(f"{told} {brought}")
    missed = missed or ("" if failure.error_class.command == REBUILD else plan["asked"])
    return Aftermath(told, missed=missed, remedy=failure.remedy)  # the plan has said when to ask


def _of_a_request(failure: Failure, plan: PlanEvent, missed: str, brought: str) -> Aftermath:
    """Of a run that had not claimed what it was asked for, which is `missed`, or `brought` by a full export."""
    if brought:
        return Aftermath(f"{_NOT_BEGUN} {_IF_TOLD} {brought}")
    if not plan and may_have_claimed(failure):
        return Aftermath(_MAY_BE_BEGUN, missed=missed, remedy=_LOOK_FIRST)
    return Aftermath(f"{_NOT_BEGUN} {_IF_TOLD}", missed=missed)


def _of_own_work(failure: Failure, plan: PlanEvent, table: str) -> Aftermath:
    """Of a run that was at work on what it had claimed, or at nothing yet that anybody has asked for."""
    mode = plan.get("mode", UPDATE)
    if _is_done(plan, failure):
        told = _DONE if failure.heals_by_itself else f"{_DONE} {_FOR_OTHERS}"
        return Aftermath(told, heals=failure.heals_by_itself, remedy="Nothing to do.")
    if failure.error_class is TableGone and failure.reported:
        return _of_gone(mode, table)
    if _is_left(plan, failure):
        return _of_reported(mode, failure, plan, table)
    if failure.heals_by_itself:
        return Aftermath(_tried_again(failure, plan, mode), heals=True)
    if failure.state == "RecordWatermark" and failure.error_class not in _UNDONE:
        return Aftermath(_NOT_RECORDED)
    if failure.reported and mode == UPDATE and failure.error_class is not WatermarkMissing:  # of which Plan halts
        return Aftermath(f"It is tried {MOST_TRIES} times with the same settings, and then waits; a person must act.")
    if failure.reported and failure.error_class.command != REBUILD:
        return Aftermath(_A_PERSON, missed=asking(table, mode, plan["start"]))
    return Aftermath(ANEW, heals=True) if makes_anew(failure, plan) else Aftermath(_A_PERSON)


def _is_done(plan: PlanEvent, failure: Failure) -> bool:
    """Whether all that a run was to do is done, and it was only not recorded, or not told."""
    mode, is_recording = plan.get("mode", ""), failure.state == "RecordWatermark"
    is_told_late = plan.get("kind") == "Record" and mode in TOLD_TO_THE_END
    return is_told_late or (is_recording and mode in LEAVES_WATERMARK and failure.error_class not in _UNDONE)


def _is_left(plan: PlanEvent, failure: Failure) -> bool:
    """Whether it is a verification or maintenance that is not done, and with which no run goes on.

    What its job has refused is left undone, and so is what a second claim has tried once more because a run had died.
    """
    is_second = is_second_try(plan.get("claim", 0), plan.get("attempt", 0))  # what claims nothing is none
    return plan.get("mode") in REPORTED_AS and (failure.reported or is_second)


def makes_anew(failure: Failure, plan: PlanEvent) -> bool:
    """Whether history is lost, and the next run makes that good by itself."""
    return failure.error_class is HistoryLost and bool(plan.get("rebuilds"))


def _of_gone(mode: str, table: str) -> Aftermath:
    """Of what a job was to do to a table that is gone: the next run's full export brings it, but for a verification."""
    if mode == VERIFY:
        return Aftermath(ANEW, missed=asking(table, VERIFY), remedy=ASK_LATER)
    return Aftermath(_ANEW_BRINGS if mode == BACKFILL else ANEW, heals=True)


def _of_given_up(event: StateEvent, table: str, missed: str) -> Aftermath:
    """Of a wish that is given up: the table may need a full export itself, or get one by the next run."""
    asked = event["plan"].get("asked")
    if asked != "":
        return Aftermath(_MAY_GO_ON if asked == asking(table, FULL) else _GOES_ON, missed=missed)
    is_brought = wish_text(event["input"]) and event["input"]["mode"] in WISHES_FOR_ROWS
    return Aftermath(ANEW, missed="" if is_brought else missed)


def _without_a_full_export(plan: PlanEvent) -> str:
    """What the schedule does where a full export is left undone: it may be its own, and nothing goes on without one."""
    horizon = Horizon.from_json(plan.get("history", {}))
    # Where there is no table it makes one, and where that cannot be trusted it waits; the plan does not say which it is.
    if horizon is None or horizon.watermark > horizon.latest:
        return _MAY_GO_ON
    return _A_PERSON if horizon.is_lost else _GOES_ON


def ended_wish(plan: PlanEvent, failure: Failure) -> str:
    """The job id of the wish whose end the mail about a failure tells, because no run goes on with it; "" where there is none."""
    mode = plan.get("mode", "")
    if plan.get("ends") or mode not in TOLD_TO_THE_END:
        return str(plan.get("ends", ""))
    if _is_done(plan, failure):
        # What time heals the next run finds done, and tells; it does so once.
        is_over = tells_late(plan) or not failure.heals_by_itself
    else:
        # What was to be done to a table that is gone is brought by the full export that makes it anew.
        is_refused = failure.reported and (failure.error_class is TableGone or not failure.heals_by_itself)
        is_over = is_refused or _is_left(plan, failure)
    return str(plan["job_id"]) if is_over else ""


def tells_late(plan: PlanEvent) -> bool:
    """Whether a plan tells the end of a wish in the place of the run that did it: what fails then no later run tells."""
    return bool(plan.get("ends")) or plan.get("kind") == "Record"


def _of_reported(mode: str, failure: Failure, plan: PlanEvent, table: str) -> Aftermath:
    """Of a verification or maintenance that no run goes on with."""
    if makes_anew(failure, plan):
        return Aftermath(ANEW, missed=asking(table, mode))
    if not failure.heals_by_itself:
        return Aftermath(_A_PERSON, missed="" if failure.error_class is VerificationFailed else asking(table, mode))
    if mode == MAINTAIN:
        told = "The schedule goes on, and maintains the table again when that is due."
        helps = "Nothing to do: the table is maintained again when that is due. To have it sooner, ask for it."
        return Aftermath(told, heals=True, missed=asking(table, mode), remedy=helps)
    told = "The schedule goes on. The verification is not repeated; ask again if you still want it."
    return Aftermath(told, missed=asking(table, mode))


def _tried_again(failure: Failure, plan: PlanEvent, mode: str) -> str:
    """What the next run does. No plan says how often that has been tried before; so each mail says where it ends."""
    may_be_given_up = _may_be_given_up(plan, mode)
    if issubclass(failure.error_class, DamagedExport):
        told = f"The next scheduled run has it exported anew, and tries again by itself; {MOST_TRIES} times in all."
        return f"{told} Then it {'is given up' if may_be_given_up else 'waits for a person'}, and a mail says so."
    if failure.error_class is ExportRefused and mode == BACKFILL:
        return "The next scheduled run tries again by itself, or gives it up and mails so, where it begins too early by now."
    told = "The next scheduled run tries again by itself"
    if failure.error_class is JobFailed and mode not in REPORTED_AS:
        # A job that was killed, or could not write its report, may have committed before.
        told += "; what the table shows already is not done again"
    if failure.state == "RunSparkJob" and failure.error_class is not AwsUnavailable and may_be_given_up:
        return f"{told}. After {MOST_JOB_RUNS} job runs in all it is given up instead, and a mail says so."
    return f"{told}."


def _may_be_given_up(plan: PlanEvent, mode: str) -> bool:
    """Whether it is a wish; a full export that makes lost history good by itself is tried for as long as it takes."""
    horizon = Horizon.from_json(plan.get("history", {}))
    is_needed = mode == FULL and bool(plan.get("rebuilds")) and horizon is not None and horizon.is_lost
    return mode in WISHES_FOR_ROWS and not is_needed
