"""Keys: every record carries them, with the types that the source table declares, and they fit their columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.columns.profile import Observed, member_step
from pipeline.columns.types import Field
from pipeline.identity import KeyAttribute
from spark.expressions.cells import cell
from spark.expressions.numbers import plain_number, room
from spark.expressions.sql import Sql, member
from spark.expressions.values import of

#: Whether a record or item lacks its key; a column of rows that are being judged.
LACKS_KEY = "#lacks_key"


def key_cells(level: Sql, fields: Sequence[Field]) -> list[Column]:
    """The key's columns, from a level that holds its attributes: numbers by value, however they are spelled."""
    return [F.expr(cell(field.type, member(level, field.attribute))) for field in fields]


def lacks_key(level: Sql, key: Sequence[KeyAttribute]) -> Sql:
    """Whether a level lacks an attribute of the key, or carries it with another type than declared; never null."""
    return " OR ".join(f"{of(member(level, part.name), part.type)} IS NULL" for part in key)


def has_cells(fields: Sequence[Field]) -> Column:
    """Whether a row has a cell in every column of the key."""
    return reduce(and_, (F.col(field.name).isNotNull() for field in fields))


def shown(key: Sequence[Field]) -> Column:
    """A row's key as JSON, by the names of its columns, as reports and refusals show it."""
    return F.to_json(F.struct(*(field.name for field in key)))


def of_several(rows: DataFrame, key: Sequence[Field]) -> DataFrame:
    """The keys that several rows have, in the key's columns."""
    counted = rows.groupBy(*(field.name for field in key)).agg(F.count(F.lit(1)).alias("#rows"))
    return counted.where("`#rows` > 1")


def observed_room(items: DataFrame, level: Sql, key: Sequence[KeyAttribute], count: int) -> list[Observed]:
    """How much room the key's numbers need, as counts for a profile. `count`: the items with a number that does not fit.

    Reads all items: those that fit need their room as well.
    """
    numbers = [part.name for part in key if part.type == "N"]
    if not numbers:
        return []
    plain = [f"{plain_number(of(member(level, name), 'N'))} AS n{i}" for i, name in enumerate(numbers)]
    rooms = [F.struct(*room(f"n{i}")) for i in range(len(numbers))]
    found: Any = items.selectExpr(*plain).agg(*rooms).first()
    return [
        Observed((member_step(name),), "N", count, *found[i])
        for i, name in enumerate(numbers)
        if found[i][0] is not None
    ]
