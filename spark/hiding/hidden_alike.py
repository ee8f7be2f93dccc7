"""Whether a table's rows were made with the rules that hide values now: those of one table are all made alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.columns.declared.overrides import Override
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.names import MISFITS
from pipeline.columns.protected import check_protected, holds_plain, protected_at
from pipeline.job_order import JobOrder
from spark.hiding.pointer_patterns import any_or, whole


def check_hidden_alike(
    rows: DataFrame,
    metadata: Mapping[str, Any],
    watermark: datetime | None,
    order: JobOrder,
    columns: Columns,
    fingerprint: str,
) -> None:
    """Refuse to go on where the rows that a table showed at a watermark were made with other rules that hide values.

    `columns`: those that these rows have. `fingerprint`: of the secret that hashes are keyed with now.
    Raises RebuildNeeded.
    """
    if new := check_protected(protected_at(metadata, watermark), columns, order.columns, fingerprint):
        _check_misfits(rows, new)


def _check_misfits(rows: DataFrame, new: Sequence[Override]) -> None:
    """Refuse rows of a table whose misfits may hold something of what is to be dropped or hashed from now on.

    Raises RebuildNeeded. Iceberg knows the files without misfits, which are not read.
    """
    held = [F.exists(F.map_keys(MISFITS), partial(_is_beside, rule)) for rule in new]
    found: Any = rows.where(F.col(MISFITS).isNotNull()).agg(*(F.bool_or(one) for one in held)).first()
    for rule, is_held in zip(new, found):
        if is_held:
            raise holds_plain(rule)


def _is_beside(rule: Override, pointer: Column) -> Column:
    """Whether a pointer is that of a rule's place, or of one around it or inside it."""
    inside = ""
    for name in reversed(rule.path):
        inside = f"(/{any_or(name)}{inside or '(/.*)?'})?"
    return pointer.rlike(whole(inside))
