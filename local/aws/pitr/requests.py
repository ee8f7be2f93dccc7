"""Requests for exports: what is asked, whether it may be, and the words in which DynamoDB refuses.

Pure. Codes and texts as the live service was seen to answer; where a text is not known, it is ours and the code is
what the documentation says. Members, lengths and enums are held against the service model before a request comes here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from local.aws.pitr.journal import RestorableRange
from local.aws.pitr.records import DYNAMODB_JSON, NEW_AND_OLD_IMAGES, NEW_IMAGE, Extent
from local.aws.pitr.times import SECOND, iso_seconds, micros_of, whole_millis, whole_seconds

FULL, INCREMENTAL = "FULL_EXPORT", "INCREMENTAL_EXPORT"
SHORTEST_WINDOW = 15 * 60 * SECOND
LONGEST_WINDOW = 24 * 3600 * SECOND


class Refusal(Exception):
    """DynamoDB refuses a request; the code is the error's name."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class ExportRequest:
    """ExportTableToPointInTime's parameters. Times in microseconds, None for what was not sent.

    `parameters` is everything as sent but the token: two requests are the same if they are equal in it.
    """

    table_arn: str
    bucket: str
    kind: str
    token: str | None
    export_time: int | None
    from_time: int | None
    to_time: int | None
    view: str
    parameters: Mapping[str, Any] = field(compare=False, default_factory=dict)

    @property
    def prefix(self) -> str | None:
        """The prefix as given."""
        return self.parameters.get("S3Prefix")

    @property
    def file_format(self) -> str:
        """The format of the data files."""
        return str(self.parameters.get("ExportFormat", DYNAMODB_JSON))

    @property
    def sse_algorithm(self) -> str:
        """How objects are encrypted: AES256 or KMS."""
        return str(self.parameters.get("S3SseAlgorithm", "AES256"))

    @property
    def sse_key_id(self) -> str | None:
        """The KMS key as given: an id, an ARN or an alias."""
        return self.parameters.get("S3SseKmsKeyId")


def parse_request(data: Mapping[str, Any]) -> ExportRequest:
    """Read a request. Raises Refusal for what contradicts itself, before any table is looked at."""
    kind = data.get("ExportType") or FULL
    specification = data.get("IncrementalExportSpecification")
    _check_members(data, specification)
    return ExportRequest(
        table_arn=data["TableArn"],
        bucket=data["S3Bucket"],
        kind=kind,
        token=data.get("ClientToken"),
        export_time=_time(data.get("ExportTime"), whole_millis),
        from_time=_time((specification or {}).get("ExportFromTime"), whole_seconds),
        to_time=_time((specification or {}).get("ExportToTime"), whole_seconds),
        view=(specification or {}).get("ExportViewType") or NEW_AND_OLD_IMAGES,
        parameters={name: value for name, value in data.items() if name != "ClientToken"},
    )


def extent_of(request: ExportRequest, range_: RestorableRange | None, now: int) -> Extent:
    """What the request shows of the history. Raises Refusal for times that cannot be exported.

    `range_` is None while point-in-time recovery is off; for a window that is an invalid time, not a missing feature.
    """
    if request.kind == FULL:
        return Extent(_full_at(request, range_, now))
    start, end = request.from_time, request.to_time
    if start is None:
        raise Refusal(
            "ValidationException",
            "Invalid Request: ExportFromTime must be provided in IncrementalExportSpecification",
        )
    if end is None:
        end = whole_seconds(now)
    _check_window(start, end, range_, now)
    return Extent(end, start, request.view)


def _check_members(data: Mapping[str, Any], specification: Mapping[str, Any] | None) -> None:
    for name in ("TableArn", "S3Bucket"):
        if not data.get(name):
            _invalid(
                f"1 validation error detected: Value null at '{name[0].lower()}{name[1:]}' failed to satisfy constraint: "
                "Member must not be null"
            )
    if not str(data["TableArn"]).startswith("arn:"):
        _invalid(f"Invalid TableArn: {data['TableArn']}")
    if data.get("S3Prefix") == "":
        _invalid("Invalid S3Prefix: it must not be empty")
    if data.get("S3SseKmsKeyId") and data.get("S3SseAlgorithm") != "KMS":
        _invalid("S3SseKmsKeyId can only be given with the S3SseAlgorithm KMS")
    if data.get("FilterSpecification"):
        _invalid("The local AWS does not filter exports; no pipeline that keeps a copy can use them")
    kind = data.get("ExportType")
    if specification is not None and kind is None:
        _invalid("Export Type expected to be Incremental Export when incremental export specification is provided")
    if specification is not None and kind == FULL:
        _invalid("When Export Type is Full Export , Incremental Export Specification should not be provided")
    if specification is None and kind == INCREMENTAL:
        _invalid("When Export Type is Incremental Export, Incremental Export Specification must be provided")
    if kind == INCREMENTAL and data.get("ExportTime") is not None:
        _invalid("ExportTime should not be provided when Export Type is Incremental Export")
    view = (specification or {}).get("ExportViewType")
    if view not in (None, NEW_IMAGE, NEW_AND_OLD_IMAGES):
        _invalid(f"Invalid ExportViewType: {view}")


def _invalid(message: str) -> None:
    raise Refusal("ValidationException", message)


def _time(value: Any, cut: Callable[[int], int]) -> int | None:
    try:
        return None if value is None else cut(micros_of(value))
    except (TypeError, ValueError) as wrong:
        raise Refusal("SerializationException", f"{value!r} is not a timestamp") from wrong


def _full_at(request: ExportRequest, range_: RestorableRange | None, now: int) -> int:
    if range_ is None:
        name = request.table_arn.rpartition("table/")[2]
        raise Refusal(
            "PointInTimeRecoveryUnavailableException", f"Point in time recovery is not enabled for table '{name}'"
        )
    at = request.export_time
    if at is None:
        return max(whole_millis(now), range_.earliest)
    if at > now or at < range_.earliest:
        raise Refusal("InvalidExportTimeException", "Export Time is invalid")
    if at > range_.latest:
        raise Refusal("InvalidExportTimeException", "Point in Time Recovery is not available for specified export time")
    return at


def _check_window(start: int, end: int, range_: RestorableRange | None, now: int) -> None:
    if range_ is None or start < range_.earliest:
        reason = f"from time cannot be less than the table creation time : {iso_seconds(start)}"
    elif end > now:
        reason = f"to time cannot be greater than the current time : {iso_seconds(end)}"
    elif end - start < SHORTEST_WINDOW:
        raise Refusal(
            "InvalidExportTimeException",
            "Difference between export period from time and export period to time is less than 15 minutes",
        )
    elif end - start > LONGEST_WINDOW:
        raise Refusal(
            "InvalidExportTimeException",
            "Difference between export period from time and export period to time is greater than 24 hours",
        )
    else:
        return
    raise Refusal("InvalidExportTimeException", f"Incremental export period {reason}")
