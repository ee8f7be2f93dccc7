"""Requests for exports: values that name themselves, so that asking twice is one export.

The client token is derived from everything that makes the request what it is. DynamoDB honours a token for eight hours
after the export has ended and answers with the same export, also when that one failed: trying again on purpose is
another request. What a job has been given once is found by that, and not asked for again. `attempt` is the plan's: exports
made anew because the files of earlier ones were damaged; `retry` counts within it those made because others failed. No two
attempts share a request, so none finds what another was damaged by.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pipeline.errors import BucketMissing, ExportAccessDenied, ExportFailed, ExportTimedOut, ExportUnfit
from pipeline.events import ExportEvent
from pipeline.exports.windows import ExportWindow
from pipeline.exports.words import NEW_AND_OLD_IMAGES
from pipeline.instants import EPOCH, format_instant, parse_instant

#: Old images tell inserts from updates and make the counts provable; they cost nothing more to export.
VIEW_TYPE = NEW_AND_OLD_IMAGES
#: How many exports of the same stretch are asked for one after the other, before a person should look.
MOST_REQUESTS = 10
#: After that, one is tried in each of these, so that nothing is stuck once the cause is gone. Whoever comes in the next one
#: still finds what was made; later nobody does, and another is paid for: hence not in each tick.
_LATE_RETRY_EVERY = timedelta(hours=1)

_SHORTEST_WAIT, _LONGEST_WAIT = timedelta(seconds=30), timedelta(minutes=5)
#: Longer than any export seen; a run that waits longer ends, and the next one asks anew.
LONGEST_EXPORT = timedelta(hours=48)
#: Shorter by more than the restorable range trails the present: whoever waited in vain is followed by one who asks anew.
_HANGING = LONGEST_EXPORT - timedelta(hours=1)


@dataclass(frozen=True)
class ExportRequest:
    """One export to ask for: all items at an instant (`at`), or the changes of a window."""

    at: datetime | None = None
    window: ExportWindow | None = None

    def __post_init__(self) -> None:
        """A request is for one of the two."""
        if (self.at is None) == (self.window is None):
            raise ValueError("an export is either full, at an instant, or incremental, of a window")

    def __str__(self) -> str:
        return f"full export at {format_instant(self.at)}" if self.at else f"window {self.window}"

    def to_json(self) -> ExportEvent:
        """Write it as plain JSON values, for events between states."""
        if self.window is None:
            assert self.at is not None
            return {"at": format_instant(self.at)}
        return {"from": format_instant(self.window.start), "to": format_instant(self.window.end)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> ExportRequest:
        """Read what `to_json` wrote; other members are ignored."""
        if "at" in raw:
            return cls(at=parse_instant(raw["at"]))
        return cls(window=ExportWindow(parse_instant(raw["from"]), parse_instant(raw["to"])))


def client_token(source_id: str, request: ExportRequest, bucket: str, prefix: str, attempt: int, retry: int) -> str:
    """Name the request by what it asks for, of which source, where to, and by which attempt of the plan and retry within it."""
    identity = "|".join([source_id, str(request), VIEW_TYPE, bucket, prefix, str(attempt), str(retry)])
    return hashlib.sha256(identity.encode()).hexdigest()


def exports_of(summaries: Sequence[str], source_arn: str, bucket: str, prefix: str) -> list[str]:
    """The ARNs of the exports that have these manifest summaries; none where one of them lies elsewhere than below `prefix`.

    An export is called in its ARN as its folder is.
    """
    place = re.compile(re.escape(f"s3://{bucket}/{prefix}/AWSDynamoDB/") + r"([^/]+)/manifest-summary\.json")
    found = [place.fullmatch(summary) for summary in summaries]
    return [f"{source_arn}/export/{match[1]}" for match in found if match] if all(found) else []


def retries(seen_at: datetime) -> tuple[int, ...]:
    """The retries to go through, from 0, until one has not failed; `seen_at`: the source's latest restorable time.

    The last two are those of the hour before and of this one: a token is only forgotten eight hours after its export failed,
    so ten failures in a row would else be the end until then, however soon their cause is gone.
    """
    of_this_hour = MOST_REQUESTS + (seen_at - EPOCH) // _LATE_RETRY_EVERY
    return (*range(MOST_REQUESTS), of_this_hour - 1, of_this_hour)


def is_lost(description: Mapping[str, Any], seen_at: datetime) -> bool:
    """Whether nothing is to be hoped for from an export: it has failed, or should have ended long ago."""
    if description["ExportStatus"] == "IN_PROGRESS":
        started: datetime = description["StartTime"]
        return seen_at - started >= _HANGING
    return bool(description["ExportStatus"] == "FAILED")


def wait_before_check(check: int) -> timedelta:
    """How long to wait before the `check`-th look (from 0) at running exports: 30 s, growing by half to 5 minutes.

    An export takes five minutes at the least, and one of two days still stays under 6,000 of the 25,000 events that an
    execution may have.
    """
    return min(_LONGEST_WAIT, _SHORTEST_WAIT * 1.5 ** min(check, 10))


def waited(checks: int) -> timedelta:
    """How long a run that has looked `checks` times has waited in all."""
    return sum((wait_before_check(check) for check in range(checks)), timedelta())


#: The failure codes seen so far; DynamoDB publishes no list. Bucket and rights are only reported this way, after the
#: request was accepted.
_FAILURES: dict[str, type[ExportUnfit]] = {"S3NoSuchBucket": BucketMissing, "S3AccessDenied": ExportAccessDenied}


def failure_of(description: Mapping[str, Any]) -> ExportUnfit:
    """The error that a lost export's description amounts to. An unknown code is an ExportFailed."""
    if description.get("ExportStatus") == "IN_PROGRESS":
        return ExportTimedOut(f"{description['ExportArn']} has been running for two days")
    code, text = description.get("FailureCode", "no code"), description.get("FailureMessage", "")
    kind = _FAILURES.get(code, ExportFailed)
    return kind(f"{description['ExportArn']} ended as FAILED with {code}: {text}")
