"""PrepareJob writes the order, and a token that is the same while a job run is at work and new when it has ended."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.stub import Stubber

from lambdas.aws.clients import client
from lambdas.prepare_job import handler
from pipeline.errors import JobNotStarted
from pipeline.instants import format_instant
from pipeline.job_kinds import JOBS, MAINTAIN
from pipeline.job_order import JobOrder
from tests.lambdas.account import DEPLOYMENT, Account, call
from tests.lambdas.slow_job import STAND_IN

pytestmark = pytest.mark.local_aws


@pytest.fixture
def application(account: Account) -> str:
    """The application whose job runs count."""
    return account.application


@pytest.fixture
def slow(account: Account) -> None:
    """Job runs last until they are cancelled, and one after the other is at work."""
    account.aws.client("emr-serverless").update_application(
        applicationId=account.application, schedulerConfiguration={"maxConcurrentRuns": 1}
    )
    account.stand_in_for_jobs(STAND_IN)


def planned(account: Account, mode: str = "update", **given: Any) -> dict[str, Any]:
    """A plan whose history ended with the last window."""
    start, end = account.instants(2, 1)
    return {
        "mode": mode,
        "job": "merge",
        "table": "orders",
        "iceberg_table": "orders_copy",
        "buckets": 16,
        "hash_secret": "",
        "compare_old_images": False,
        "snapshot_days": 30,
        "columns_file": DEPLOYMENT.columns_file,
        "job_id": f"{mode}-1",
        "source": {"arn": "arn-of-orders", "id": "id-of-orders", "key": ["id:S", "at:N"]},
        "exports": [{"from": start, "to": end}],
        "start": start,
        "end": end,
        **given,
    }


def prepare(plan: dict[str, Any]) -> dict[str, Any]:
    exports = [
        {**export, "manifest": f"s3://the-bucket/{n}/manifest-summary.json"} for n, export in enumerate(plan["exports"])
    ]
    return call(handler, plan=plan, exports=exports)


def tried(prepared: dict[str, Any]) -> int:
    """The number of the try that the token names."""
    job_id, _, number = prepared["client_token"].rpartition("-")
    assert job_id == prepared["name"]
    return int(number)


def run_once(account: Account, prepared: dict[str, Any]) -> None:
    """Run the job until it has failed."""
    account.run_job(prepared["name"], prepared["client_token"])


def ordered(prepared: dict[str, Any]) -> JobOrder:
    return JobOrder.from_arguments(prepared["arguments"])


@pytest.mark.parametrize("job", JOBS)
def test_every_job_starts_from_the_one_entry_point_and_its_order_says_which_it_is(account: Account, job: str):
    prepared = prepare(planned(account, job=job, **({"exports": []} if job == MAINTAIN else {})))
    assert (ordered(prepared).job, prepared["entry_point"]) == (job, "s3://the-bucket/main.py")


def test_the_order_says_what_to_read_and_where_to(account: Account, application: str):
    plan = planned(account)
    prepared, order = prepare(plan), ordered(prepare(plan))
    assert (order.table, order.job_id, order.buckets) == ("glue.tidemark.orders_copy", "update-1", 16)
    assert (format_instant(order.start), format_instant(order.end)) == (plan["start"], plan["end"])
    assert [str(part) for part in order.source.key] == ["id:S", "at:N"]
    assert order.exports == ("s3://the-bucket/0/manifest-summary.json",)
    assert order.report_uri == "s3://the-bucket/runs/orders/update-1.json"
    assert (order.snapshot_days, order.client_token) == (30, prepared["client_token"])
    assert order.columns_file == "s3://the-bucket/columns.json"
    overtaken = {**plan, "columns_file": "s3://the-bucket/columns of before.json"}
    assert ordered(prepare(overtaken)).columns_file == "s3://the-bucket/columns of before.json"
    assert prepared["timeout_minutes"] == 12 * 60  # as the manual and the README say
    assert (prepared["application_id"], prepared["role_arn"]) == (application, DEPLOYMENT.job_role_arn)
    assert prepared["spark_submit_parameters"].startswith("--py-files s3://the-bucket/spark.zip --conf ")


def test_a_hashed_column_takes_the_name_of_a_secret_along_and_nothing_of_the_secret(account: Account):
    (without,) = prepare(planned(account))["application_configuration"]
    (prepared,) = prepare(planned(account, hash_secret="shop/pii"))["application_configuration"]  # noqa: S106 - its name
    assert prepared["Properties"] == without["Properties"] | {"spark.tidemark.hash.secret": "EMR.secret@shop/pii"}
    assert prepared["Classification"] == without["Classification"] == "spark-defaults"


def test_driver_and_executors_are_told_how_much_java_inlines_and_nothing_that_the_image_says_itself(account: Account):
    (told,) = prepare(planned(account))["application_configuration"]
    options = "-XX:FreqInlineSize=100 -XX:InlineSmallCode=1000"
    assert told["Properties"] == {"spark.driver.extraJavaOptions": options, "spark.executor.extraJavaOptions": options}


def test_preparing_twice_gives_the_same_job(account: Account):
    assert prepare(planned(account)) == prepare(planned(account))


def test_each_job_run_that_has_ended_makes_the_next_one_a_new_one(account: Account):
    numbers = []
    for _ in range(3):
        prepared = prepare(planned(account))
        numbers.append(tried(prepared))
        run_once(account, prepared)
    assert numbers == [0, 1, 2]


@pytest.mark.parametrize("state", ["RUNNING", "QUEUED"])
def test_a_job_run_at_work_keeps_its_number_and_once_cancelled_makes_the_next_one_new(
    account: Account, slow: None, state: str
):
    if state == "QUEUED":
        account.wait_for_job(account.start_job("update-0", "ahead"), "RUNNING")
    prepared = prepare(planned(account))
    run = account.start_job(prepared["name"], prepared["client_token"])
    account.wait_for_job(run, state)
    assert prepare(planned(account)) == prepared
    account.aws.client("emr-serverless").cancel_job_run(**run)
    assert tried(prepare(planned(account))) == 1


@pytest.mark.parametrize(
    ("states", "number"),
    [
        pytest.param(("SUBMITTED", "PENDING", "SCHEDULED", "RUNNING", "QUEUED"), 0, id="at work"),
        pytest.param(("CANCELLING", "CANCELLED", "FAILED", "SUCCESS"), 4, id="ended"),
    ],
)
def test_every_state_of_a_job_run_is_known_to_be_at_work_or_ended(account: Account, states: list[str], number: int):
    summary = {
        **dict.fromkeys(("applicationId", "id", "stateDetails", "releaseLabel"), "one"),
        **dict.fromkeys(("createdBy", "executionRole"), DEPLOYMENT.job_role_arn),
        **dict.fromkeys(("createdAt", "updatedAt"), account.grid()),
        "arn": "arn:aws:emr-serverless:us-east-1:000000000000:/applications/one/jobruns/one",
        "name": "update-1",
    }
    plan = planned(account)
    with Stubber(client("emr-serverless")) as stub:  # most states pass too soon to be met
        stub.add_response("list_job_runs", {"jobRuns": [{**summary, "state": state} for state in states]})
        assert tried(prepare(plan)) == number


def test_an_application_that_is_gone_is_called_so_before_a_job_is_asked_for(
    account: Account, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TIDEMARK_APPLICATION_ID", "00gone00")
    with pytest.raises(JobNotStarted, match="Application 00gone00 does not exist"):
        prepare(planned(account))


def test_job_runs_of_other_work_do_not_count(account: Account):
    run_once(account, prepare(planned(account, job_id="update-0")))
    assert tried(prepare(planned(account))) == 0


def test_only_job_runs_since_the_history_ended_are_looked_through(account: Account):
    run_once(account, prepare(planned(account)))
    account.aws.advance(3600)
    assert tried(prepare(planned(account, end=account.instants(0)[0]))) == 0
    assert tried(prepare(planned(account, end=account.instants(9)[0]))) == 1
