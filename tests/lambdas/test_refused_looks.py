"""A call that is refused for another reason than the one that a function waits for is called what it is."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from lambdas.aws import jobs
from pipeline.errors import KmsKeyDenied, PermissionMissing, PipelineError, TableNotFound
from tests.lambdas.account import Account
from tests.lambdas.test_rehearsal import WELL
from tests.lambdas.ticks import Schedule, plan

pytestmark = pytest.mark.local_aws

_NO_RIGHT = {"code": "AccessDeniedException", "status": 400}
_KEY_DISABLED = {"code": "KMS.DisabledException", "status": 400, "resource": "arn:aws:s3:::bucket-of-before/*"}
#: DynamoDB has another code for a table that is gone once the table itself has been described.
_GONE_MEANWHILE = {"code": "TableNotFoundException", "status": 400}


@pytest.mark.parametrize(
    ("action", "refusal", "named"),
    [
        pytest.param("dynamodb:DescribeTable", _NO_RIGHT, PermissionMissing, id="the source is not to be described"),
        pytest.param("dynamodb:DescribeContinuousBackups", _GONE_MEANWHILE, TableNotFound, id="the source goes now"),
        pytest.param("s3:GetObject", _KEY_DISABLED, KmsKeyDenied, id="another bucket's key is disabled"),
        pytest.param("ssm:PutParameter", _NO_RIGHT, PermissionMissing, id="the claim is not to be made"),
    ],
)
def test_a_plan_says_why_it_was_refused(
    account: Account, action: str, refusal: dict[str, Any], named: type[PipelineError]
):
    if action == "s3:GetObject":
        account.aws.client("s3").create_bucket(Bucket="bucket-of-before")
        account.point_table_at("s3://bucket-of-before/warehouse/orders/metadata/7.metadata.json")
    account.aws.set_faults({"name": "refused", "action": action, **refusal})
    with pytest.raises(named, match=None if named is TableNotFound else refusal["code"]):
        plan(account.execution())
    account.aws.set_faults()
    assert account.claims() == {}


@pytest.mark.parametrize("unknown", ["the source", "the watermark"])
def test_a_failure_is_mailed_though_nobody_knows_how_long_the_history_lasts(
    account: Account, schedule: Schedule, unknown: str
):
    account.put_parameter("orders", "last-export-time", account.instants(0)[0] if unknown == "the source" else "today")
    if unknown == "the source":
        account.aws.set_faults({"name": "refused", "action": "dynamodb:DescribeContinuousBackups", **_NO_RIGHT})
    schedule.fails("PermissionMissing")
    account.aws.set_faults()
    assert len(schedule.subjects) == 1 and "orders" in schedule.subjects[0]


def test_of_job_runs_only_those_without_success_have_failed(account: Account):
    since = account.aws.now() - timedelta(hours=1)
    account.run_job("update-1", "died")
    account.stand_in_for_jobs(WELL)
    account.run_job("update-1", "ended-well", "SUCCESS")
    counted = [count(account.application, "update-1", since) for count in (jobs.failed_runs, jobs.ended_runs)]
    assert counted == [1, 2]


def test_an_owner_that_may_not_be_looked_for_is_none_that_nobody_knows(account: Account):
    plan(account.execution())
    claims = account.claims()
    account.aws.set_faults({"name": "refused", "action": "states:DescribeExecution", **_NO_RIGHT})
    with pytest.raises(PermissionMissing):
        plan(account.execution())
    account.aws.set_faults()
    assert account.claims() == claims
