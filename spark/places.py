"""Places: every value of an item, however deep, as structs of where it lies (``place``) and the value (``value``).

Whoever looks at the places says what *where* is: a `Naming` makes it from the place around and a name or index. One
expression serves tables of any width, because it knows no column. Each level of depth is a column of its own, since
Spark's analysis of lambdas inside lambdas takes longer than everything else that a small merge does. What is
inside a value is parsed when it is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from spark.sql import Sql, call, function, struct, transform
from spark.values import VALUE_TYPE, elements, members


@dataclass(frozen=True)
class Naming:
    """How places are named, and how deep they go.

    `type`: the Spark type of a name. `member`, `element`: the name of a value inside, from the name around it and its
    own name or index. `entered`: whether what is inside a value has places, from its name and itself.
    """

    type: str
    member: Callable[[Sql, Sql], Sql]
    element: Callable[[Sql, Sql], Sql]
    entered: Callable[[Sql, Sql], Sql]
    levels: int


def column(level: int) -> Sql:
    """The column that holds the places of a level; the first is 1."""
    return f"`#places{level}`"


def with_places(rows: DataFrame, first: Sql, naming: Naming) -> DataFrame:
    """Add the columns `column(1)` to `column(naming.levels)`: arrays of places, null where `first` is."""
    found = rows.selectExpr("*", f"{first} AS {column(1)}")
    for level in range(2, naming.levels + 1):
        found = found.selectExpr("*", f"{_inside(column(level - 1), naming)} AS {column(level)}")
    return found


def of_members(level: Sql, root: Sql, naming: Naming) -> Sql:
    """The places of a level's members."""
    return transform(f"map_entries({level})", lambda e: place(naming.member(root, f"{e}.key"), f"{e}.value"))


def place(name: Sql, value: Sql) -> Sql:
    """A value with the name of its place."""
    return struct(place=name, value=value)


def _inside(places: Sql, naming: Naming) -> Sql:
    none = f"cast(array() AS array<struct<place:{naming.type},value:{VALUE_TYPE}>>)"

    def children(outer: Sql) -> Sql:
        name, value = f"{outer}.place", f"{outer}.value"
        of_map = of_members(members(value), name, naming)
        numbered = function(2, lambda v, i: place(naming.element(name, f"string({i})"), v))
        of_list = call("transform", elements(value), numbered)
        return f"concat(coalesce({of_map}, {none}), coalesce({of_list}, {none}))"

    entered = function(1, lambda outer: naming.entered(f"{outer}.place", f"{outer}.value"))
    return f"flatten({transform(f'filter({places}, {entered})', children)})"
