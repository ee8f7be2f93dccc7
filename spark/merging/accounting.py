"""What became of every record of a merge: told by the images, or by the table, and proven by Iceberg's own counts.

    read = inserted + updated + deleted + already_there + unknown_deletes + transient + folded

`transient`: keys that came and went inside the stretch, over several windows. `folded`: records that a later record of
the same key in the same stretch has overtaken. The rest are keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.columns.names import WRITE_TIME
from pipeline.job_order import JobOrder
from spark.exports.reading import Export, are_told
from spark.exports.records import WEIGHT
from spark.hiding.missed_rules import CONTRADICTED
from spark.iceberg.commit_properties import counted_so_far
from spark.merging.changes import CONFLICTS, DELETED, HAD_OLD, LACKING, LOSES, OTHER_KEY, RECORDS, UNFIT, UNREADABLE
from spark.rows.projection import ODD, has_no_value, misfit_count

OUTCOMES = ("inserted", "updated", "deleted", "already_there", "unknown_deletes", "transient")
OUTCOME = "#outcome"
_PROBLEMS = (UNREADABLE, LACKING, UNFIT, OTHER_KEY, CONFLICTS)
_WATCHED = "tidemark"


def told_by_images(changes: DataFrame) -> DataFrame:
    """Add ``#outcome`` to net changes, as their images tell it."""
    return changes.withColumn(OUTCOME, _outcome(F.col(HAD_OLD), F.lit(False)))


def images_tell(order: JobOrder, exports: Sequence[Export]) -> bool:
    """Whether the images alone tell what each change will do, the table being where the stretch begins."""
    return not order.mends and all(export.manifest.has_old_images for export in exports)


def told_by_table(changes: DataFrame, table: DataFrame, key: Sequence[str], order: JobOrder) -> DataFrame:
    """Add ``#outcome`` to net changes by looking each key up: where images are missing, or tell of an earlier state.

    Where the order mends, a row that holds its change already is updated like any other.
    """
    rows = table.select(*key, F.lit(True).alias("#there"), F.col(WRITE_TIME).alias("#time"))
    is_same = F.lit(False) if order.mends else F.col("#time") == F.col(WRITE_TIME)
    told = changes.join(rows, list(key), "left").withColumn(OUTCOME, _outcome(F.col("#there").isNotNull(), is_same))
    return told.drop("#there", "#time")


def _outcome(there: Column, is_same: Column) -> Column:
    """What a net change does. `there`: whether the table has a row of its key; `is_same`: whether that row is the change."""
    deleted = F.col(DELETED)
    return (
        F.when(there & deleted, "deleted")
        .when(there & is_same, "already_there")
        .when(there, "updated")
        .when(~deleted, "inserted")
        .when(F.col(RECORDS) > 1, "transient")
        .otherwise("unknown_deletes")
    )


def counted(changes: DataFrame) -> dict[str, int]:
    """Count records, outcomes, problems and misfits of net changes that were looked through, in one pass."""
    looked_for = (F.sum(misfit_count()).alias("misfits"), F.count_if(has_no_value()).alias("no_value"))
    found: Any = changes.agg(*_counts(), *looked_for).first()
    return _whole(found.asDict())


def watched(changes: DataFrame) -> DataFrame:
    """Net changes that were not looked through, counted on the way to wherever they go; `watched_counts` tells."""
    return changes.observe(_WATCHED, *_counts(), F.count(ODD).alias("odd"))


def watched_counts(spark: SparkSession) -> dict[str, int]:
    """Records, outcomes, problems and odd rows among the changes that the command of this thread has read by now."""
    return _whole(counted_so_far(spark, _WATCHED))


def is_plain(found: Mapping[str, int], exports: Sequence[Export]) -> bool:
    """Whether changes are as many records as the manifests of exports say, none of them with a problem, and no row is odd."""
    is_whole = are_told(exports, found["read"], found[WEIGHT])
    return is_whole and not any(found[name] for name in (*_PROBLEMS, CONTRADICTED, "odd"))


def _counts() -> list[Column]:
    return [
        F.sum(RECORDS).alias("read"),
        F.sum(WEIGHT).alias(WEIGHT),
        *(F.count_if(F.col(OUTCOME) == name).alias(name) for name in OUTCOMES),
        F.sum(F.col(RECORDS) - 1).alias("folded"),
        *(F.sum(name).alias(name) for name in _PROBLEMS),
        F.count(CONTRADICTED).alias(CONTRADICTED),
        F.count_if(LOSES).alias(LOSES),
    ]


def _whole(found: Mapping[str, int | None]) -> dict[str, int]:
    """All counts by their names: 0 for one that was not asked for, and for the null that a sum over no rows is."""
    names = ("read", WEIGHT, *OUTCOMES, "folded", *_PROBLEMS, CONTRADICTED, LOSES, "odd", "misfits", "no_value")
    return {name: found.get(name) or 0 for name in names}


def of_commit(found: Mapping[str, int]) -> dict[str, int]:
    """The counts that a commit carries."""
    return {name: found[name] for name in ("read", *OUTCOMES, "folded", "misfits")}
