"""Put the files of a local table in order, by the very job that runs on EMR Serverless. No AWS at all."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

from local.replay import ReplayTarget, local_session, order_for, run_order, source_of, table_state
from pipeline.errors import WatermarkMissing


def maintain(target: ReplayTarget, snapshot_days: int) -> dict[str, Any]:
    """Do it; returns the job's report. `snapshot_days`: how many days before the watermark can still be looked at then."""
    state = table_state(target)
    if state.marker is None:
        raise WatermarkMissing(f"{target.folder} holds no table with a watermark", "Make it by a replay first.")
    at, source = state.marker.watermark, source_of((), state, target.key)
    # Asked for twice, it is done twice: another job may have died meanwhile.
    order = order_for("maintain", f"maintain-{uuid.uuid4().hex[:16]}", (), source, target, at, at)
    spark = local_session(target.warehouse)
    try:
        return run_order(spark, replace(order, snapshot_days=snapshot_days), target.secret)
    finally:
        spark.stop()
