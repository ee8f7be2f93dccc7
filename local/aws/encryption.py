"""Customer keys are used with the caller's rights, and while they are enabled: S3 objects under SSE-KMS, encrypted topics.

MiniStack encrypts nothing and evaluates nothing here, so a role without rights on the key, or with a key that somebody has
disabled, would fail on AWS only.
Sources: "Using server-side encryption with AWS KMS keys" (S3), "Managing Amazon SNS encryption keys and costs".
"""

from collections.abc import Callable
from typing import Any

from local.aws.hooks import patch
from local.aws.roles import AccessDenied, check_caller

_ALGORITHM = "x-amz-server-side-encryption"
_KEY = "x-amz-server-side-encryption-aws-kms-key-id"
_DISABLED, _INVALID_STATE = "Disabled", "InvalidState"
#: What S3 calls them; SNS puts KMS before each.
_OF_S3 = {_DISABLED: "KMS.DisabledException", _INVALID_STATE: "KMS.KMSInvalidStateException"}


class KeyUnusable(Exception):
    """The key's own state forbids its use; `what` is how KMS calls that, without what each service puts around it."""

    def __init__(self, arn: str, what: str) -> None:
        super().__init__(f"{arn} is {'disabled' if what == _DISABLED else 'pending deletion'}.")
        self.what = what


def install() -> None:
    """Hook writing and reading objects, and publishing."""
    from ministack.services import s3, sns

    patch(s3, "_resolve_sse_write_headers", _checked_write, takes=("headers", "bucket_name"))
    patch(s3, "_get_object", _checked_read, takes=("bucket_name", "key", "headers", "query_params"))
    patch(
        sns,
        "publish_internal",
        _checked_publish,
        takes=(
            "topic_arn",
            "message",
            "subject",
            "message_structure",
            "message_attributes",
            "message_group_id",
            "message_deduplication_id",
        ),
    )


def customer_key_arn(key: str) -> str | None:
    """The ARN of a customer's key, given by id, ARN or alias; None for AWS's own keys, which need no rights."""
    from ministack.services import kms

    if not key or "alias/aws/" in key:
        return None
    record = kms._resolve_key(key)
    return record["Arn"] if record and record.get("KeyManager", "CUSTOMER") == "CUSTOMER" else None


def _use(key: str, service: str, *actions: str) -> None:
    """Evaluate the use of a key through a service. Raises AccessDenied or KeyUnusable."""
    from ministack.core.responses import get_region
    from ministack.services import kms

    arn = customer_key_arn(key)
    for action in actions if arn else ():
        check_caller(f"kms:{action}", str(arn), {"kms:ViaService": f"{service}.{get_region()}.amazonaws.com"})
    if arn and (state := kms._resolve_key(arn)["KeyState"]) != "Enabled":
        raise KeyUnusable(arn, _DISABLED if state == "Disabled" else _INVALID_STATE)


def _refused_by_s3(why: AccessDenied | KeyUnusable) -> Any:
    from ministack.services import s3

    code, status = (_OF_S3[why.what], 400) if isinstance(why, KeyUnusable) else ("AccessDenied", 403)
    return s3._error(code, str(why), status)


def _checked_write(resolve: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(headers: dict[str, str], bucket_name: str) -> Any:
        from ministack.core.responses import get_account_id, get_region

        if headers.get(_ALGORITHM) == "aws:kms" and not headers.get(_KEY):
            # AWS takes its own key then; MiniStack has none and refuses. The CDK CLI uploads like this.
            own = f"arn:aws:kms:{get_region()}:{get_account_id()}:alias/aws/s3"
            headers = {**headers, _KEY: own}
        applied, refused = resolve(headers, bucket_name)
        try:
            if not refused and "authorization" in headers:
                _use((applied or {}).get(_KEY, ""), "s3", "GenerateDataKey")
        except (AccessDenied, KeyUnusable) as why:
            return None, _refused_by_s3(why)
        return applied, refused

    return wrapper


def _checked_read(get: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(bucket_name: str, key: str, headers: dict[str, str], query_params: Any = None) -> Any:
        from ministack.services import s3

        bucket = s3._buckets.get(bucket_name) or {}
        written = (bucket.get("objects", {}).get(key) or {}).get("preserved_headers", {})
        try:
            # Only what comes over HTTP: services that read in process act for themselves.
            if "authorization" in headers:
                _use(written.get(_KEY, ""), "s3", "Decrypt")
        except (AccessDenied, KeyUnusable) as why:
            return _refused_by_s3(why)
        return get(bucket_name, key, headers, query_params)

    return wrapper


def _checked_publish(publish: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(topic_arn: str, *message: Any, **more: Any) -> Any:
        from ministack.services import sns

        topic = sns._topic_by_arn_any_scope(topic_arn) or {}
        try:
            _use(topic.get("attributes", {}).get("KmsMasterKeyId", ""), "sns", "GenerateDataKey", "Decrypt")
        except AccessDenied as denied:
            raise sns.SnsPublishError("KMSAccessDenied", str(denied)) from denied
        except KeyUnusable as unusable:
            raise sns.SnsPublishError(f"KMS{unusable.what}", str(unusable)) from unusable
        return publish(topic_arn, *message, **more)

    return wrapper
