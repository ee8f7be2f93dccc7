"""What a failure's mail says of its run, for machines and for people: which state, which job run, and at which work."""

from __future__ import annotations

import pytest

from pipeline.mails.frame import UNKNOWN_TABLE
from tests.pipeline.rounds import PLANNED, failed
from tests.pipeline.world import EXECUTION

LEFT = "This failure has left the table and its watermark as they were."


def test_machines_are_told_where_a_run_has_failed_and_find_its_job_run():
    facts = failed("JobFailed", planned=PLANNED, job_run="00run").facts
    told = {"status": "FAILURE", "table": "orders", "state": "RunSparkJob", "error": "JobFailed"}
    assert facts.items() >= {**told, "job_run": "00run", "execution": EXECUTION}.items()


def test_of_a_job_run_that_is_known_only_its_own_log_is_linked():
    text = failed("JobFailed", planned=PLANNED, job_run="00run").text
    assert ("Job log: " in text, "Job logs: " in text) == (True, False)


@pytest.mark.parametrize(("planned", "told"), [({}, UNKNOWN_TABLE), ({"kind": "Halt", "table": "orders"}, "orders")])
def test_a_request_that_is_refused_with_a_plan_concerns_only_those_who_follow_its_table(planned, told):
    """As a backfill of a table that is not there yet; without a plan it may name a table that nobody follows."""
    assert failed("InputRefused", "Plan", asked={"mode": "backfill"}, planned=planned).table == told


@pytest.mark.parametrize("error", ["DatabaseMissing", "TableFilesMissing"])
def test_of_a_plan_that_finds_no_table_to_read_it_is_not_said_that_it_may_have_brought_something(error):
    text = failed(error, "Plan").text
    assert LEFT in text
    assert "what this run has brought" not in text


@pytest.mark.parametrize(
    ("planned", "work"),
    [
        ({"mode": "full"}, "replacing the content of orders"),
        ({}, "correcting last-export-time of orders"),
    ],
)
def test_a_wish_that_is_only_recorded_late_is_named_and_else_the_parameter(planned, work):
    record = {"kind": "Record", "table": "orders", "recorded": "", "unrecorded": "", "fulfils": False}
    text = failed("AwsUnavailable", "RecordWatermark", planned={**record, "job_id": "full-1", **planned}).text
    assert work in text
    assert ("correcting last-export-time" in text) is (not planned)
