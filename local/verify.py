"""Verify a local table: the full export at its watermark, found in a folder of exports, against the table. No AWS at all."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from local.found_exports import find_exports, full_export_at, is_long
from local.java import start_of
from local.local_table import LocalTable
from local.session import local_session
from local.sources import exports_to_follow
from pipeline.errors import VerificationFailed
from pipeline.instants import format_instant
from pipeline.job_kinds import VERIFY


def verify(exports: Path, table: LocalTable, named: str) -> dict[str, Any]:
    """Compare; returns the job's report where they are equal. Raises VerificationFailed or another PipelineError.

    `named`: the ARN or the table id of the table's source, empty where a person has named none.
    """
    marker = table.marker
    table.check_key()
    found, watermark = find_exports(exports.resolve()), marker.watermark
    source, own, _ = exports_to_follow(found, marker, table.key, named)
    export = full_export_at(watermark_text := format_instant(watermark), own, exports)
    # Asked for twice, it is done twice: somebody may have changed the table meanwhile.
    job_id = f"{VERIFY}-{watermark_text.replace(':', '')}-{uuid.uuid4().hex[:16]}"
    order = table.order(VERIFY, job_id, source, watermark, watermark, (export,))
    spark = local_session(table.warehouse, start=start_of(is_bulk=is_long(export)))
    try:
        return table.run(spark, order)
    except VerificationFailed as failed:
        remedy = (
            f"Read the first differences, with both values, in {table.report(job_id)}; then remove the table's folder "
            f"{table.folder}, and replay again: that makes the table anew from a full export."
        )
        raise VerificationFailed(failed.message, remedy, failed.findings) from None
    finally:
        spark.stop()
