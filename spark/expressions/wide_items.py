"""Items of many attributes: what a thousand columns would each do over and over is done once for each type.

The cells of one type are one list, made by one rule that goes through the values; a column of its own each has only at
the end, when the row is written or compared. Spark analyses, compiles and copies whatever is a column at every step. A
container's cell stands there beside the answer whether it is whole, both made in one go.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.types import ColumnType, Field
from spark.expressions.cells import cell
from spark.expressions.fitting import with_cell
from spark.expressions.sql import Sql, call, function, let, member, struct, transform, when
from spark.expressions.values import CONTAINERS, PARSED, VALUE_TYPE, has, opened, placed

#: Items with more than WIDE attributes, or more than MANY_SCALARS scalar ones, are read this way. Fewer are quicker each by
#: itself, and so are containers and sets, which are only carried along here, unless they are more than MANY_PARSED.
WIDE, MANY_SCALARS, MANY_PARSED = 200, 40, 100
#: The column of the lists. It carries a character that no column of the table can have.
PACKED = "#packed"
_PACKED = f"`{PACKED}`"
_APART = "apart"


@dataclass(frozen=True)
class Packed:
    """The columns of items: those in lists by type, those apart with a column each, the key's always among them."""

    lists: Mapping[ColumnType, Sequence[Field]]
    apart: Sequence[Field]

    @classmethod
    def of(cls, columns: Columns) -> Packed:
        """How a table's columns are packed: not at all, unless they are many."""
        parsed = [field for field in columns.attributes if field.type.kind in PARSED]
        if len(columns.all) <= WIDE and len(columns.attributes) - len(parsed) <= MANY_SCALARS:
            return cls({}, columns.all)
        own = frozenset(parsed if len(parsed) <= MANY_PARSED else ())
        lists: dict[ColumnType, list[Field]] = {}
        for field in columns.attributes:
            if field not in own:
                # Whatever plain JSON takes, its cells lie where a reader finds them who does not know.
                lists.setdefault(field.type.untagged, []).append(field)
        return cls(lists, [*columns.key, *(field for field in parsed if field in own)])

    @property
    def is_wide(self) -> bool:
        """Whether items are read this way at all; else all columns stand apart."""
        return bool(self.lists)

    def made_of(self, item: Sql) -> Sql:
        """The lists of an item's cells, and one of its values that have columns apart: a struct."""
        fields = [*self.apart, *(field for fields in self.lists.values() for field in fields)]
        longest = max(len(field.attribute) for field in fields)
        # What holds no attribute is looked for under a name that none has.
        names = [field.attribute or "_" * (2 + longest + i) for i, field in enumerate(fields)]
        return let(placed(call("to_json", item), dict.fromkeys(names, VALUE_TYPE)), self._lists)

    def _lists(self, found: Sql) -> Sql:
        places = itertools.count()

        def values(fields: Sequence[Field]) -> list[Sql]:
            return [_taken(field.type, f"{found}.c{next(places)}") for field in fields]

        lists = {_APART: call("array", *values(self.apart))}
        for i, (type_, fields) in enumerate(self.lists.items()):
            lists[f"list{i}"] = _list(type_, fields, values(fields))
        return struct(**lists)

    def value(self, item: Sql, place: int) -> Sql:
        """The value of a column that stands apart, by its place among those."""
        return f"{_PACKED}.{_APART}[{place}]" if self.is_wide else member(item, self.apart[place].attribute)

    @cached_property
    def cells(self) -> dict[str, Sql]:
        """Where the cells stand, by the names of their columns."""
        return {field.name: f"`{field.name}`" for field in self.apart} | {
            field.name: f"{_PACKED}.list{i}[{place}]{'.cell' if type_.kind in CONTAINERS else ''}"
            for i, (type_, fields) in enumerate(self.lists.items())
            for place, field in enumerate(fields)
        }

    @property
    def counts(self) -> list[Sql]:
        """How many cells the lists hold whole, as one number; none where there are no lists."""
        is_whole = function(1, lambda made: f"{made}.whole")

        def whole(place: int, type_: ColumnType) -> Sql:
            made = f"{_PACKED}.list{place}"
            return f"filter({made}, {is_whole})" if type_.kind in CONTAINERS else f"array_compact({made})"

        sizes = [f"size({whole(i, type_)})" for i, type_ in enumerate(self.lists)]
        # A sum of a thousand is too deep for the parser.
        total = call("aggregate", call("array", *sizes), "0", function(2, lambda found, size: f"{found} + {size}"))
        return [total] if sizes else []


def _list(type_: ColumnType, fields: Sequence[Field], values: Sequence[Sql]) -> Sql:
    """The cells of fields of one type, which differ at most by what plain JSON takes in them. `values`: those of the fields."""
    # Of plain JSON that stands in a cell itself, each value is already what its own field takes.
    same, *others = {field.type for field in fields if field.type.kind in PARSED} or {type_}
    if not others:
        return transform(call("array", *values), partial(_held, same))
    return call("array", *(let(value, partial(_held, field.type)) for field, value in zip(fields, values)))


def _held(type_: ColumnType, value: Sql) -> Sql:
    """What a list holds of a value."""
    made = with_cell if type_.kind in CONTAINERS else cell
    return let(opened(type_, value), partial(made, type_))


def _taken(type_: ColumnType, value: Sql) -> Sql:
    """A value, if plain JSON of its type of DynamoDB's is wanted; null for another."""
    return when(has(value, type_.tag), value) if type_.tag else value
