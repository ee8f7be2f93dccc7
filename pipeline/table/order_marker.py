"""The marker that the commit of an order carries, with what its rows were made without. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.columns.protected import protected_text
from pipeline.job_order import JobOrder
from pipeline.table.marker import PROTECTED, Marker


def marker_of(
    order: JobOrder, counts: Mapping[str, int], billed_bytes: int | None = None, *, fingerprint: str
) -> dict[str, str]:
    """What a commit of this order says of itself, as properties. `billed_bytes`: what a merge's exports were billed.

    `fingerprint`: of the secret that its hashes are keyed with, empty where there are none.
    """
    said = Marker(
        watermark=order.end,
        start=order.start,
        job=order.job,
        job_id=order.job_id,
        source_arn=order.source.arn,
        source_id=order.source.id,
        counts=counts,
        billed_bytes=billed_bytes,
    )
    return {**said.to_properties(), PROTECTED: protected_text(order.columns, fingerprint)}
