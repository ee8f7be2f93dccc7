"""Counting what was seen where: natively on the executors, so that only a bounded number of counts reaches the driver.

Mostly all counts are few enough. Where they are not, a dictionary's names may have crowded out all else: then what is there
is counted again, those names limited as `pipeline.columns.item_sample` limits them.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from pipeline.columns.declared.overrides import ANY, NO_OVERRIDES, Overrides
from pipeline.columns.item_sample import MOST_NAMES, MOST_PATHS, OTHERS, levels_for
from pipeline.columns.names import MISFITS
from pipeline.columns.profile import ELEMENT, MEMBER, Observed, member_step
from pipeline.columns.types import Field
from spark.expressions.numbers import plain_number, room
from spark.expressions.places import Naming, place, places
from spark.expressions.pointers import names
from spark.expressions.sql import Sql, call, joined, literal, struct, transform, when
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
        # However deep a misfit lies: what a merge gives columns, a full export has to look at.
        entered=lambda outer, value: f"size({outer}) < {levels} AND ({has(value, 'M')} OR {has(value, 'L')})",
        levels=levels,
    )


def _element(outer: Sql) -> Sql:
    return joined(outer, f"array('{ELEMENT}')")


def exploded(rows: DataFrame, key: Sequence[Field] = ()) -> DataFrame:
    """The misfits of rows, one a row: ``pointer``, ``json``, and ``example``, the row's key as JSON, if its columns are given.

    No column of the rows stays beside them, which may have any of these names.
    """
    of_row = shown(key) if key else F.lit("")
    return rows.select(of_row.alias("example"), F.explode(MISFITS).alias("pointer", "json"))


#: The type of a misfit, as its DynamoDB JSON says.
MISFIT_TAG: Sql = "regexp_extract(json, '^\\\\{\"([A-Z]+)\"', 1)"


def observed_misfits(misfits: DataFrame, said: Overrides = NO_OVERRIDES) -> list[Observed]:
    """Count types at the paths of misfits, as `exploded` gives them, and below them, as deep as in a sample's items."""
    counts, limited = _counts(misfits, levels_for(said)), 1
    rows = _first(counts)
    while len(rows) == MOST_PATHS and (deepest := len(rows[-1]["path"])) > limited:
        for depth in range(limited + 1, deepest + 1):
            counts = _with_fewer_names(counts, depth, said)
        rows, limited = _first(counts), deepest
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


def _first(counts: DataFrame) -> list[Row]:
    return counts.orderBy(F.size("path"), F.desc("count"), "path", "tag", "found_at").limit(MOST_PATHS).collect()


def _counts(misfits: DataFrame, levels: int) -> DataFrame:
    steps = transform(names("pointer"), _member)
    value = f"from_json(json, '{VALUE_TYPE}')"
    first = f"array({place(steps, value)})"
    found_at = f"size({steps}) AS found_at"
    found = misfits.selectExpr("example", found_at, f"explode({places(first, _naming(levels))}) AS c")
    counts = found.selectExpr("example", "found_at", f"explode({_count('c')}) AS c").where("c.tag IS NOT NULL")
    plain = counts.selectExpr("example", "found_at", "c.path", "c.tag", f"{plain_number('c.number')} AS number")
    integer, fraction, fits_long = room("number")
    return plain.groupBy("path", "tag", "found_at").agg(
        F.count(F.lit(1)).alias("count"),
        integer.alias("integer_digits"),
        fraction.alias("fraction_digits"),
        fits_long.alias("fits_long"),
        F.min("example").alias("example"),
    )


def _with_fewer_names(counts: DataFrame, depth: int, said: Overrides) -> DataFrame:
    """The counts with the names of levels at a depth limited: but for the most frequent, and those named by a rule, they are one.

    First come names of which only something inside does not fit: those have their columns.
    """
    name, around = f"path[{depth - 1}]", f"slice(path, 1, {depth - 1})"
    held = f"sum({when(f'size(path) = {depth}', 'count')}) OVER (PARTITION BY level, name) AS held"
    rank = "dense_rank() OVER (PARTITION BY level ORDER BY held DESC NULLS FIRST, name) AS rank"
    is_other = f"level IS NOT NULL AND rank > {MOST_NAMES} AND NOT {_is_named(depth, said)}"
    other = joined(around, f"array({_member(literal(OTHERS))})", f"slice(path, {depth + 1}, size(path))")
    level = when(f"startswith({name}, '{MEMBER}')", around)
    ranked = counts.selectExpr("*", f"{level} AS level", f"{name} AS name").selectExpr("*", held).selectExpr("*", rank)
    fewer = ranked.withColumn("path", F.expr(when(is_other, other, "path")))
    return fewer.groupBy("path", "tag", "found_at").agg(
        F.sum("count").alias("count"),
        F.max("integer_digits").alias("integer_digits"),
        F.max("fraction_digits").alias("fraction_digits"),
        F.min("fits_long").alias("fits_long"),
        F.min("example").alias("example"),
    )


def _is_named(depth: int, said: Overrides) -> Sql:
    """Whether something is said of the very place to which so many steps lead, or that the map around it is a struct."""
    named = [rule.path for rule in said.rules if len(rule.path) == depth and rule.path[-1] != ANY]
    named += [rule.path for rule in said.rules if len(rule.path) == depth - 1 and rule.type == "struct"]
    found = [" AND ".join(_is_step(i, name) for i, name in enumerate(path) if name != ANY) for path in named]
    return f"array_contains({call('array', *found)}, true)" if found else "false"


def _is_step(place: int, name: str) -> Sql:
    return f"path[{place}] = {literal(member_step(name))}"


def _count(found: Sql) -> Sql:
    path, value = f"{found}.place", f"{found}.value"
    tag = when(has_one_type(value), tag_of(value))
    element = _element(path)
    numbers = transform(strings(of(value, "NS")), lambda n: struct(path=element, tag="'N'", number=n))
    own = struct(path=path, tag=tag, number=of(value, "N"))
    return joined(f"array({own})", f"coalesce({numbers}, cast(array() AS {_COUNTS}))")
