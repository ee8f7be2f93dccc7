"""The errors of the product. A name here is an interface: a ``Catch`` matches it, a mail and the manual use it.

    PipelineError
    ├── Refused              what a person wrote cannot be: SettingRefused, InputRefused, ControlUnknown, TablePaused,
    │                        AnotherRunAtWork
    ├── WishGivenUp          what a person has asked for is not tried any more
    ├── ClaimUnreadable      the journal says nothing of who works, and on what
    ├── EdgeFailed           AWS did not answer as it should: AwsUnavailable, PermissionMissing, KmsKeyDenied, CallRefused,
    │                        SettingsMissing, DatabaseMissing
    ├── SourceUnfit          the source table cannot be followed: TableNotFound, PitrOff, RecoveryTooShort,
    │                        HistoryLost, TableRecreated
    ├── TableUnfit           the Iceberg table cannot be trusted: WatermarkMissing, TableFilesMissing, WatermarkAhead,
    │                        WatermarkNotCommitted, TableContended, TableGone
    ├── ExportUnfit          DynamoDB did not deliver: ExportFailed, ExportRefused, ExportTimedOut, BucketMissing,
    │                        ExportAccessDenied
    ├── JobNotStarted        EMR Serverless would not begin the Spark job
    ├── JobFailed            the Spark job ended without a word
    └── JobRefused           the Spark job would not commit: see each class

Each carries what happened (`message`) and the one thing a person can do about it (`remedy`). Each has its section in
``docs/operations.md``. The mail prints the class's `command` with the names filled in: the one thing to type when waiting
for the next scheduled run is not enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

#: What stands between the message and the remedy in an error's text.
REMEDY_MARK = "\nTo do: "
#: Characters of a message, and of a remedy, that are handed on: a Fail state takes 32,768, what a state hands on has 256 KiB
#: in all, and a mail should be readable. What is longer stands whole in the job's report.
LONGEST_TEXT = 8_000


_START = "aws stepfunctions start-execution --state-machine-arn <state-machine> --input "
RUN_NOW = _START + """'{"table":"<table>"}'"""
ASK_AGAIN = _START + "<input>"
REBUILD = _START + """'{"table":"<table>","mode":"full"}'"""
VERIFY_NOW = _START + """'{"table":"<table>","mode":"verify"}'"""
#: put-parameter needs --type to create a parameter that was deleted; for an existing one AWS ignores it.
RUN_ON = "aws ssm put-parameter --overwrite --type String --name <parameters>/control --value RUN"
#: A plain deployment of the same template changes nothing; this one also reverts what was changed by hand.
REPAIR = "make repair"
_REPAIR_RUNS = " The command sets `control` of paused tables to RUN, unless their settings say paused."


#: The remedy of files that are not what they were, behind what is to be found out.
_EXPORTED_AGAIN = "The next scheduled runs export again, three times in all."
_NOT_ASKED_FOR = (
    "In a replay, take that export out of the folder. In a deployment the pipeline has not asked for it: replace the table's "
    "content by a new full export, and report it."
)

#: The remedy where items of a full export lack the key: what helps against records of windows is such an export itself.
ITEM_WITHOUT_KEY = (
    "In a replay, check --key. In a deployment somebody has changed the export's files, for no table holds such an item: "
    "another full export may be whole; if it is not, keep both and report it."
)


class PipelineError(Exception):
    """Something the operator looks up by its class name."""

    #: What helps when the error says nothing more special.
    default_remedy = "Nothing to do: the next scheduled run tries again."
    #: The one command; the mail fills in what stands in angle brackets.
    command = RUN_NOW
    #: Whether the next scheduled run mends it without a person.
    heals_by_itself = True
    #: What the report of the job says besides, in plain JSON values.
    findings: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy or self.default_remedy

    def __str__(self) -> str:
        """Both halves in one text, because a Lambda error and a Spark traceback carry only text."""
        return f"{self.message}{REMEDY_MARK}{self.remedy}"

    @property
    def name(self) -> str:
        """The error's name, as the state machine and the manual know it."""
        return type(self).__name__


class Refused(PipelineError):
    """What a person wrote is wrong: nothing was done."""

    heals_by_itself = False


class SettingRefused(Refused):
    """A setting has a wrong name or value, or one that the tables themselves contradict."""

    default_remedy = "Correct the setting and deploy again."
    command = "make deploy"


class InputRefused(Refused):
    """The execution's input has a wrong field or value."""

    default_remedy = "Correct the input, which the command has as it was given, and start the execution again."
    command = ASK_AGAIN


class ControlUnknown(Refused):
    """The control parameter holds neither RUN nor PAUSE."""

    default_remedy = "Set the control parameter to RUN or PAUSE."
    command = RUN_ON


class TablePaused(Refused):
    """More than an update was asked for while the control parameter says PAUSE: nothing was done."""

    default_remedy = "Set the control parameter to RUN."
    command = RUN_ON


class AnotherRunAtWork(Refused):
    """More than an update was asked for while another run holds the table: nothing was done."""

    default_remedy = (
        "Ask again once that run has ended. Where windows are short, set control to PAUSE until it has, then to RUN."
    )
    command = ASK_AGAIN


class ClaimUnreadable(PipelineError):
    """The newest claim is no claim of this product: it cannot be known who works on the table, and on what."""

    default_remedy = (
        "Make sure that no run is at work, then remove the claims: the next run plans from the table itself."
    )
    command = (
        "aws ssm get-parameters-by-path --path <parameters>/run --recursive --query 'Parameters[].[Name]' --output text "
        "| xargs -n 10 aws ssm delete-parameters --names"
    )
    heals_by_itself = False


class WishGivenUp(PipelineError):
    """A person's wish that is not tried any more.

    The job of a backfill or full export has ended three times without success, or it has come to nothing for too long; or two
    runs of a verification have ended before its job did; or source or table is another one now than it was begun for.
    """

    default_remedy = "Read the last job's report, or its driver's log if there is none; then ask for it again."
    command = ASK_AGAIN
    heals_by_itself = False


class EdgeFailed(PipelineError):
    """AWS did not answer as it should."""


class AwsUnavailable(EdgeFailed):
    """AWS answered with throttling, a server error or not at all, also after several tries."""


class PermissionMissing(EdgeFailed):
    """AWS refused a call for lack of a permission, or a function that the state machine calls is gone."""

    default_remedy = (
        "Give back the permission, or the function, most simply by undoing what was changed by hand in the stack."
        + _REPAIR_RUNS
    )
    command = REPAIR
    heals_by_itself = False


class KmsKeyDenied(EdgeFailed):
    """A KMS key that is not the stack's own could not be used: its policy does not allow it, or the key is disabled."""

    default_remedy = (
        "Let the policy of the key allow what the message names to the role that it names, and enable the key if it is "
        "disabled. A deployment changes nothing there. What each role needs: docs/deployment.md, section Keys of your own."
    )
    heals_by_itself = False


class CallRefused(EdgeFailed):
    """AWS refused a call for another reason than a missing permission, and will again: a limit that is reached, most likely."""

    default_remedy = "Read the refusal, and remove its cause; the next scheduled run tries again."
    heals_by_itself = False


class SettingsMissing(EdgeFailed):
    """The settings of a table that has a schedule are not there, are not what was deployed, or cannot be read."""

    default_remedy = (
        "Make the parameter again. If the table was just taken out of the deployment there is nothing to do."
        + _REPAIR_RUNS
    )
    command = REPAIR
    heals_by_itself = False


class DatabaseMissing(EdgeFailed):
    """The Glue database that the tables are in does not exist; the files of the tables are not in it."""

    default_remedy = (
        "Make the database again; the next runs load its tables anew by full exports. The manual says how to keep them "
        "instead: their files are still there." + _REPAIR_RUNS
    )
    command = REPAIR
    heals_by_itself = False


class SourceUnfit(PipelineError):
    """The source table cannot be followed as it is."""

    heals_by_itself = False


class TableNotFound(SourceUnfit):
    """The source table does not exist in this account and Region."""

    default_remedy = "Create the source table again or remove it from the settings."
    command = "make deploy"


class PitrOff(SourceUnfit):
    """Point-in-time recovery is off, so nothing can be exported."""

    default_remedy = "Turn point-in-time recovery on for the source table."
    command = (
        "aws dynamodb update-continuous-backups --table-name <table> "
        "--point-in-time-recovery-specification PointInTimeRecoveryEnabled=true"
    )


class RecoveryTooShort(SourceUnfit):
    """The source keeps less history than a window and a tick, or the last load, have taken: it would be lost each time."""

    default_remedy = "Let the source keep 35 days of history, or make window_minutes or tick_minutes shorter."
    command = (
        "aws dynamodb update-continuous-backups --table-name <table> "
        "--point-in-time-recovery-specification PointInTimeRecoveryEnabled=true,RecoveryPeriodInDays=35"
    )


class HistoryLost(SourceUnfit):
    """Changes after the watermark can no longer be exported; only a new full export helps."""

    default_remedy = "Replace the table's content by a new full export."
    command = REBUILD


class TableRecreated(SourceUnfit):
    """The source table is another one than the table was loaded from: of a new TableId, or of another name."""

    default_remedy = "If the new source table is the right one, replace the table's content by a new full export."
    command = REBUILD


class TableUnfit(PipelineError):
    """The Iceberg table cannot be trusted as a base for more changes."""


class WatermarkMissing(TableUnfit):
    """The table exists but carries no watermark: it is not ours, or something else rewrote it."""

    default_remedy = "Replace the table's content by a new full export, or go back to a snapshot with a watermark."
    command = REBUILD
    heals_by_itself = False


class TableFilesMissing(TableUnfit):
    """The metadata file that the Glue table points to is gone, or out of reach in the bucket of an earlier deployment.

    Or a job has missed a list of the table's files. With either is gone what says what the table holds, or what only earlier
    snapshots hold, as the message says then.
    """

    default_remedy = "Bring the file back, or delete the table in Glue: the next run makes it anew."
    heals_by_itself = False


class WatermarkAhead(TableUnfit):
    """The watermark lies after everything the source can export."""

    default_remedy = "Find out who wrote it; to start over, replace the table's content by a new full export."
    command = REBUILD
    heals_by_itself = False


class WatermarkNotCommitted(TableUnfit):
    """The job ended well, yet the table does not show what it should have committed."""

    default_remedy = "If it comes again, look for another writer; the next scheduled run tries again."


class TableContended(TableUnfit):
    """Somebody else committed to the table while the job worked; no row of the job is in the table."""

    default_remedy = (
        "If somebody else writes, as Glue's table optimizers do, turn that off; the next scheduled run tries again."
    )


class TableGone(TableUnfit):
    """The table was removed since the run was planned, so that its job has nothing to work on."""

    default_remedy = "Nothing to do: the next scheduled run makes the table anew from a full export."


class ExportUnfit(PipelineError):
    """DynamoDB did not deliver an export."""


class ExportFailed(ExportUnfit):
    """DynamoDB gave up on an export; asking again for the same window is safe."""


class ExportRefused(ExportUnfit):
    """DynamoDB would not start an export."""

    default_remedy = "Read the refusal; the next scheduled run asks again."


class ExportTimedOut(ExportUnfit):
    """An export is still not complete after the longest time a run waits."""

    default_remedy = "Nothing to do: the next scheduled run asks for another export of the same stretch."


class BucketMissing(ExportUnfit):
    """The bucket that exports are written to does not exist."""

    default_remedy = (
        "Make the stack's bucket again. The files of the tables were in it: delete the tables from the Glue database; the "
        "next runs make them anew." + _REPAIR_RUNS
    )
    command = REPAIR
    heals_by_itself = False


class ExportAccessDenied(ExportUnfit):
    """DynamoDB may not write the export with the rights of the function that asked for it."""

    default_remedy = (
        "Give the functions' role its rights on the bucket and its key back, by undoing what was changed by hand."
        + _REPAIR_RUNS
    )
    command = REPAIR
    heals_by_itself = False


class JobNotStarted(PipelineError):
    """EMR Serverless refused the Spark job: an application or a setting of the job that is not what it should be."""

    default_remedy = "Read the refusal, and undo what was changed by hand in the stack." + _REPAIR_RUNS
    command = REPAIR
    heals_by_itself = False


class JobFailed(PipelineError):
    """The Spark job ended without success and without saying why by name."""

    default_remedy = (
        "Read the job's driver log (the link is in the mail). A job may take 12 hours, and wait for 6 before it begins. Out of "
        "memory or disk: make the workers larger (spark.worker_memory_gb, spark.worker_disk_gb), and deploy. Where the table "
        "hashes, the policies of its secret and of the secret's key must let EMR Serverless read it, or no job begins. The "
        "commands: docs/settings.md, section A secret for hashes."
    )


class JobRefused(PipelineError):
    """The Spark job found something it must not commit; the table is as it was."""


class DamagedExport(JobRefused):
    """The files of an export are not what DynamoDB wrote: the next run exports the same stretch again."""

    default_remedy = f"Find out who changed the files. {_EXPORTED_AGAIN}"


class Gap(JobRefused):
    """An export starts after the table's watermark: merging it would lose the changes between."""


class Overlap(JobRefused):
    """An export starts before the table's watermark: merging it could leave ghost rows."""


class OtherTable(JobRefused):
    """An export belongs to another source table."""

    default_remedy = _NOT_ASKED_FOR
    command = REBUILD
    heals_by_itself = False


class OtherTableId(JobRefused):
    """An export belongs to a source table of the same name that was created anew."""

    default_remedy = "Replace the table's content by a new full export."
    command = REBUILD
    heals_by_itself = False


class FilteredExport(JobRefused):
    """An export was made with a filter: items that stopped matching vanish from it without a deletion."""

    default_remedy = _NOT_ASKED_FOR
    command = REBUILD
    heals_by_itself = False


class UnknownFormat(JobRefused):
    """An export's format or type is not one this product reads."""

    default_remedy = _NOT_ASKED_FOR
    command = REBUILD
    heals_by_itself = False


class ManifestUnreadable(DamagedExport):
    """A manifest is missing, is not JSON, or lacks a field."""


class DataFileMissing(DamagedExport):
    """A data file named by a manifest does not exist."""

    default_remedy = f"Find out who removed the file. {_EXPORTED_AGAIN}"


class ChecksumMismatch(DamagedExport):
    """The bytes of a file are not those that DynamoDB wrote."""

    default_remedy = f"Find out who changed the file. {_EXPORTED_AGAIN}"


class CountMismatch(DamagedExport):
    """An export holds another number of records than its manifest says."""


class UnreadableLine(DamagedExport):
    """A line of a data file is not a record of DynamoDB JSON, or the file cannot be unpacked to its end."""

    default_remedy = f"Find out who changed the file. {_EXPORTED_AGAIN}"


class KeyMismatch(JobRefused):
    """A record, or the table, has another key than the source table declares."""

    default_remedy = (
        "Replace the table's content by a new full export, which does not read these records; in a replay, check --key."
    )
    command = REBUILD
    heals_by_itself = False


class KeyDoesNotFit(JobRefused):
    """A number key does not fit the type its column has had since the load."""

    default_remedy = "Make room for it by a new full export."
    command = REBUILD
    heals_by_itself = False


class OverrideContradicted(JobRefused):
    """The data, or the table's other columns, contradict what the settings say of a column."""

    default_remedy = (
        "Take the declared type back in the settings, or declare one that holds the values ("
        "string for all scalars, json for all containers), and deploy."
    )
    command = "make deploy"
    heals_by_itself = False


class RebuildNeeded(JobRefused):
    """The table's rows are not what changes can follow: loaded with other settings, or changed by somebody else."""

    default_remedy = "Take the setting back and deploy, or replace the table's content by a new full export."
    command = REBUILD
    heals_by_itself = False


class PartitionsKept(JobRefused):
    """Something a person added or set (a partition, a sort order, a tag, a branch, ``gc.enabled``) keeps what has to go.

    That is a column or a partition that the new settings, or the source's new key, remove.
    """

    default_remedy = "Remove the tags and branches that the message names."
    heals_by_itself = False


class PropertyUnfit(JobRefused):
    """A property that somebody has set of the table has a value with which Iceberg cannot read or write it."""

    default_remedy = "Take the property back that the message names, then start a run."
    heals_by_itself = False


class HashSecretUnfit(JobRefused):
    """A column is hashed, but the job was given no secret, or one that is too short to protect anything."""

    default_remedy = "Put a random text of 16 bytes or more into the secret that hash_secret names."
    heals_by_itself = False


class ConflictingChanges(JobRefused):
    """Two changes of one key in one export carry the same write time and different content."""

    default_remedy = (
        "Replace the table's content by a new full export, which does not read these records. Report it: DynamoDB promises "
        "one record for each key of an export."
    )
    command = REBUILD
    heals_by_itself = False


class VerificationFailed(JobRefused):
    """Source and table differ at the watermark; nothing was changed. `findings`: counts and the first differences."""

    default_remedy = "Read the differences in the report; then replace the table's content by a new full export."
    command = REBUILD
    heals_by_itself = False

    def __init__(self, message: str, remedy: str = "", findings: Mapping[str, Any] = MappingProxyType({})) -> None:
        super().__init__(message, remedy)
        self.findings = findings


def _leaves(kind: type[PipelineError]) -> Iterator[type[PipelineError]]:
    for sub in kind.__subclasses__():
        below = list(_leaves(sub))
        yield from below or [sub]


@cache
def error_names() -> dict[str, type[PipelineError]]:
    """Every error a run can end with, by name."""
    return {kind.__name__: kind for kind in _leaves(PipelineError)}
