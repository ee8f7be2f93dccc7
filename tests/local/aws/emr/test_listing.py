"""Listing job runs: order, pages, filters, and what is refused, as EMR Serverless does it."""

from datetime import timedelta

import pytest
from botocore.exceptions import ClientError

pytestmark = pytest.mark.local_aws


def refused(code, call, **asked):
    with pytest.raises(ClientError) as found:
        call(**asked)
    assert found.value.response["Error"]["Code"] == code
    return found.value.response["Error"]["Message"]


def test_job_runs_are_listed_newest_first_in_pages_that_new_ones_do_not_shift(jobs):
    started = [jobs.start(name=f"run-{number}") for number in range(5)]

    first = jobs.emr.list_job_runs(applicationId=jobs.application, maxResults=2)
    jobs.start(name="late")
    second = jobs.emr.list_job_runs(applicationId=jobs.application, maxResults=2, nextToken=first["nextToken"])
    third = jobs.emr.list_job_runs(applicationId=jobs.application, maxResults=2, nextToken=second["nextToken"])

    pages = [[run["id"] for run in page["jobRuns"]] for page in (first, second, third)]
    assert pages == [[started[4], started[3]], [started[2], started[1]], [started[0]]]
    assert "nextToken" not in third
    assert first["jobRuns"][0]["name"] == "run-4"


def test_the_paginator_sees_every_job_run_once(jobs):
    started = {jobs.start() for _ in range(60)}

    pages = list(jobs.emr.get_paginator("list_job_runs").paginate(applicationId=jobs.application))

    assert [len(page["jobRuns"]) for page in pages] == [50, 10]
    assert {run["id"] for page in pages for run in page["jobRuns"]} == started


def test_job_runs_are_filtered_by_state_mode_and_creation(aws, jobs):
    early = jobs.start()
    jobs.ended(early)
    aws.advance(3600)
    between = aws.now() - timedelta(minutes=30)
    late = jobs.start()
    jobs.ended(late)

    def listed(**filters):
        found = jobs.emr.list_job_runs(applicationId=jobs.application, **filters)["jobRuns"]
        return [run["id"] for run in found]

    assert listed(states=["FAILED"]) == [late, early]
    assert listed(states=["SUCCESS", "RUNNING"]) == []
    assert listed(mode="BATCH") == [late, early]
    assert listed(mode="STREAMING") == []
    assert listed(createdAtAfter=between) == [late]
    assert listed(createdAtBefore=between) == [early]


@pytest.mark.parametrize(
    ("filters", "complaint"),
    [
        ({"maxResults": 51}, "maxResults"),
        ({"nextToken": "nonsense"}, "nextToken"),
        ({"states": ["DONE"]}, "enum"),
        ({"states": ["FAILED"] * 9}, "less than or equal to 8"),
    ],
)
def test_a_list_asked_for_wrongly_is_refused(jobs, filters, complaint):
    asked = {"applicationId": jobs.application, **filters}

    assert complaint in refused("ValidationException", jobs.emr.list_job_runs, **asked)
