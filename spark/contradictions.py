"""Values that the type set for their column is not for, and what no hash can be made of: counted, and refused by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.column_types import Field
from pipeline.errors import OverrideContradicted
from pipeline.overrides import ANY, Override, Overrides, is_narrow, tags_of
from pipeline.pointers import step
from spark.protection import CONTRADICTED
from spark.sql import Sql, literal, one_of, when


def check_contradictions(misfits: DataFrame, columns: Overrides, key: Sequence[str]) -> None:
    """Refuse misfits (``pointer``, ``json``, and the key's columns) at places whose type the settings say.

    A number that no column of numbers can hold is a misfit as ever, where the type is just N. Raises OverrideContradicted.
    """
    if not columns.typed:
        return
    rules = {str(i): rule for i, rule in enumerate(columns.typed)}
    contradicted = " ".join(f"WHEN {_contradicts(rule)} THEN '{i}'" for i, rule in rules.items())
    first: Any = (
        misfits.selectExpr(*(f"`{name}`" for name in key), f"{_TAG} AS tag", f"CASE {contradicted} END AS rule")
        .where("rule IS NOT NULL")
        .groupBy("rule", "tag")
        .agg(F.count(F.lit(1)).alias("count"), F.min(F.to_json(F.struct(*key))).alias("example"))
        .orderBy(F.desc("count"), "rule", "tag")
        .first()
    )
    if first is not None:
        rule = rules[first["rule"]]
        found = f"values of type {first['tag']}: {first['count']}, such as that of {first['example']}"
        raise OverrideContradicted(f"columns[{rule.pointer!r}] sets the type {rule.type}, which does not hold {found}")


def hash_contradicted(rows: DataFrame, key: Sequence[Field], count: int) -> OverrideContradicted:
    """The refusal of rows of which so many have a map or list where a hash is set (``#contradicted``)."""
    keys = F.to_json(F.struct(*(field.name for field in key)))
    row: Any = rows.groupBy(CONTRADICTED).agg(F.min(keys).alias("example")).orderBy(CONTRADICTED).dropna().first()
    pointer = row[CONTRADICTED]
    return OverrideContradicted(
        f"columns[{pointer!r}] sets hash, which maps and lists have none of; items that hold one at such a place: {count}, "
        f"such as that of {row['example']}",
        f"In cdk.json, hash what is inside ({pointer}/{ANY}) or drop {pointer}, and deploy.",
    )


_TAG: Sql = "regexp_extract(json, '^\\\\{\"([A-Z]+)\"', 1)"


def _contradicts(rule: Override) -> Sql:
    place = "".join("/" + ("[^/]*" if name == ANY else re.escape(step(name))) for name in rule.path)
    at_place = f"pointer RLIKE {literal(f'^{place}$')}"
    if is_narrow(rule.type):
        return at_place
    return when(at_place, f"NOT {one_of(_TAG, tags_of(rule.type))}", "false")
