"""Clients, made once for each container, and what the product calls the ways AWS can fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError, HTTPClientError, IncompleteReadError
from botocore.exceptions import ConnectionError as ConnectionFailed

from pipeline.errors import AwsUnavailable, BucketMissing, PermissionMissing

#: Short enough that a function which waits in vain still ends by itself, with tries to spare for a throttled minute.
_CONFIG = Config(connect_timeout=3, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 6})
_DENIED = {
    "AccessDenied",
    "AccessDeniedException",
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


@contextmanager
def aws_failures() -> Iterator[None]:
    """Give the failures that any call can meet their names; a failure special to one call passes unchanged."""
    try:
        yield
    except ClientError as error:
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        if error_code(error) in _DENIED:
            raise PermissionMissing(str(error)) from error
        if error_code(error) == "NoSuchBucket":
            name = error.response["Error"].get("BucketName", "asked for")
            raise BucketMissing(f"the bucket {name} does not exist: {error}") from error
        if error_code(error) in _TRANSIENT or status == _TOO_MANY_REQUESTS or status >= _SERVER_ERRORS:
            raise AwsUnavailable(str(error)) from error
        raise
    except (ConnectionFailed, HTTPClientError, IncompleteReadError) as error:
        raise AwsUnavailable(str(error)) from error
