"""PrepareJob writes the order, and a token that is the same while a job run is at work and new when it has ended."""

from __future__ import annotations

from typing import Any

import pytest

from lambdas.prepare_job import handler
from pipeline.instants import format_instant
from pipeline.job_order import JobOrder
from tests.lambdas.account import DEPLOYMENT, Account, call

pytestmark = pytest.mark.local_aws


@pytest.fixture
def application(account: Account) -> str:
    """The application whose job runs count."""
    return account.application


def planned(account: Account, mode: str = "update", **given: Any) -> dict[str, Any]:
    """A plan whose history ended with the last window."""
    start, end = account.instants(2, 1)
    return {
        "mode": mode,
        "table": "orders",
        "iceberg_table": "orders_copy",
        "buckets": 16,
        "hash_secret": "",
        "compare_old_images": False,
        "snapshot_days": 30,
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


@pytest.mark.parametrize(
    ("mode", "exports", "job", "entry_point"),
    [
        pytest.param("update", [{"at": "2026-11-21T12:00:00Z"}], "load", "s3://the-bucket/load.py", id="bootstrap"),
        pytest.param("full", [{"at": "2026-11-21T12:00:00Z"}], "load", "s3://the-bucket/load.py", id="rebuild"),
        pytest.param("update", None, "merge", "s3://the-bucket/merge.py", id="windows"),
        pytest.param("backfill", None, "backfill", "s3://the-bucket/merge.py", id="backfill"),
        pytest.param(
            "verify", [{"at": "2026-11-21T12:00:00Z"}], "verify", "s3://the-bucket/verify.py", id="verification"
        ),
        pytest.param("maintain", [], "maintain", "s3://the-bucket/maintain.py", id="maintenance"),
    ],
)
def test_the_plan_s_kind_decides_the_job(account: Account, mode: str, exports: Any, job: str, entry_point: str):
    prepared = prepare(planned(account, mode, **({} if exports is None else {"exports": exports})))
    assert (ordered(prepared).job, prepared["entry_point"]) == (job, entry_point)


def test_the_order_says_what_to_read_and_where_to(account: Account, application: str):
    plan = planned(account)
    prepared, order = prepare(plan), ordered(prepare(plan))
    assert (order.table, order.job_id, order.buckets) == ("glue.tidemark.orders_copy", "update-1", 16)
    assert (format_instant(order.start), format_instant(order.end)) == (plan["start"], plan["end"])
    assert [str(part) for part in order.source.key] == ["id:S", "at:N"]
    assert order.exports == ("s3://the-bucket/0/manifest-summary.json",)
    assert order.report_uri == "s3://the-bucket/runs/orders/update-1.json"
    assert order.columns_file == "s3://the-bucket/columns.json"
    overtaken = {**plan, "columns_file": "s3://the-bucket/columns of before.json"}
    assert ordered(prepare(overtaken)).columns_file == "s3://the-bucket/columns of before.json"
    assert (prepared["application_id"], prepared["role_arn"]) == (application, DEPLOYMENT.job_role_arn)
    assert prepared["spark_submit_parameters"].startswith("--py-files s3://the-bucket/spark.zip --conf ")


def test_a_hashed_column_takes_the_name_of_a_secret_along_and_nothing_of_the_secret(account: Account):
    prepared = prepare(planned(account, hash_secret="shop/pii"))  # noqa: S106 - its name
    assert prepared["application_configuration"] == [
        {"Classification": "spark-defaults", "Properties": {"spark.tidemark.hash.secret": "EMR.secret@shop/pii"}}
    ]
    assert prepare(planned(account))["application_configuration"] == []


def test_preparing_twice_gives_the_same_job(account: Account):
    assert prepare(planned(account)) == prepare(planned(account))


def test_each_job_run_that_has_ended_makes_the_next_one_a_new_one(account: Account):
    numbers = []
    for _ in range(3):
        prepared = prepare(planned(account))
        numbers.append(tried(prepared))
        run_once(account, prepared)
    assert numbers == [0, 1, 2]


def test_job_runs_of_other_work_do_not_count(account: Account):
    run_once(account, prepare(planned(account, job_id="update-0")))
    assert tried(prepare(planned(account))) == 0


def test_only_job_runs_since_the_history_ended_are_looked_through(account: Account):
    run_once(account, prepare(planned(account)))
    account.aws.advance(3600)
    assert tried(prepare(planned(account, end=account.instants(0)[0]))) == 0
    assert tried(prepare(planned(account, end=account.instants(9)[0]))) == 1
