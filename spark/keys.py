"""Keys: every record carries them, with the types that the source table declares, and they fit their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipeline.column_profile import MEMBER, Observed
from pipeline.column_types import ColumnType, Field, Kind
from pipeline.identity import KeyAttribute
from spark.cells import cell
from spark.numbers import number, plain_number, room
from spark.sql import Sql, let, member
from spark.values import of, opened


def key_cells(level: Sql, fields: Sequence[Field]) -> list[Column]:
    """The key's columns, from a level that holds its attributes; its numbers need not be plain."""
    return [F.expr(_plain_cell(f.type, member(level, f.attribute))) for f in fields]


def _plain_cell(type_: ColumnType, value: Sql) -> Sql:
    if type_.kind not in (Kind.LONG, Kind.DECIMAL, Kind.DIGITS):
        return cell(type_, opened(type_, value))
    return let(plain_number(of(value, "N")), lambda plain: number(type_, plain, is_plain=True))


def lacks_key(level: Sql, key: Sequence[KeyAttribute]) -> Column:
    """Whether a level lacks an attribute of the key, or carries it with another type than declared; never null."""
    return F.expr(" OR ".join(f"{of(member(level, part.name), part.type)} IS NULL" for part in key))


def has_cells(fields: Sequence[Field]) -> Column:
    """Whether a row has a cell in every column of the key."""
    return reduce(and_, (F.col(field.name).isNotNull() for field in fields))


def key_room(key: Sequence[KeyAttribute]) -> list[Column]:
    """Aggregates over ``#key_number<i>``: how much room the key's numbers need. Read by `observed_room`."""
    return [
        column.alias(f"room{i}{j}")
        for i, part in enumerate(key)
        if part.type == "N"
        for j, column in enumerate(room(f"`#key_number{i}`"))
    ]


def key_number_columns(level: Sql, key: Sequence[KeyAttribute]) -> list[Column]:
    """The key's numbers as plain text, in ``#key_number<i>``."""
    return [
        F.expr(plain_number(of(member(level, part.name), "N"))).alias(f"#key_number{i}")
        for i, part in enumerate(key)
        if part.type == "N"
    ]


def observed_room(key: Sequence[KeyAttribute], found: Mapping[str, Any], count: int) -> list[Observed]:
    """What `key_room` has found, as counts for a profile."""
    return [
        Observed((MEMBER + part.name,), "N", count, found[f"room{i}0"], found[f"room{i}1"], found[f"room{i}2"])
        for i, part in enumerate(key)
        if part.type == "N" and found[f"room{i}0"] is not None
    ]
