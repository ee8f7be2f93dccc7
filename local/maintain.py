"""Put the files of a local table in order, by the very job that runs on EMR Serverless. No AWS at all."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

from local.local_table import LocalTable
from local.session import local_session
from pipeline.job_kinds import MAINTAIN


def maintain(table: LocalTable, snapshot_days: int) -> dict[str, Any]:
    """Do it; returns the job's report. `snapshot_days`: how many days before the watermark can still be looked at then.

    Raises PipelineError, or Failed where another command is changing the table.
    """
    marker = table.marker
    # Rows stay as they are: nobody asks by which key they are found.
    source, at = marker.source(()), marker.watermark
    # Asked for twice, it is done twice: another job may have died meanwhile.
    order = table.order(MAINTAIN, f"{MAINTAIN}-{uuid.uuid4().hex[:16]}", source, at, at)
    with table.alone():
        spark = local_session(table.warehouse)
        try:
            return table.run(spark, replace(order, snapshot_days=snapshot_days))
        finally:
            spark.stop()
