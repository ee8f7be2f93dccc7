"""Old images held against the table: which rows were not what DynamoDB says that the items were before a stretch.

An option of a table. The counts of a merge tell for nothing how many rows the table should have had; this tells which it
lacked, which it should not have had, and which held something else. It reads whole rows, of the keys that have changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.columns.in_table.table_columns import Columns
from spark.exports.records import image
from spark.expressions.sql import joined
from spark.hiding.protection import Protection
from spark.merging.changes import HAD_OLD, OLD, keys
from spark.merging.key_filter import MOST_CHANGES
from spark.rows.projection import ITEM, rows_with_misfits
from spark.verifying import pairs
from spark.verifying.pairs import IN_SOURCE, LINE, PERHAPS
from spark.verifying.sameness import of_source


class OldImages(NamedTuple):
    """What was found: `counts`, which go into the commit, and the first `differences`, with values, for the report."""

    counts: Mapping[str, int] = {}
    differences: Sequence[Mapping[str, Any]] = ()


def compared_images(
    folded: DataFrame, changes: int, rows: DataFrame, columns: Columns, protection: Protection
) -> OldImages:
    """Compare the old images of folded changes (``#old``), so many at most, with the rows that the table shows for their keys.

    `rows`: those of the table among which all rows of the changed keys are.
    """
    there = pairs.table_rows(_of_changed(rows, folded, columns, changes), columns)
    compared = pairs.compared(_images(folded, columns, protection), there, columns).persist()
    try:
        found = pairs.counted(compared, {"images": F.count(IN_SOURCE)})
        # An image that meets two rows of its key is joined twice.
        surplus = found["images"] - folded.where(F.col(HAD_OLD)).count()
        with pairs.judged(compared, found, columns, protection) as judged:
            counts = {
                "images_equal": found["equal"] + found[PERHAPS] - judged.different,
                "images_different": judged.different,
                "images_without_row": found["only_in_source"],
                "rows_without_image": found["only_in_table"] + surplus,
            }
            differ = sum(counts.values()) > counts["images_equal"]
            of_several = there if surplus else None
            first = pairs.first_differences(compared, judged, columns, protection, of_several) if differ else ()
            return OldImages(counts, first)
    finally:
        compared.unpersist()


def _images(folded: DataFrame, columns: Columns, protection: Protection) -> DataFrame:
    """The old images as items' side of pairs, under the keys of their records."""
    items = folded.where(F.col(HAD_OLD)).withColumn(ITEM, image(F.col(OLD)))
    typed = rows_with_misfits(protection.protected(items, ITEM), columns)
    of_record = {of_source(field.name): f"`{cell}`" for field, cell in zip(columns.key, keys(columns))}
    made = {
        **pairs.source_cells(columns),
        **of_record,
        LINE: joined("'{\"Item\":'", f"`{OLD}`", "'}'"),
        IN_SOURCE: "true",
    }
    return typed.selectExpr(*(f"{cell} AS `{name}`" for name, cell in made.items()))


def _of_changed(rows: DataFrame, folded: DataFrame, columns: Columns, changes: int) -> DataFrame:
    """The rows whose keys are among so many that have changed."""
    names = [field.name for field in columns.key]
    changed = folded.select(*(F.col(of).alias(name) for of, name in zip(keys(columns), names)))
    # For all that Spark knows the keys are as large as the images beside them; whole rows of the table it is not to shuffle.
    changed = F.broadcast(changed) if changes <= MOST_CHANGES else changed
    return rows.join(changed, names, "left_semi")
