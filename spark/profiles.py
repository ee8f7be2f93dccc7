"""Counting what was seen where: natively on the executors, so that only a bounded number of counts reaches the driver."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.column_profile import ELEMENT, MEMBER, Observed
from spark.numbers import plain_number, room
from spark.projection import ITEM
from spark.values import NATIVE, TAGS, below, elements, members, value_type

#: Paths are counted to this depth; a map or list further down has no members here, so its column becomes JSON text.
_LEVELS = 4
#: The counts that reach the driver: the shallowest and most frequent. An item with more attributes has no room for them.
MOST_PATHS = 20_000
_COUNTS = "array<struct<path:array<string>,tag:string,number:string>>"


def observed_items(items: DataFrame) -> list[Observed]:
    """Count types at the paths of items (column ``#item``)."""
    level = F.map_entries(ITEM)
    return _observed(
        items.select(_counts_of_entries(level, F.array().cast("array<string>"), NATIVE, _LEVELS).alias("c"))
    )


def observed_misfits(misfits: DataFrame) -> list[Observed]:
    """Count types at the paths of misfits (columns ``pointer`` and ``json``) and below them."""
    steps = F.transform(F.slice(F.split("pointer", "/"), 2, 1_000), _step)
    value = F.from_json("json", value_type(NATIVE))
    return _observed(misfits.select(_counts(value, steps, NATIVE, _LEVELS).alias("c")))


def exploded(rows: DataFrame, *carried: str) -> DataFrame:
    """The misfits of rows, one a row: ``pointer`` and ``json``, with the columns named."""
    return rows.select(*carried, F.explode("_misfits").alias("pointer", "json"))


def _step(text: Column) -> Column:
    return F.concat(F.lit(MEMBER), F.replace(F.replace(text, F.lit("~1"), F.lit("/")), F.lit("~0"), F.lit("~")))


def _counts(value: Column, path: Column, depth: int, levels: int) -> Column:
    """A value and everything inside it as an array of path, type and number."""
    tag = F.coalesce(*(F.when(value[tag].isNotNull(), F.lit(tag)) for tag in TAGS))
    here = F.array(_count(path, tag, value["N"]))
    numbers = F.transform(value["NS"], lambda n: _count(_with(path, F.lit(ELEMENT)), F.lit("N"), n))
    found = [here, numbers]
    if levels > 1:
        found.append(_counts_of_entries(F.map_entries(members(value, depth)), path, below(depth), levels - 1))
        found.append(_counts_of_elements(elements(value, depth), path, below(depth), levels - 1))
    return F.concat(*(F.coalesce(counts, F.array().cast(_COUNTS)) for counts in found))


def _counts_of_entries(entries: Column, path: Column, depth: int, levels: int) -> Column:
    step = F.transform(
        entries, lambda e: _counts(e["value"], _with(path, F.concat(F.lit(MEMBER), e["key"])), depth, levels)
    )
    return F.flatten(step)


def _counts_of_elements(values: Column, path: Column, depth: int, levels: int) -> Column:
    return F.flatten(F.transform(values, lambda v: _counts(v, _with(path, F.lit(ELEMENT)), depth, levels)))


def _with(path: Column, step: Column) -> Column:
    return F.concat(path, F.array(step))


def _count(path: Column, tag: Column, number: Column) -> Column:
    return F.struct(path.alias("path"), tag.alias("tag"), number.alias("number"))


def _observed(counts: DataFrame) -> list[Observed]:
    single = counts.select(F.explode("c").alias("c")).select("c.*").where(F.col("tag").isNotNull())
    plain = single.withColumn("number", F.when(F.col("number").isNotNull(), plain_number(F.col("number"))))
    integer, fraction, fits_long = room(F.col("number"))
    rows = (
        plain.groupBy("path", "tag")
        .agg(
            F.count(F.lit(1)).alias("count"),
            integer.alias("integer_digits"),
            fraction.alias("fraction_digits"),
            fits_long.alias("fits_long"),
        )
        .orderBy(F.size("path"), F.desc("count"), "path", "tag")
        .limit(MOST_PATHS)
        .collect()
    )
    return [
        Observed(
            path=tuple(row["path"]),
            tag=row["tag"],
            count=row["count"],
            integer_digits=row["integer_digits"] or 0,
            fraction_digits=row["fraction_digits"] or 0,
            fits_long=row["fits_long"] is not False,
        )
        for row in rows
    ]
