"""Replay: apply a folder of real exports to a local Iceberg table. No AWS at all.

The folder is a mirror of the export bucket. Every complete export under any ``AWSDynamoDB/`` in it is found, the chain
is checked before anything is applied, and only what is new is applied, by the very jobs that run on EMR Serverless.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from local.chain import Chain, chain_for
from local.found_exports import FoundExport, FoundExports, find_exports, is_long
from local.java import start_of
from local.local_table import LocalTable
from local.session import local_session
from local.sources import exports_to_follow
from pipeline.errors import WatermarkMissing
from pipeline.identity import SourceTable
from pipeline.instants import format_instant
from pipeline.job_kinds import LOAD, MERGE
from pipeline.job_order import JobOrder


def replay(exports: Path, table: LocalTable, named: str, tell: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Apply what is new; gives each job's report once it has ended, none if there was nothing new.

    `named`: the ARN or the table id of the source that the table is to follow, empty where a person has named none;
    `tell` is given lines about exports of other sources, which are left alone.
    Raises PipelineError: the table is as the last job has left it. Raises Failed where another command is changing it.
    """
    found = find_exports(exports.resolve())
    source, chain, left_alone = _to_apply(found, table, named)
    for line in left_alone:
        tell(line)
    # Nothing is made, not even the warehouse, by a replay that is refused or finds nothing new.
    if chain.is_empty:
        return
    with table.alone():
        # Another command may have changed the table meanwhile.
        source, chain, _ = _to_apply(found, table, named)
        spark = local_session(table.warehouse, start=start_of(is_bulk=is_long(chain.base)))
        try:
            for order in _orders(chain, source, table):
                yield table.run(spark, order)
        finally:
            spark.stop()


def _to_apply(found: FoundExports, table: LocalTable, named: str) -> tuple[SourceTable, Chain, list[str]]:
    """The source, the chain of what is new, and lines about exports of others. Raises PipelineError."""
    state = table.state
    if state.exists and state.marker is None:
        raise WatermarkMissing(f"{table.folder} holds a table without a watermark")
    table.check_key()
    source, own, left_alone = exports_to_follow(found, state.marker, table.key, named)
    return source, chain_for(own, source, state.watermark), left_alone


def _orders(chain: Chain, source: SourceTable, table: LocalTable) -> list[JobOrder]:
    """One load if there is a base, one merge for all windows together."""
    orders = []
    if chain.base:
        at = chain.base.manifest.end
        orders.append(table.order(LOAD, _job_id(LOAD, (chain.base,)), source, at, at, (chain.base,)))
    if chain.windows:
        start, end = chain.windows[0].manifest.start, chain.windows[-1].manifest.end
        orders.append(table.order(MERGE, _job_id(MERGE, chain.windows), source, start, end, chain.windows))
    return orders


def _job_id(job: str, exports: Sequence[FoundExport]) -> str:
    arns = "|".join(export.manifest.export_arn for export in exports)
    reached = format_instant(exports[-1].manifest.end)
    return f"replay-{job}-{reached}-{hashlib.sha256(arns.encode()).hexdigest()[:16]}"
