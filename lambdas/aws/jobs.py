"""Job runs of the EMR Serverless application."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from lambdas.aws.clients import client, error_code
from pipeline.errors import JobNotStarted

_MOST_PER_PAGE = 50
_AT_WORK = ("SUBMITTED", "PENDING", "SCHEDULED", "RUNNING", "QUEUED")
_WITHOUT_SUCCESS = ("FAILED", "CANCELLING", "CANCELLED")
#: What is said of an application that does not exist; the operation's model has only the first.
_UNKNOWN = ("ValidationException", "ResourceNotFoundException")


def ended_runs(application_id: str, name: str, since: datetime) -> int:
    """How many job runs of this name, created after `since`, have ended or are being cancelled.

    A token names one try for ever, also after it failed, so the next try needs a number of its own; a run that is
    still at work keeps its number and is found again by it.
    """
    return sum(run["state"] not in _AT_WORK for run in _named(application_id, name, since))


def failed_runs(application_id: str, name: str, since: datetime) -> int:
    """How many job runs of this name, created after `since`, have ended without success or are being cancelled."""
    # Asked for by their states: those that ended well, of all tables, may be ten thousand by now.
    return sum(1 for _ in _named(application_id, name, since, states=_WITHOUT_SUCCESS))


def billed(application_id: str, name: str, since: datetime) -> dict[str, Any] | None:
    """What the job run of this name that ended well, created after `since`, was billed: hours as `pipeline.prices` has them.

    None where there is none that is known and billed by now.
    """
    well = next(_named(application_id, name, since, states=("SUCCESS",)), None)
    if well is None:
        return None
    found = client("emr-serverless").get_job_run(applicationId=application_id, jobRunId=well["id"])["jobRun"]
    hours = found.get("billedResourceUtilization")
    # Step Functions, which `pipeline.prices` reads elsewhere, writes the names with a capital.
    return hours and {unit[0].upper() + unit[1:]: value for unit, value in hours.items()}


def last_arguments(application_id: str, name: str, since: datetime) -> list[str]:
    """What the entry point of the last job run of this name, created after `since`, was given; empty where there is none."""
    last = max(_named(application_id, name, since), key=lambda run: run["createdAt"], default=None)
    if last is None:
        return []
    found = client("emr-serverless").get_job_run(applicationId=application_id, jobRunId=last["id"])["jobRun"]
    return list(found["jobDriver"].get("sparkSubmit", {}).get("entryPointArguments", []))


def _named(application_id: str, name: str, since: datetime, states: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """The job runs of this name, created after `since`, in one of these states; in any where none is named.

    Raises JobNotStarted where the application is gone: no job of it could be started either.
    """
    asked = {"states": list(states)} if states else {}
    pages = (
        client("emr-serverless")
        .get_paginator("list_job_runs")
        .paginate(
            applicationId=application_id, createdAtAfter=since, PaginationConfig={"PageSize": _MOST_PER_PAGE}, **asked
        )
    )
    try:
        for page in pages:
            yield from (run for run in page["jobRuns"] if run.get("name") == name)
    except ClientError as error:
        if error_code(error) in _UNKNOWN:
            raise JobNotStarted(str(error)) from error
        raise
