"""Writing an export into its bucket with the rights of whoever asked for it.

There is no service role: the caller needs s3:PutObject, s3:PutObjectAcl and s3:AbortMultipartUpload on the objects, and
the use of the KMS key if one is named. What is missing never refuses the request; the export fails afterwards.
"""

import re
from collections.abc import Mapping

from local.aws.encryption import customer_key_arn
from local.aws.pitr.files import ExportedObject, ExportHeading
from local.aws.roles import AccessDenied, check_caller

_SSE = "x-amz-server-side-encryption"


class ExportFailure(Exception):
    """An export that was accepted has failed; the code is its FailureCode."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def check_access(heading: ExportHeading, bucket_owner: str | None) -> None:
    """Look at bucket, key and rights before anything is written. Raises ExportFailure."""
    from ministack.core.responses import get_account_id
    from ministack.services import s3

    owner = s3._bucket_owner_account(heading.bucket)
    if owner is None:
        raise ExportFailure(
            "S3NoSuchBucket",
            "The specified bucket does not exist (Service: S3, Status Code: 404, Error Code: NoSuchBucket)",
        )
    if (bucket_owner or get_account_id()) != owner:
        raise ExportFailure(
            "S3AccessDenied", "Access Denied (Service: S3, Status Code: 403): the bucket has another owner"
        )
    _check_key(heading.sse_key_id)
    for action in ("s3:PutObject", "s3:PutObjectAcl", "s3:AbortMultipartUpload"):
        _check_right(action, _arn(heading, f"{heading.folder}_started"))


def put(heading: ExportHeading, written: ExportedObject, etag: str | None = None) -> None:
    """Write one object. `etag` is the one a multipart upload gives it. Raises ExportFailure."""
    from ministack.services import s3

    _check_right("s3:PutObject", _arn(heading, written.key))
    status, _, body = s3._put_object(heading.bucket, written.key, written.content, _encryption_headers(heading))
    if status >= 300:
        found = re.search(rb"<Code>(\w+)</Code>", body)
        code = found[1].decode() if found else "InternalError"
        raise ExportFailure(f"S3{code}", f"{body.decode(errors='replace')} (Service: S3, Status Code: {status})")
    if etag is not None:
        s3._buckets[heading.bucket]["objects"][written.key]["etag"] = f'"{etag}"'


def _arn(heading: ExportHeading, key: str) -> str:
    return f"arn:aws:s3:::{heading.bucket}/{key}"


def _encryption_headers(heading: ExportHeading) -> dict[str, str]:
    if heading.sse_algorithm != "KMS":
        return {_SSE: "AES256"}
    headers = {_SSE: "aws:kms"}
    if heading.sse_key_id:
        headers[f"{_SSE}-aws-kms-key-id"] = heading.sse_key_id
    return headers


def _check_key(key: str | None) -> None:
    """The key must be there, in the bucket's region, and the caller may use it."""
    from ministack.core.responses import get_region
    from ministack.services import kms

    if key is None or "alias/aws/" in key:
        return
    if kms._resolve_key(key) is None:
        raise ExportFailure("KmsNotFoundException", f"Key '{key}' does not exist (Service: Kms, Status Code: 400)")
    via = {"kms:ViaService": f"s3.{get_region()}.amazonaws.com"}
    for action in ("kms:GenerateDataKey", "kms:Decrypt"):
        _check_right(action, customer_key_arn(key) or key, via)


def _check_right(action: str, resource: str, context: Mapping[str, str] | None = None) -> None:
    """The caller may do it. Raises ExportFailure."""
    try:
        check_caller(action, resource, context)
    except AccessDenied as denied:
        raise ExportFailure("S3AccessDenied", f"{denied} (Service: S3, Status Code: 403)") from denied
