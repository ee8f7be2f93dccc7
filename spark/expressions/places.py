"""Places: every value of an item, however deep, as structs of where it lies (``place``) and the value (``value``).

Whoever looks at the places says what *where* is: a `Naming` makes it from the place around and a name or index. One
expression serves tables of any width and depth, because it knows no column and unfolds a level at a time by `aggregate`.
What is inside a value is parsed when it is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spark.expressions.sql import Sql, call, function, joined, struct, transform, unfolded, when
from spark.expressions.values import VALUE_TYPE, elements, members


@dataclass(frozen=True)
class Naming:
    """How places are named, and how deep they go.

    `type`: the Spark type of a name. `member`, `element`: the name of a value inside, from the name around it and its
    own name or index. `entered`: whether what is inside a value has places, from its name and itself; null for no.
    `levels`: of an item's members the first.
    """

    type: str
    member: Callable[[Sql, Sql], Sql]
    element: Callable[[Sql, Sql], Sql]
    entered: Callable[[Sql, Sql], Sql]
    levels: int


def places(first: Sql, naming: Naming) -> Sql:
    """The places of a first level and of all that is inside them, down to the last level; null where `first` is."""
    return unfolded(first, naming.levels - 1, lambda outer: _with_inside(outer, naming))


def of_members(level: Sql, root: Sql, naming: Naming) -> Sql:
    """The places of a level's members."""
    return transform(f"map_entries({level})", lambda e: place(naming.member(root, f"{e}.key"), f"{e}.value"))


def place(name: Sql, value: Sql, is_open: Sql = "false") -> Sql:
    """A value with the name of its place. `is_open`: what is inside has places already."""
    return struct(place=name, value=value, is_open=is_open)


def _with_inside(outer: Sql, naming: Naming) -> Sql:
    """A place, with those of what is inside if they are still to be made."""
    name, value = f"{outer}.place", f"{outer}.value"
    none = f"cast(array() AS array<struct<place:{naming.type},value:{VALUE_TYPE},is_open:boolean>>)"
    of_map = of_members(members(value), name, naming)
    numbered = function(2, lambda v, i: place(naming.element(name, f"CAST({i} AS STRING)"), v))
    of_list = call("transform", elements(value), numbered)
    itself = f"array({place(name, value, 'true')})"
    inside = joined(itself, f"coalesce({of_map}, {of_list}, {none})")
    return when(when(f"{outer}.is_open", "false", naming.entered(name, value)), inside, f"array({outer})")
