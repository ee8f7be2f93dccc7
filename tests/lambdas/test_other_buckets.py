"""A Glue table whose files are where this deployment cannot read them."""

from __future__ import annotations

import pytest

from pipeline.errors import PermissionMissing, TableFilesMissing
from tests.lambdas.account import Account
from tests.lambdas.ticks import plan

pytestmark = pytest.mark.local_aws


@pytest.mark.parametrize("bucket", ["denied", "gone"])
def test_a_table_of_an_earlier_deployment_s_bucket_is_to_be_deleted_and_no_right_is_missed(
    account: Account, bucket: str
):
    if bucket == "denied":
        account.aws.client("s3").create_bucket(Bucket="bucket-of-before")
        denied = {"resource": "arn:aws:s3:::bucket-of-before/*", "code": "AccessDenied", "status": 403, "times": 2}
        account.aws.set_faults({"name": "old", "action": "s3:GetObject", **denied})
    account.point_table_at("s3://bucket-of-before/warehouse/orders/metadata/7.metadata.json")
    for mode in ("update", "full"):
        with pytest.raises(TableFilesMissing, match="which is not in this deployment's bucket") as refused:
            plan(account.execution(), mode=mode)
        assert "after aws glue delete-table --region us-east-1 --database-name tidemark " in refused.value.remedy
        assert "choose another database" in refused.value.remedy
    account.aws.set_faults()


def test_a_right_that_is_missing_on_our_own_bucket_is_called_so(account: Account):
    account.carry_out(account.grid(3))
    own = {"resource": "arn:aws:s3:::the-bucket/warehouse/*", "code": "AccessDenied", "status": 403}
    account.aws.set_faults({"name": "own", "action": "s3:GetObject", **own})
    with pytest.raises(PermissionMissing):
        plan(account.execution())
    account.aws.set_faults()
