"""Counting what was seen where: natively on the executors, so that only a bounded number of counts reaches the driver."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.columns.item_sample import LEVELS, MOST_PATHS
from pipeline.columns.names import MISFITS
from pipeline.columns.profile import ELEMENT, MEMBER, Observed
from spark.expressions.numbers import plain_number, room
from spark.expressions.places import Naming, place, places
from spark.expressions.pointers import names
from spark.expressions.sql import Sql, joined, struct, transform, when
from spark.expressions.values import VALUE_TYPE, has, has_one_type, of, strings, tag_of
from spark.rows.keys import shown

_COUNTS = "array<struct<path:array<string>,tag:string,number:string>>"


def _member(name: Sql) -> Sql:
    return joined(f"'{MEMBER}'", name)


def _naming(levels: int) -> Naming:
    return Naming(
        type="array<string>",
        member=lambda outer, name: joined(outer, f"array({_member(name)})"),
        element=lambda outer, _: _element(outer),
        entered=lambda _, value: f"{has(value, 'M')} OR {has(value, 'L')}",
        levels=levels,
    )


def _element(outer: Sql) -> Sql:
    return joined(outer, f"array('{ELEMENT}')")


def exploded(rows: DataFrame, key: Sequence[str] = ()) -> DataFrame:
    """The misfits of rows, one a row: ``pointer``, ``json``, and ``example``, the row's key as JSON, if its columns are named.

    No column of the rows stays beside them, which may have any of these names.
    """
    of_row = shown(key) if key else F.lit("")
    return rows.select(of_row.alias("example"), F.explode(MISFITS).alias("pointer", "json"))


def observed_misfits(misfits: DataFrame, levels: int = LEVELS) -> list[Observed]:
    """Count types at the paths of misfits, as `exploded` gives them, and below them; so many `levels` of an item."""
    steps = transform(names("pointer"), _member)
    value = f"from_json(json, '{VALUE_TYPE}')"
    first = f"array({place(steps, value)})"
    found_at = f"size({steps}) AS found_at"
    found = misfits.selectExpr("example", found_at, f"explode({places(first, _naming(levels))}) AS c")
    counts = found.selectExpr("example", "found_at", f"explode({_count('c')}) AS c").where("c.tag IS NOT NULL")
    plain = counts.selectExpr("example", "found_at", "c.path", "c.tag", f"{plain_number('c.number')} AS number")
    integer, fraction, fits_long = room("number")
    rows = (
        plain.groupBy("path", "tag", "found_at")
        .agg(
            F.count(F.lit(1)).alias("count"),
            integer.alias("integer_digits"),
            fraction.alias("fraction_digits"),
            fits_long.alias("fits_long"),
            F.min("example").alias("example"),
        )
        .orderBy(F.size("path"), F.desc("count"), "path", "tag", "found_at")
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
            example=row["example"],
            found_at=row["found_at"],
        )
        for row in rows
    ]


def _count(found: Sql) -> Sql:
    path, value = f"{found}.place", f"{found}.value"
    tag = when(has_one_type(value), tag_of(value))
    element = _element(path)
    numbers = transform(strings(of(value, "NS")), lambda n: struct(path=element, tag="'N'", number=n))
    own = struct(path=path, tag=tag, number=of(value, "N"))
    return joined(f"array({own})", f"coalesce({numbers}, cast(array() AS {_COUNTS}))")
