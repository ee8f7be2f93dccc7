"""CheckExports: look at every export of the run; all complete, some still running, or one failed."""

from __future__ import annotations

from typing import Any

from lambdas.aws import source
from lambdas.observability import doorway, logger
from pipeline.deployment import Deployment
from pipeline.errors import ExportTimedOut, FilteredExport
from pipeline.events import ExportEvent, StateEvent
from pipeline.exports.requests import LONGEST_EXPORT, failure_of, wait_before_check, waited
from pipeline.wording import words


def _check_exports(event: StateEvent, _deployment: Deployment) -> dict[str, Any]:
    exports = [_check(export) for export in event["exports"]]
    running = [export for export in exports if "manifest" not in export]
    checks = event["checks"] + 1
    logger.info("exports checked", extra={"complete": len(exports) - len(running), "running": len(running)})
    if running and waited(checks) >= LONGEST_EXPORT:
        raise ExportTimedOut(f"{running[0]['arn']} is not complete after {words(waited(checks))}")
    wait = wait_before_check(checks)
    return {"exports": exports, "ready": not running, "wait_seconds": wait.seconds, "checks": checks}


def _check(export: ExportEvent) -> ExportEvent:
    """Look at one export unless it is known to be complete. Raises ExportFailed or what the failure's code means."""
    if "manifest" in export:
        return export
    description = source.describe_export(export["arn"])
    if description.get("FilterSpecification"):
        raise FilteredExport(f"{export['arn']} was made with a filter")
    if description["ExportStatus"] == "FAILED":
        raise failure_of(description)
    if description["ExportStatus"] != "COMPLETED":
        return export
    return {
        **export,
        "manifest": f"s3://{description['S3Bucket']}/{description['ExportManifest']}",
        "items": description["ItemCount"],
        "billed_bytes": description["BilledSizeBytes"],
    }


handler = doorway(_check_exports)
