"""An object that is not there is "not found" for who may list the bucket, else "denied"."""

import json

import pytest

pytestmark = pytest.mark.local_aws

_CODE = """
    import boto3
    from botocore.config import Config
    from botocore.exceptions import ClientError
    s3 = boto3.client("s3", config=Config(s3={"addressing_style": "path"}))
    def handler(event, context):
        try:
            getattr(s3, event["call"])(Bucket="lake", Key=event["key"])
        except ClientError as error:
            return error.response["Error"]["Code"]
        return "found"
"""
_READ = {"Action": "s3:GetObject", "Resource": "arn:aws:s3:::lake/*"}
_LIST = {"Action": "s3:ListBucket", "Resource": "arn:aws:s3:::lake"}
_BELOW = {"Condition": {"StringLikeIfExists": {"s3:prefix": ["runs/*"]}}}


@pytest.mark.parametrize(
    ("rights", "get", "head"),
    [
        pytest.param([_READ], "AccessDenied", "403", id="may only read"),
        pytest.param([_READ, _LIST], "NoSuchKey", "404", id="may list too"),
        pytest.param([_READ, {**_LIST, **_BELOW}], "NoSuchKey", "404", id="may list below a prefix, if one is named"),
    ],
)
def test_a_missing_object_is_not_found_only_for_who_may_list(aws, account, rights, get, head):
    aws.client("s3").create_bucket(Bucket="lake")
    aws.client("s3").put_object(Bucket="lake", Key="there", Body=b"x")
    account.function("reader", _CODE, account.role("reader", "lambda", *rights))

    def answer(call, key):
        told = aws.client("lambda").invoke(FunctionName="reader", Payload=json.dumps({"call": call, "key": key}))
        return json.loads(told["Payload"].read())

    assert (answer("get_object", "missing"), answer("head_object", "missing")) == (get, head)
    assert (answer("get_object", "there"), answer("head_object", "there")) == ("found", "found")
