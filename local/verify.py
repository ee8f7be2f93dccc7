"""Verify a local table: the full export at its watermark, found in a folder of exports, against the table. No AWS at all."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from local.chain import FoundExport
from local.replay import (
    ReplayTarget,
    check_key,
    find_exports,
    is_long,
    local_session,
    order_for,
    run_order,
    source_of,
    table_state,
)
from pipeline.errors import ManifestUnreadable, VerificationFailed, WatermarkMissing
from pipeline.instants import format_instant


def verify(exports: Path, target: ReplayTarget) -> dict[str, Any]:
    """Compare; returns the job's report where they are equal. Raises VerificationFailed or another PipelineError."""
    state = table_state(target)
    if state.marker is None:
        raise WatermarkMissing(f"{target.folder} holds no table with a watermark", "Make it by a replay first.")
    check_key(target)
    found, watermark = find_exports(exports.resolve()), state.marker.watermark
    export = full_export_at(watermark_text := format_instant(watermark), found, exports)
    # Asked for twice, it is done twice: somebody may have changed the table meanwhile.
    job_id = f"verify-{watermark_text.replace(':', '')}-{uuid.uuid4().hex[:16]}"
    order = order_for("verify", job_id, (export,), source_of(found, state, target.key), target, watermark, watermark)
    spark = local_session(target.warehouse, is_bulk=is_long(export))
    try:
        return run_order(spark, order, target.secret)
    except VerificationFailed as failed:
        place = order.report_uri.removeprefix("file://")
        remedy = (
            f"Read the first differences, with both values, in {place}; then make the table anew from a full export."
        )
        raise VerificationFailed(failed.message, remedy, failed.findings) from None
    finally:
        spark.stop()


def full_export_at(watermark: str, found: list[FoundExport], folder: Path) -> FoundExport:
    """The full export at an instant. Raises ManifestUnreadable, naming the instants there are."""
    full = [export for export in found if export.manifest.is_full]
    for export in full:
        if format_instant(export.manifest.end) == watermark:
            return export
    others = ", ".join(sorted(format_instant(export.manifest.end) for export in full)) or "none"
    raise ManifestUnreadable(
        f"{folder} holds no full export at the table's watermark {watermark}; there are full exports at: {others}",
        f"Export the source table at {watermark} (ExportTime) into the folder, and verify again.",
    )
