"""Clients, made once for each container, and what the product calls the ways AWS can fail."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError
from botocore.exceptions import ConnectionError as ConnectionFailed

from pipeline.errors import AwsUnavailable, BucketMissing, CallRefused, KmsKeyDenied, PermissionMissing, PipelineError

#: What a call fails with, whatever the reason: for whoever goes on without its answer.
AWS_FAILED = (ClientError, BotoCoreError)
#: With tries to spare for a throttled minute. A service that takes no connection, or takes one and says nothing, is given up
#: within a function's time (`infra.functions`): else that ends by Lambda's clock, and whoever goes on without the answer cannot.
_CONFIG = Config(connect_timeout=3, read_timeout=8, retries={"mode": "standard", "total_max_attempts": 6})
#: A key that is none of the stack's: of the Data Catalog, or one that S3 finds disabled or gone. Of a denial only the words
#: tell, as of a source table's key. SNS, whose key is the stack's, has other codes.
_ANOTHERS_KEY = (
    "GlueEncryptionException",
    "KMS.DisabledException",
    "KMS.KMSInvalidStateException",
    "KMS.NotFoundException",
)
_DENIED_BY_POLICY = {"AccessDenied", "AccessDeniedException"}
_ABOUT_A_KEY = re.compile(r"\bkms:|KMS key")
_DENIED = _DENIED_BY_POLICY | {
    "AuthorizationError",
    "AuthorizationErrorException",
    "KMSAccessDenied",
    "KMSAccessDeniedException",
    "UnauthorizedOperation",
}
#: What passes: all that botocore tries again, and what services say beside that. SNS hands on what KMS says, as HTTP 400.
_TRANSIENT = {
    "BandwidthLimitExceeded",
    "EC2ThrottledException",
    "InternalError",
    "InternalFailure",
    "InternalServerError",
    "InternalServiceException",
    "KMSThrottling",
    "KMSThrottlingException",
    "LimitExceededException",
    "OperationTimeoutException",
    "PriorRequestNotComplete",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "RequestTimeout",
    "RequestTimeoutException",
    "ResourceNotReadyException",
    "ServiceUnavailable",
    "SlowDown",
    "Throttled",
    "ThrottledException",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
    "TooManyUpdates",
    "TransactionInProgressException",
}
_TOO_MANY_REQUESTS, _SERVER_ERRORS = 429, 500


@cache
def client(service: str) -> Any:
    """The client of a service, the same one for every call of this container."""
    return boto3.client(service, config=_CONFIG)  # type: ignore[call-overload]  # boto3's stubs want a literal name


def error_code(error: ClientError) -> str:
    """The code that AWS gave, such as ``ParameterAlreadyExists``."""
    return str(error.response.get("Error", {}).get("Code", ""))


def is_of_a_key(error: ClientError) -> bool:
    """Whether what was refused is the use of a KMS key that is none of the stack's."""
    code = error_code(error)
    return code in _ANOTHERS_KEY or (code in _DENIED_BY_POLICY and _ABOUT_A_KEY.search(str(error)) is not None)


@contextmanager
def aws_failures() -> Iterator[None]:
    """Give the failures that any call can meet their names; what is special to one call its caller has caught before."""
    try:
        yield
    except ClientError as error:
        raise _named(error) from error
    except (ConnectionFailed, HTTPClientError, IncompleteReadError) as error:
        raise AwsUnavailable(str(error)) from error


def _named(error: ClientError) -> PipelineError:
    """What a refusal is called, by its code, its status and, of a denial, its words."""
    code, told = error_code(error), str(error)
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    if is_of_a_key(error):
        return KmsKeyDenied(told)
    if code in _DENIED:
        return PermissionMissing(told)
    if code == "NoSuchBucket":
        name = error.response["Error"].get("BucketName", "asked for")
        return BucketMissing(f"the bucket {name} does not exist: {told}")
    if code in _TRANSIENT or status == _TOO_MANY_REQUESTS or status >= _SERVER_ERRORS:
        return AwsUnavailable(told)
    return CallRefused(told)
