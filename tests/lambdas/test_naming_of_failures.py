"""What the functions call the ways AWS can fail. Answers are stubbed here: they cannot be asked for."""

from __future__ import annotations

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import (
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    ReadTimeoutError,
)
from botocore.retries.standard import ThrottledRetryableChecker, TransientRetryableChecker
from botocore.stub import Stubber

from lambdas.aws.clients import aws_failures, error_code
from pipeline.errors import AwsUnavailable, BucketMissing, CallRefused, KmsKeyDenied, PermissionMissing

_TRIED_AGAIN = {*ThrottledRetryableChecker._THROTTLED_ERROR_CODES, *TransientRetryableChecker._TRANSIENT_ERROR_CODES}


def refused(code: str, status: int = 400, told: str = "because", **said: str) -> None:
    """Let a real client meet an answer of AWS inside of `aws_failures`."""
    client = boto3.client(
        "dynamodb",
        region_name="us-east-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",  # noqa: S106 - no secret of anybody
        config=Config(retries={"total_max_attempts": 1}),
    )
    with Stubber(client) as stub, aws_failures():
        stub.add_client_error("list_tables", code, told, status, service_error_meta=said)
        client.list_tables()


@pytest.mark.parametrize(
    "code",
    [
        *["AccessDenied", "AccessDeniedException", "AuthorizationError", "AuthorizationErrorException"],
        *["UnauthorizedOperation", "KMSAccessDenied", "KMSAccessDeniedException"],
    ],
)
def test_a_refusal_for_lack_of_a_permission(code):
    with pytest.raises(PermissionMissing, match=code):
        refused(code)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        *[(code, 400) for code in ("ThrottlingException", "Throttling", "TooManyUpdates", "LimitExceededException")],
        ("ProvisionedThroughputExceededException", 400),
        # What SNS says where KMS is busy; botocore does not try it again, so that all tries are Step Functions' own.
        *[
            (code, 400)
            for code in ("KMSThrottling", "KMSThrottlingException", "Throttled", "ResourceNotReadyException")
        ],
        ("InternalServerError", 500),
        ("SlowDown", 503),
        ("SomethingNobodyKnows", 502),
        ("SomethingNobodyKnows", 429),
    ],
)
def test_a_refusal_that_passes(code, status):
    with pytest.raises(AwsUnavailable, match=code):
        refused(code, status)


@pytest.mark.parametrize("code", sorted(_TRIED_AGAIN))
def test_what_botocore_tries_again_passes_whatever_its_status(code):
    with pytest.raises(AwsUnavailable, match=code):
        refused(code)


def test_a_bucket_that_is_gone_is_named():
    with pytest.raises(BucketMissing, match="the bucket a-bucket does not exist"):
        refused("NoSuchBucket", 404, BucketName="a-bucket")


@pytest.mark.parametrize(
    "code",
    ["ValidationException", "ParameterLimitExceeded", "ParameterMaxVersionLimitExceeded", "SomethingNobodyKnows"],
)
def test_what_no_caller_has_caught_is_for_a_person(code):
    with pytest.raises(CallRefused, match=code) as raised:
        refused(code)
    assert error_code(raised.value.__cause__) == code
    assert not raised.value.heals_by_itself


_OF_A_KEY = (
    "User: arn:aws:sts::1:assumed-role/Plan is not authorized to perform: kms:Decrypt on resource: arn:aws:kms:…"
)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("GlueEncryptionException", _OF_A_KEY),
        ("GlueEncryptionException", "the key is disabled"),
        ("AccessDeniedException", _OF_A_KEY),
        ("AccessDeniedException", "KMS key access denied error"),
    ],
)
def test_a_key_that_no_deployment_can_open_has_a_name_of_its_own(code, told):
    with pytest.raises(KmsKeyDenied, match=code):
        refused(code, told=told)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("KMSAccessDeniedException", _OF_A_KEY),
        ("AccessDeniedException", "not authorized to perform: dynamodb:DescribeTable on resource: …:table/kms-log"),
    ],
)
def test_the_key_of_the_mails_and_a_table_of_such_a_name_are_mended_by_a_deployment(code, told):
    with pytest.raises(PermissionMissing, match=code):
        refused(code, told=told)


@pytest.mark.parametrize(
    "error",
    [
        EndpointConnectionError(endpoint_url="https://…"),
        ConnectTimeoutError(endpoint_url="https://…"),
        ReadTimeoutError(endpoint_url="https://…"),
    ],
)
def test_no_answer_at_all(error):
    with pytest.raises(AwsUnavailable), aws_failures():
        raise error


@pytest.mark.parametrize("error", [NoCredentialsError(), ParamValidationError(report="wrong"), KeyError("plan")])
def test_our_own_mistakes_are_not_tried_again_as_if_they_would_pass(error):
    with pytest.raises(type(error)), aws_failures():
        raise error
