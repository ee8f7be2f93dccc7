"""Job runs of the EMR Serverless application."""

from __future__ import annotations

from datetime import datetime

from lambdas.aws.clients import client

_MOST_PER_PAGE = 50
_AT_WORK = ("SUBMITTED", "PENDING", "SCHEDULED", "RUNNING", "QUEUED")


def ended_runs(application_id: str, name: str, since: datetime) -> int:
    """How many job runs of this name, created after `since`, have ended or are being cancelled.

    A token names one try for ever, also after it failed, so the next try needs a number of its own; a run that is
    still at work keeps its number and is found again by it.
    """
    pages = (
        client("emr-serverless")
        .get_paginator("list_job_runs")
        .paginate(applicationId=application_id, createdAtAfter=since, PaginationConfig={"PageSize": _MOST_PER_PAGE})
    )
    named = [run["state"] for page in pages for run in page["jobRuns"] if run.get("name") == name]
    return sum(state not in _AT_WORK for state in named)
