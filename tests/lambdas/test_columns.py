"""What the settings say of columns, read from the file that the deployment has laid down."""

from __future__ import annotations

from dataclasses import replace

import pytest
from botocore.stub import Stubber

from lambdas.aws import columns
from lambdas.aws.clients import aws_failures, client
from pipeline.columns.declared.overrides import Overrides
from pipeline.errors import KmsKeyDenied, SettingRefused, SettingsMissing
from tests.lambdas.account import DEPLOYMENT, SETTINGS, Account
from tests.lambdas.ticks import plan

pytestmark = pytest.mark.local_aws


def test_what_cannot_be_said_of_the_key_is_refused_before_anything_is_exported(account: Account):
    account.say_of_columns({"orders": Overrides.parse({"id": {"drop": True}})})
    with pytest.raises(SettingRefused, match="rows are found by their key"):
        plan(account.execution())


def test_a_secret_goes_along_where_something_is_hashed(account: Account):
    name = "shop/pii"
    account.put_parameter("orders", "settings", replace(SETTINGS, hash_secret=name).to_json())
    planned = plan(account.execution())
    assert (planned["hash_secret"], planned["columns_file"]) == ("", "s3://the-bucket/columns.json")
    account.say_of_columns({"orders": Overrides.parse({"email": {"hash": True}})})
    assert plan(account.execution())["hash_secret"] == name


@pytest.mark.parametrize("place", ["no-such-bucket/columns.json", "the-bucket/no-such-file.json"])
def test_a_file_that_is_gone_is_a_setting_that_is_missing_and_no_table_s_files(
    account: Account, monkeypatch: pytest.MonkeyPatch, place: str
):
    monkeypatch.setenv("TIDEMARK_COLUMNS_FILE", f"s3://{place}")
    with pytest.raises(SettingsMissing, match=f"s3://{place}, which says .* cannot be read"):
        plan(account.execution())


@pytest.mark.usefixtures("account")
def test_who_may_not_list_a_bucket_is_told_that_access_is_denied_where_the_file_is_gone():
    with Stubber(client("s3")) as stub:
        stub.add_client_error("get_object", "AccessDenied", "Access Denied", 403)
        with pytest.raises(
            SettingsMissing, match="If the bucket the-bucket is gone, delete the stack CDKToolkit"
        ) as said:
            columns.read(DEPLOYMENT, "orders")
    make = "TIDEMARK_STACK=Tidemark AWS_REGION=us-east-1 make"
    assert f"run `{make} bootstrap` and `{make} deploy`. Else" in said.value.remedy


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "AccessDenied",
            "User: Plan is not authorized to perform: kms:Decrypt on resource: arn:aws:kms:eu-west-1:1:key/k",
        ),
        ("KMS.DisabledException", "arn:aws:kms:eu-west-1:1:key/k is disabled."),
        ("KMS.KMSInvalidStateException", "arn:aws:kms:eu-west-1:1:key/k is pending deletion."),
        ("KMS.NotFoundException", "Key 'arn:aws:kms:eu-west-1:1:key/k' does not exist"),
    ],
)
def test_a_key_of_the_bucket_s_own_is_not_taken_for_a_file_that_is_gone(code, message):
    with Stubber(client("s3")) as stub:
        stub.add_client_error("get_object", code, message, 403)
        with pytest.raises(KmsKeyDenied, match="key/k"), aws_failures():
            columns.read(DEPLOYMENT, "orders")
