"""Whether an object that is not there is "not found" or "denied": S3 says the former only to who may list the bucket.

MiniStack always says "not found", so a role without the right would fail on AWS only.
Source: "GetObject", permissions, and "HeadObject", permissions, in the S3 API reference.
"""

from collections.abc import Callable
from typing import Any

from local.aws.hooks import patch
from local.aws.roles import AccessDenied, check_caller

_MISSING = 404


def install() -> None:
    """Hook reading objects and their heads."""
    from ministack.services import s3

    for name in ("_get_object", "_head_object"):
        patch(s3, name, _found_or_denied, takes=("bucket_name", "key", "headers", "query_params"))


def _found_or_denied(read: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(bucket_name: str, key: str, headers: dict[str, str] | None = None, query_params: Any = None) -> Any:
        from ministack.services import s3

        answer = read(bucket_name, key, headers, query_params)
        # Only what comes over HTTP: services that read in process act for themselves. A missing bucket is nobody's secret.
        if answer[0] == _MISSING and "authorization" in (headers or {}) and bucket_name in s3._buckets:
            try:
                # The implied check names no prefix.
                check_caller("s3:ListBucket", f"arn:aws:s3:::{bucket_name}")
            except AccessDenied as denied:
                return s3._error("AccessDenied", str(denied), 403)
        return answer

    return wrapper
