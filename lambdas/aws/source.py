"""The source table in DynamoDB: who it is, which history can be exported, and its exports."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from lambdas.aws.clients import client, error_code
from pipeline.errors import ExportRefused, HistoryLost, PitrOff, TableNotFound
from pipeline.exports.requests import VIEW_TYPE, ExportRequest
from pipeline.exports.words import FILE_FORMAT, FULL, INCREMENTAL
from pipeline.identity import SourceTable
from pipeline.planning.horizon import DEFAULT_RECOVERY_DAYS
from pipeline.planning.observation import SourceHistory
from pipeline.prices import exported_bytes


def look(table: str) -> SourceHistory:
    """Read the table's identity and its restorable range. Raises TableNotFound."""
    try:
        description = client("dynamodb").describe_table(TableName=table)["Table"]
        earliest, latest, days = recovery(table)
    except ClientError as error:
        if error_code(error) in ("ResourceNotFoundException", "TableNotFoundException"):
            raise TableNotFound(f"the source table {table!r} does not exist") from error
        raise
    return SourceHistory(
        table=SourceTable.from_description(description),
        earliest=earliest,
        latest=latest,
        size_bytes=exported_bytes(description),
        recovery_days=days,
    )


def recovery(table: str) -> tuple[datetime | None, datetime | None, int]:
    """Read earliest and latest restorable time, None while recovery is off, and the recovery period in days."""
    backups = client("dynamodb").describe_continuous_backups(TableName=table)["ContinuousBackupsDescription"]
    # ContinuousBackupsStatus is ENABLED on every table; only the inner status says whether recovery is on.
    found = backups.get("PointInTimeRecoveryDescription", {})
    if found.get("PointInTimeRecoveryStatus") != "ENABLED":
        return None, None, DEFAULT_RECOVERY_DAYS
    earliest, latest = found.get("EarliestRestorableDateTime"), found.get("LatestRestorableDateTime")
    return earliest, latest, found.get("RecoveryPeriodInDays", DEFAULT_RECOVERY_DAYS)


def start_export(source_arn: str, request: ExportRequest, token: str, bucket: str, prefix: str) -> dict[str, Any]:
    """Ask for an export; the same token again gives the same export. Returns the ExportDescription.

    Raises HistoryLost, PitrOff, TableNotFound or ExportRefused.
    """
    asked: dict[str, Any] = {
        "TableArn": source_arn,
        "S3Bucket": bucket,
        "S3Prefix": prefix,
        "S3SseAlgorithm": "AES256",
        "ExportFormat": FILE_FORMAT,
        "ClientToken": token,
    }
    if request.window is None:
        asked |= {"ExportType": FULL, "ExportTime": request.at}
    else:
        window = {
            "ExportFromTime": request.window.start,
            "ExportToTime": request.window.end,
            "ExportViewType": VIEW_TYPE,
        }
        asked |= {"ExportType": INCREMENTAL, "IncrementalExportSpecification": window}
    try:
        description: dict[str, Any] = client("dynamodb").export_table_to_point_in_time(**asked)["ExportDescription"]
    except ClientError as error:
        raise _refusal(error, source_arn, request) from error
    return description


def describe_export(arn: str) -> dict[str, Any]:
    """Return the ExportDescription of an export."""
    description: dict[str, Any] = client("dynamodb").describe_export(ExportArn=arn)["ExportDescription"]
    return description


def _refusal(error: ClientError, source_arn: str, request: ExportRequest) -> Exception:
    """Give a refused request its name. An invalid time has several causes that only the table's state tells apart."""
    code, message = error_code(error), f"{request}: {error}"
    table = source_arn.rpartition("table/")[2]
    if code == "TableNotFoundException":
        return TableNotFound(message)
    if code == "PointInTimeRecoveryUnavailableException":
        return PitrOff(message)
    if code == "InvalidExportTimeException":
        history = look(table)
        if history.earliest is None:
            return PitrOff(message)
        return HistoryLost(message) if _start(request) < history.earliest else ExportRefused(message)
    if code in ("ExportConflictException", "ValidationException"):
        return ExportRefused(message)
    return error


def _start(request: ExportRequest) -> datetime:
    start = request.at if request.window is None else request.window.start
    assert start is not None  # a request has one of the two
    return start
