"""Attributes that items no longer have: which, how many items, and the key of one. Only exports with old images tell.

The names of an item's old image come along with its record, and are held against the item that it became. NULL is as good
as absent. Of what is inside an attribute nothing is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.columns.overrides import Override
from pipeline.columns.pointers import step
from pipeline.columns.table_columns import Columns
from spark.exports.records import OLD_NAMES
from spark.expressions.sql import Sql, call, function, joined, literal
from spark.expressions.values import says_null
from spark.report import MOST_LISTED
from spark.rows.keys import shown
from spark.rows.projection import ITEM

#: The names of the attributes that an item no longer has; null where it is deleted, or nobody knows what it was.
REMOVED = "#removed"
#: Of tables with more columns it is only counted whether there are any: each costs two aggregates.
_MOST_WATCHED = 50


def removed(hidden: Sequence[Override]) -> Sql:
    """``#removed``, made of the item, which is protected, and the names of its old image, which is not."""
    held = f"map_keys(map_filter(`{ITEM}`, {function(2, lambda _, value: f'NOT {says_null(value)}')}))"
    dropped = [literal(rule.path[0]) for rule in hidden if rule.drop and len(rule.path) == 1]
    known = joined(held, call("array", *dropped)) if dropped else held
    return f"{call('array_except', f'`{OLD_NAMES}`', known)} AS `{REMOVED}`"


def counts(columns: Columns) -> list[Column]:
    """What is counted of changes as they pass: for each attribute of its own, or how many changes remove any."""
    if len(columns.attributes) > _MOST_WATCHED:
        return [count()]
    key = shown([field.name for field in columns.key])
    is_removed = [F.array_contains(REMOVED, F.lit(field.attribute)) for field in columns.attributes]
    counted = [F.count_if(one).alias(f"removed {i}") for i, one in enumerate(is_removed)]
    return counted + [F.min(F.when(one, key)).alias(f"such {i}") for i, one in enumerate(is_removed)]


def count() -> Column:
    """How many changes remove attributes, as ``removed``."""
    return F.count_if(F.size(REMOVED) > 0).alias("removed")


def told(found: Mapping[str, Any], columns: Columns, changes: DataFrame) -> list[dict[str, Any]]:
    """The removed attributes, those of the most items first: path, count, a key. `found`: what was counted by `counts`."""
    key = [field.name for field in columns.key]
    if "removed" in found:
        return listed(changes, key) if found["removed"] else []
    removed_ = [
        {"path": f"/{step(field.attribute)}", "count": found[f"removed {i}"], "example": found[f"such {i}"]}
        for i, field in enumerate(columns.attributes)
        if found.get(f"removed {i}")
    ]
    return sorted(removed_, key=lambda one: (-one["count"], one["path"]))[:MOST_LISTED]


def listed(changes: DataFrame, key: Sequence[str]) -> list[dict[str, Any]]:
    """The same of any number of attributes, by a look at all changes. `key`: its columns."""
    each = changes.select(F.explode(REMOVED).alias("name"), shown(key).alias("example"))
    rows = (
        each.groupBy("name")
        .agg(F.count(F.lit(1)).alias("count"), F.min("example").alias("example"))
        .orderBy(F.desc("count"), "name")
        .limit(MOST_LISTED)
        .collect()
    )
    return [{"path": f"/{step(row['name'])}", "count": row["count"], "example": row["example"]} for row in rows]
