"""Keys are used with the caller's rights."""

import json

import pytest
from botocore.exceptions import ClientError

pytestmark = pytest.mark.local_aws

_OBJECTS = {"Action": ["s3:PutObject", "s3:GetObject"], "Resource": "arn:aws:s3:::lake/*"}
_CODE = """
    import boto3
    from botocore.config import Config
    s3 = boto3.client("s3", config=Config(s3={"addressing_style": "path"}))
    def handler(event, context):
        if event["do"] == "write":
            s3.put_object(Bucket="lake", Key="k", Body=b"secret")
        else:
            return s3.get_object(Bucket="lake", Key="k")["Body"].read().decode()
"""


@pytest.fixture
def key(aws) -> str:
    arn = aws.client("kms").create_key()["KeyMetadata"]["Arn"]
    aws.client("s3").create_bucket(Bucket="lake")
    default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": arn}
    aws.client("s3").put_bucket_encryption(
        Bucket="lake",
        ServerSideEncryptionConfiguration={"Rules": [{"ApplyServerSideEncryptionByDefault": default}]},
    )
    return arn


def _invoke(aws, name: str, do: str):
    answer = aws.client("lambda").invoke(FunctionName=name, Payload=json.dumps({"do": do}))
    return json.loads(answer["Payload"].read())


def test_writing_and_reading_encrypted_objects_needs_rights_on_the_key(aws, account, key):
    for name, actions in (
        ("both", ["kms:GenerateDataKey", "kms:Decrypt"]),
        ("writer", ["kms:GenerateDataKey"]),
        ("none", []),
    ):
        rights = [_OBJECTS, *({"Action": action, "Resource": key} for action in actions)]
        account.function(name, _CODE, account.role(name, "lambda", *rights))
    assert "kms:GenerateDataKey" in _invoke(aws, "none", "write")["errorMessage"]
    assert _invoke(aws, "writer", "write") is None
    assert "kms:Decrypt" in _invoke(aws, "writer", "read")["errorMessage"]
    assert _invoke(aws, "both", "read") == "secret"


@pytest.mark.parametrize("allowed", [True, False])
def test_publishing_to_an_encrypted_topic_needs_rights_on_the_key(aws, account, key, allowed):
    topic = aws.client("sns").create_topic(Name="t", Attributes={"KmsMasterKeyId": key})["TopicArn"]
    rights = [{"Action": "sns:Publish", "Resource": topic}]
    rights += [{"Action": ["kms:GenerateDataKey", "kms:Decrypt"], "Resource": key}] if allowed else []
    task = {
        "Type": "Task",
        "Resource": "arn:aws:states:::sns:publish",
        "Arguments": {"TopicArn": topic, "Message": "m"},
        "End": True,
    }
    ended = account.run(account.machine({"Tell": task}, account.role("machine", "states", *rights)))
    assert ended.get("error") == (None if allowed else "SNS.KMSAccessDeniedException")


def test_an_upload_under_the_account_s_own_key_needs_no_key_id(aws):
    aws.client("s3").create_bucket(Bucket="assets")
    put = aws.client("s3").put_object(Bucket="assets", Key="k", Body=b"x", ServerSideEncryption="aws:kms")
    assert put["SSEKMSKeyId"].endswith("alias/aws/s3")


@pytest.mark.parametrize(("unusable", "kind"), [("disable_key", "Disabled"), ("schedule_key_deletion", "InvalidState")])
def test_a_key_that_is_disabled_or_about_to_be_deleted_opens_and_closes_nothing(aws, key, unusable, kind):
    s3, sns = aws.client("s3"), aws.client("sns")
    topic = sns.create_topic(Name="t", Attributes={"KmsMasterKeyId": key})["TopicArn"]
    s3.put_object(Bucket="lake", Key="k", Body=b"secret")
    getattr(aws.client("kms"), unusable)(KeyId=key)
    refused = r"KMS\.(KMS)?" + kind + "Exception"
    with pytest.raises(ClientError, match=refused):
        s3.get_object(Bucket="lake", Key="k")
    with pytest.raises(ClientError, match=refused):
        s3.put_object(Bucket="lake", Key="k", Body=b"more")
    with pytest.raises(ClientError, match=f"KMS{kind}"):
        sns.publish(TopicArn=topic, Message="m")
