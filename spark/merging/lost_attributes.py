"""What items have lost by a merge, for its report: attributes, and fields of structs in the table.

A merge replaces whole rows, so nothing has to be done about it; it is told because a null in the table does not tell it.
Whether there is any is counted with all else; what it is, is looked for while the merge commits, which keeps no task busy.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.columns.in_table.table_columns import Columns
from spark.merging.changes import LOST, keys
from spark.report import most_frequent
from spark.rows.keys import shown
from spark.shuffles import RECORDS


class LostAttributes:
    """What most items had before folded changes with old images, and have no more, with how many items, and one's key."""

    def __init__(self, folded: DataFrame, columns: Columns, beside: ThreadPoolExecutor):
        """Nothing is looked for yet."""
        self._folded, self._columns, self._beside = folded, columns, beside
        self._found: Future[list[dict[str, Any]]] | None = None

    @classmethod
    @contextmanager
    def of(cls, folded: DataFrame, columns: Columns) -> Iterator[LostAttributes]:
        """Of folded changes, which are there until this ends."""
        with ThreadPoolExecutor(1) as beside:
            yield cls(folded, columns, beside)

    def look_for(self, losing: int) -> None:
        """Begin to look for them, while something else is done. `losing`: how many of the changes have lost anything."""
        self._found = self._found or self._beside.submit(self._look, losing)

    @property
    def found(self) -> list[dict[str, Any]]:
        """What was found, waited for; nothing where nobody has asked to look."""
        return self._found.result() if self._found else []

    def _look(self, losing: int) -> list[dict[str, Any]]:
        key = (F.col(cell).alias(field.name) for field, cell in zip(self._columns.key, keys(self._columns)))
        rows = self._folded.where(F.size(LOST) > 0).select(*key, LOST)
        if losing <= RECORDS:
            # One task counts so many at once; to shuffle them, and compile the counting of counts, would take longer.
            rows = rows.coalesce(1)
        example = shown(self._columns.key).alias("example")
        return most_frequent(rows.select(example, F.explode(LOST).alias("path")), "path")
