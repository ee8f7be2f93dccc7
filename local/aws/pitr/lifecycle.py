"""The exports of the account and how each is carried out: in a thread of its own, until the virtual clock passes its end.

`_started` is written at once; the files are read off the journal and written at the end. An export that fails on the
way leaves behind what it had written, as on AWS.
"""

import random
import threading
from dataclasses import dataclass, field
from typing import Any

from local.aws.callers import CALLER, Caller
from local.aws.pitr import bucket
from local.aws.pitr.bucket import ExportFailure
from local.aws.pitr.files import ExportHeading, FileListing, billed_bytes, data_files, manifests, started_marker
from local.aws.pitr.journal import Journal
from local.aws.pitr.recovery import now_micros
from local.aws.pitr.times import epoch_seconds, whole_millis

IN_PROGRESS, COMPLETED, FAILED = "IN_PROGRESS", "COMPLETED", "FAILED"

# The clock may jump at any moment: whoever waits for it looks this often.
_LOOK_SECONDS = 0.1
# A description that is asked for when an export is due waits for small ones to end.
_PATIENCE_SECONDS = 2.0


@dataclass
class Export:
    """One export: what it writes, for whom, and its description in the wire form of DescribeExport."""

    heading: ExportHeading
    journal: Journal
    caller: Caller
    account: str
    region: str
    due_at: int
    parameters: dict[str, Any]
    description: dict[str, Any]
    # It will fail with this FailureCode once it is due.
    doomed_to: str | None = None
    ended_at: int | None = None

    @property
    def status(self) -> str:
        """IN_PROGRESS, COMPLETED or FAILED."""
        return str(self.description["ExportStatus"])

    @property
    def held_from(self) -> int:
        """The history it needs starts here."""
        extent = self.heading.extent
        return extent.end if extent.start is None else extent.start

    def end(self, status: str, ended_at: int, **facts: Any) -> None:
        """Put the result into the description, all at once: it is read while it is written."""
        self.ended_at = ended_at
        self.description = {
            **self.description,
            "ExportStatus": status,
            "EndTime": epoch_seconds(ended_at),
            **facts,
        }

    def fail(self, failure: ExportFailure) -> None:
        """End it as failed; such a description carries no counts."""
        now = whole_millis(now_micros())
        self.end(FAILED, now, FailureCode=failure.code, FailureMessage=failure.message)


@dataclass
class _Runner:
    """The thread of one export under way, and how to speak to it."""

    wake: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    cancelled: bool = False


EXPORTS: dict[str, Export] = {}
_runners: dict[str, _Runner] = {}


def start(export: Export) -> None:
    """Take an export in and carry it out in the background."""
    export.journal.hold(export.held_from)
    EXPORTS[export.heading.arn] = export
    _run(export)


def settle(export: Export) -> Export:
    """Give an export that is due the moment it needs to end; returns it."""
    runner = _runners.get(export.heading.arn)
    if runner and now_micros() >= export.due_at:
        runner.wake.set()
        runner.ended.wait(_PATIENCE_SECONDS)
    return export


def reset() -> None:
    """Forget every export and give up those under way."""
    EXPORTS.clear()
    for runner in list(_runners.values()):
        runner.cancelled = True
        runner.wake.set()
    _runners.clear()


def resume() -> None:
    """Carry on with the exports that were under way when their state was kept."""
    for export in EXPORTS.values():
        if export.status == IN_PROGRESS:
            _run(export)


def _run(export: Export) -> None:
    runner = _runners[export.heading.arn] = _Runner()
    name = f"export-{export.heading.export_id}"
    threading.Thread(target=_carry_out, args=(export, runner), name=name, daemon=True).start()


def _carry_out(export: Export, runner: _Runner) -> None:
    """A thread starts with an empty context: account, region and caller are the request's."""
    from ministack.core.responses import request_scope

    CALLER.set(export.caller)
    try:
        with request_scope(export.account, export.region):
            _write(export, runner)
    except ExportFailure as failure:
        export.fail(failure)
    finally:
        if export.status == IN_PROGRESS and not runner.cancelled:
            # A defect of ours: the thread's traceback is in the log, and nobody waits for ever.
            export.fail(ExportFailure("UNKNOWN", "The local AWS failed; see its log"))
        export.journal.release(export.held_from)
        if _runners.get(export.heading.arn) is runner:
            del _runners[export.heading.arn]
        runner.ended.set()


def _write(export: Export, runner: _Runner) -> None:
    heading = export.heading
    bucket.check_access(heading, export.parameters.get("S3BucketOwner"))
    for marker in started_marker(heading):
        bucket.put(heading, marker)
    while now_micros() < export.due_at and not runner.cancelled:
        runner.wake.wait(_LOOK_SECONDS)
        runner.wake.clear()
    names = random.Random(heading.arn)  # noqa: S311 - names, not secrets
    listings: list[FileListing] = []
    for file, listing in data_files(heading, export.journal, names):
        if runner.cancelled:
            return
        bucket.put(heading, file, listing.etag)
        listings.append(listing)
        if export.doomed_to:
            raise ExportFailure(export.doomed_to, f"The local AWS was told to let this export fail: {export.doomed_to}")
    billed = billed_bytes(heading, export.journal)
    ended_at = whole_millis(now_micros())
    for manifest in manifests(heading, listings, ended_at, billed, names):
        bucket.put(heading, manifest)
    total = sum(listing.item_count for listing in listings)
    export.end(COMPLETED, ended_at, ExportManifest=heading.summary_key, BilledSizeBytes=billed, ItemCount=total)
