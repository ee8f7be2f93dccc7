"""ExportTableToPointInTime, DescribeExport and ListExports as DynamoDB answers them.

In this order a request meets: its own contradictions, its token, the table, its times, the limit. Nothing about bucket,
rights or keys is refused here: those exports fail later.
"""

import secrets
import uuid
from typing import Any

from local.aws.callers import CALLER
from local.aws.knobs import KNOBS
from local.aws.pitr import lifecycle
from local.aws.pitr.files import ExportHeading, export_id
from local.aws.pitr.lifecycle import EXPORTS, IN_PROGRESS, Export
from local.aws.pitr.oddities import UnknownOddity, oddities_named
from local.aws.pitr.records import Extent
from local.aws.pitr.recovery import JOURNALS, Table, now_micros, restorable_range
from local.aws.pitr.requests import FULL, INCREMENTAL, ExportRequest, Refusal, extent_of, parse_request
from local.aws.pitr.times import DAY, SECOND, epoch_seconds, whole_millis, whole_seconds
from pipeline.identity import SourceTable

# Service quota: exports at a time, of both kinds together.
MOST_AT_ONCE = 300
# A token is remembered this long after its export has ended.
TOKEN_LIFE = 8 * 3600 * SECOND
# ListExports goes back this far.
LISTED_FOR = 90 * DAY
_PAGE = 25
_ECHOED = ("S3BucketOwner", "S3Prefix", "S3SseKmsKeyId", "ExportType")


def export_table_to_point_in_time(data: dict[str, Any]) -> dict[str, Any]:
    """Start an export, or find the one that the token stands for. Raises Refusal."""
    request = parse_request(data)
    known = _export_of_token(request)
    if known is not None:
        return {"ExportDescription": lifecycle.settle(known).description}
    table = _table_of(request.table_arn)
    now = now_micros()
    extent = extent_of(request, restorable_range(table), now)
    if sum(export.status == IN_PROGRESS for export in _exports_here()) >= MOST_AT_ONCE:
        raise Refusal("LimitExceededException", f"There are {MOST_AT_ONCE} exports in progress; that is the limit")
    export = _accepted(request, table, extent, now)
    # The answer always says IN_PROGRESS, however fast the export ends.
    description = export.description
    lifecycle.start(export)
    return {"ExportDescription": description}


def describe_export(data: dict[str, Any]) -> dict[str, Any]:
    """One export, also of a table that is gone. Raises Refusal."""
    arn = str(data.get("ExportArn") or "")
    parts = arn.split(":")
    if "/export/" not in arn or len(parts) != 6:
        raise Refusal("ValidationException", f"Invalid ExportArn: {arn}")
    if parts[3] != _here()[1]:
        raise Refusal("ExportNotFoundException", f"Invalid export arn: {arn}")
    export = EXPORTS.get(arn)
    if export is None:
        raise Refusal("ExportNotFoundException", f"Export not found: {arn}")
    return {"ExportDescription": lifecycle.settle(export).description}


def list_exports(data: dict[str, Any]) -> dict[str, Any]:
    """The exports of the tables that exist, newest first; those of an earlier table of the same name are forgotten."""
    from ministack.services import dynamodb

    size, after = data.get("MaxResults") or _PAGE, data.get("NextToken")
    if not 1 <= size <= _PAGE:
        raise Refusal("ValidationException", f"MaxResults is {size}; it is 1 to {_PAGE}")
    existing = {table["TableId"] for table in dynamodb._tables.values()}
    oldest = now_micros() - LISTED_FOR
    found = [
        export
        for export in _exports_here()
        if export.heading.table.id in existing
        and export.heading.started_at >= oldest
        and data.get("TableArn") in (None, export.heading.table.arn)
    ]
    found.sort(key=_page_mark, reverse=True)
    if after is not None:
        found = [export for export in found if _page_mark(export) < after]
    answer: dict[str, Any] = {"ExportSummaries": [_summary(lifecycle.settle(export)) for export in found[:size]]}
    if len(found) > size:
        answer["NextToken"] = _page_mark(found[size - 1])
    return answer


def _here() -> tuple[str, str]:
    """Account and region of the current request."""
    from ministack.core.responses import get_account_id, get_region

    return get_account_id(), get_region()


def _exports_here() -> list[Export]:
    here = _here()
    return [export for export in list(EXPORTS.values()) if (export.account, export.region) == here]


def _export_of_token(request: ExportRequest) -> Export | None:
    """The export an unexpired token has started. Raises Refusal if it was started with other parameters."""
    if request.token is None:
        return None
    now = now_micros()
    for export in _exports_here():
        if export.description["ClientToken"] != request.token:
            continue
        if export.ended_at is not None and now > export.ended_at + TOKEN_LIFE:
            continue
        if export.parameters != request.parameters:
            raise Refusal(
                "ExportConflictException",
                "Export conflict: Duplicate request detected with conflicting parameters",
            )
        return export
    return None


def _table_of(arn: str) -> Table:
    """The table to export. Raises Refusal."""
    from ministack.services import dynamodb

    parts = arn.split(":")
    if len(parts) != 6 or not parts[5].startswith("table/"):
        raise Refusal("ValidationException", f"Invalid TableArn: {arn}")
    account, region = _here()
    if parts[4] != account:
        raise Refusal("AccessDeniedException", f"The table {arn} is in another account")
    table: Table | None = dynamodb._tables.get(parts[5].removeprefix("table/")) if parts[3] == region else None
    if table is None:
        raise Refusal("TableNotFoundException", f"Table not found: {arn}")
    return table


def _accepted(request: ExportRequest, table: Table, extent: Extent, now: int) -> Export:
    """The export as it stands when DynamoDB has accepted it."""
    account, region = _here()
    # Incremental exports start at whole seconds, full ones at milliseconds.
    started_at = whole_millis(now) if extent.is_full else whole_seconds(now)
    try:
        oddities = oddities_named(KNOBS.oddities)
    except UnknownOddity as unknown:
        raise Refusal("ValidationException", str(unknown)) from unknown
    heading = ExportHeading(
        export_id=export_id(started_at, secrets.token_hex(4)),
        table=SourceTable.from_description(table),
        extent=extent,
        started_at=started_at,
        bucket=request.bucket,
        prefix=request.prefix,
        sse_algorithm=request.sse_algorithm,
        sse_key_id=request.sse_key_id,
        file_format=request.file_format,
        oddities=oddities,
    )
    doomed_to, KNOBS.export_failure_code = KNOBS.export_failure_code, None
    return Export(
        heading=heading,
        journal=JOURNALS[table["TableId"]],
        caller=CALLER.get(),
        account=account,
        region=region,
        due_at=now + round(KNOBS.export_seconds * SECOND),
        parameters=dict(request.parameters),
        description=_description(request, heading),
        doomed_to=doomed_to,
    )


def _description(request: ExportRequest, heading: ExportHeading) -> dict[str, Any]:
    """What DescribeExport shows of a running export: defaults filled in, but ExportType only if it was sent."""
    extent = heading.extent
    description: dict[str, Any] = {
        "ExportArn": heading.arn,
        "ExportStatus": IN_PROGRESS,
        "StartTime": epoch_seconds(heading.started_at),
        "TableArn": heading.table.arn,
        "TableId": heading.table.id,
        "ClientToken": request.token or str(uuid.uuid4()),
        "S3Bucket": heading.bucket,
        "S3SseAlgorithm": heading.sse_algorithm,
        "ExportFormat": heading.file_format,
        **{name: request.parameters[name] for name in _ECHOED if request.parameters.get(name) is not None},
    }
    if extent.start is None:
        description["ExportTime"] = epoch_seconds(extent.end)
    else:
        description["IncrementalExportSpecification"] = {
            "ExportFromTime": epoch_seconds(extent.start),
            "ExportToTime": epoch_seconds(extent.end),
            "ExportViewType": extent.view,
        }
    return description


def _summary(export: Export) -> dict[str, Any]:
    return {
        "ExportArn": export.heading.arn,
        "ExportStatus": export.status,
        "ExportType": FULL if export.heading.extent.is_full else INCREMENTAL,
    }


def _page_mark(export: Export) -> str:
    """Where a page ends: ids sort by start, and are unique."""
    return export.heading.export_id
