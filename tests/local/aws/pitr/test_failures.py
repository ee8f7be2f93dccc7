"""Exports that are accepted and fail: bucket, owner, key, the caller's rights, and failures made to order."""

import json

import boto3
import pytest

pytestmark = pytest.mark.local_aws

BUCKET = "arn:aws:s3:::exports"
TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/orders"


def failed(source, export):
    """The code of an export that was accepted and has failed; no such export has counts."""
    found = source.described(export)
    assert export["ExportStatus"] == "IN_PROGRESS"
    assert found["ExportStatus"] == "FAILED", found
    assert found["FailureMessage"]
    assert "EndTime" in found
    assert not {"ItemCount", "BilledSizeBytes", "ExportManifest"} & set(found)
    return found["FailureCode"]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        pytest.param({"S3Bucket": "nosuch"}, "S3NoSuchBucket", id="no bucket"),
        pytest.param({"S3Bucket": "UPPER"}, "S3NoSuchBucket", id="a name no bucket can have"),
        pytest.param({"S3BucketOwner": "111111111111"}, "S3AccessDenied", id="another owner"),
        pytest.param({"S3SseAlgorithm": "KMS", "S3SseKmsKeyId": "alias/nosuch"}, "KmsNotFoundException", id="no key"),
    ],
)
def test_bucket_and_key_are_never_the_initial_calls_business(source, account, asked, code):
    export = source.full(**asked)
    account.until(lambda: source.described(export)["ExportStatus"], lambda status: status != "IN_PROGRESS")
    assert failed(source, export) == code
    assert source.written() == []


def test_a_failure_to_order_strikes_one_export_when_it_is_due_and_leaves_partial_files(aws, source):
    source.put("a")
    aws.advance(3600)
    aws.set_knobs(export_seconds=600, export_failure_code="S3AccessDenied")
    doomed, spared = source.window(0, 20), source.window(0, 20)
    assert source.described(doomed)["ExportStatus"] == "IN_PROGRESS"
    aws.advance(601)
    assert failed(source, doomed) == "S3AccessDenied"
    assert len(source.records(spared)) == 1
    data = [key for key in source.written() if "/data/" in key]
    assert len(data) == 4 + 1
    assert sum("manifest" in key for key in source.written()) == 4
    assert aws.set_knobs()["export_failure_code"] is None


def assumed(aws, role):
    """DynamoDB as a role sees it."""
    credentials = aws.client("sts").assume_role(RoleArn=role, RoleSessionName="test")["Credentials"]
    return boto3.client(
        "dynamodb",
        endpoint_url=aws.endpoint,
        region_name="us-east-1",
        aws_access_key_id=credentials["AccessKeyId"],
        aws_secret_access_key=credentials["SecretAccessKey"],
        aws_session_token=credentials["SessionToken"],
    )


def allow(actions, resource):
    return {"Action": actions, "Resource": resource}


EXPORT = allow("dynamodb:ExportTableToPointInTime", TABLE)
S3_RIGHTS = ["s3:PutObject", "s3:PutObjectAcl", "s3:AbortMultipartUpload"]


@pytest.fixture
def exporting(aws, account, source):
    """Asks for an export under a role with the given statements."""

    def ask(*allowed, **asked):
        role = account.role("exporter", "lambda", *allowed)
        trust = {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::000000000000:root"}, "Action": "sts:AssumeRole"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        aws.client("iam").update_assume_role_policy(RoleName="exporter", PolicyDocument=document)
        client = assumed(aws, role)
        given = {"TableArn": source.arn, "S3Bucket": "exports", **asked}
        export = client.export_table_to_point_in_time(**given)["ExportDescription"]
        account.until(lambda: source.described(export)["ExportStatus"], lambda status: status != "IN_PROGRESS")
        return export

    return ask


def test_an_export_is_written_with_its_callers_rights_and_every_check_is_logged(source, account, exporting):
    export = exporting(EXPORT, allow(S3_RIGHTS, f"{BUCKET}/exports/*"), S3Prefix="exports")
    assert source.records(export) == []
    checks = account.checks("exporter")
    assert {action for action, _, _ in checks} == {"dynamodb:ExportTableToPointInTime", *S3_RIGHTS}
    assert all(allowed for _, _, allowed in checks)
    written = {resource for action, resource, _ in checks if action == "s3:PutObject"}
    assert written == {f"{BUCKET}/{key}" for key in source.written()}


@pytest.mark.parametrize("missing", S3_RIGHTS)
def test_a_caller_without_one_of_the_three_rights_gets_a_failed_export(source, exporting, missing):
    rights = [right for right in S3_RIGHTS if right != missing]
    export = exporting(EXPORT, allow(rights, f"{BUCKET}/*"))
    assert failed(source, export) == "S3AccessDenied"
    assert missing in source.described(export)["FailureMessage"]
    assert source.written() == []


def test_rights_on_another_prefix_are_not_enough(source, exporting):
    export = exporting(EXPORT, allow(S3_RIGHTS, f"{BUCKET}/other/*"), S3Prefix="exports")
    assert failed(source, export) == "S3AccessDenied"


def test_a_bucket_policy_that_denies_is_obeyed(aws, source, exporting):
    deny = {"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": f"{BUCKET}/*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [deny]})
    aws.client("s3").put_bucket_policy(Bucket="exports", Policy=policy)
    assert failed(source, exporting(EXPORT, allow(S3_RIGHTS, f"{BUCKET}/*"))) == "S3AccessDenied"


def test_a_customers_key_encrypts_the_files_and_needs_its_own_rights(aws, source, account, exporting):
    key = aws.client("kms").create_key()["KeyMetadata"]
    aws.client("kms").create_alias(AliasName="alias/exports", TargetKeyId=key["KeyId"])
    encrypted = {"S3SseAlgorithm": "KMS", "S3SseKmsKeyId": "alias/exports"}
    export = source.full(**encrypted)
    found = source.completed(export)
    assert found["S3SseKmsKeyId"] == "alias/exports"
    head = source.s3.head_object(Bucket="exports", Key=found["ExportManifest"])
    assert head["ServerSideEncryption"] == "aws:kms"
    denied = exporting(EXPORT, allow(S3_RIGHTS, f"{BUCKET}/*"), **encrypted)
    assert failed(source, denied) == "S3AccessDenied"
    assert "kms:GenerateDataKey" in source.described(denied)["FailureMessage"]


def test_files_in_s3_carry_the_etags_and_the_encryption_that_the_manifest_names(source):
    source.put("a")
    found = source.completed(source.full())
    summary = json.loads(source.read(found["ExportManifest"]))
    for line in source.read(summary["manifestFilesS3Key"]).splitlines():
        listed = json.loads(line)
        head = source.s3.head_object(Bucket="exports", Key=listed["dataFileS3Key"])
        assert head["ETag"] == f'"{listed["etag"]}"'
        assert head["ServerSideEncryption"] == "AES256"


def test_oddities_are_switched_by_a_knob(aws, source):
    source.put("a")
    aws.advance(3600)
    aws.set_knobs(oddities=["bare_timestamp", "export_type_on_full"])
    (record,) = source.records(source.window(0, 20))
    assert record["Metadata"]["WriteTimestampMicros"].isdigit()
    full = source.completed(source.full())
    assert json.loads(source.read(full["ExportManifest"]))["exportType"] == "FULL_EXPORT"
