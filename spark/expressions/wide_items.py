"""Items of many attributes: what a thousand columns would each do over and over is done once for each type.

The cells of one type are one list, made by one rule that goes through the values; a column of its own each has only at
the end, when the row is written or compared. Spark analyses, compiles and copies whatever is a column at every step.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from pipeline.columns.table_columns import Columns
from pipeline.columns.types import ColumnType, Field
from spark.expressions.cells import cell
from spark.expressions.sql import Sql, call, let, member, struct, transform, when
from spark.expressions.values import PARSED, VALUE_TYPE, has, placed

#: Items with more than WIDE attributes, or more than MANY_SCALARS scalar ones, are read this way. Fewer are quicker each by
#: itself, and so are containers, which are only carried along here.
WIDE, MANY_SCALARS = 200, 40
#: The column of the lists. It carries a character that no column of the table can have.
PACKED = "#packed"
_PACKED = f"`{PACKED}`"
_APART = "apart"


@dataclass(frozen=True)
class Packed:
    """The columns of items: scalar ones by type, those apart with a column each, the key's always among them.

    `is_wide`: whether items are read this way at all; else all stand apart.
    """

    lists: Mapping[ColumnType, Sequence[Field]]
    apart: Sequence[Field]
    is_wide: bool

    @classmethod
    def of(cls, columns: Columns) -> Packed:
        """How a table's columns are packed: not at all, unless they are many."""
        lists: dict[ColumnType, list[Field]] = {}
        apart = list(columns.key)
        for field in columns.attributes:
            # Whatever plain JSON takes, its cells lie where a reader finds them who does not know.
            own = apart if field.type.kind in PARSED else lists.setdefault(replace(field.type, tag=""), [])
            own.append(field)
        is_wide = len(columns.all) > WIDE or len(columns.all) - len(apart) > MANY_SCALARS
        return cls(lists, apart, is_wide=True) if is_wide else cls({}, columns.all, is_wide=False)

    def made_of(self, item: Sql) -> Sql:
        """The lists of an item's cells, and one of its values that have columns apart: a struct."""
        fields = [*self.apart, *(field for fields in self.lists.values() for field in fields)]
        longest = max(len(field.attribute) for field in fields)
        # What holds no attribute is looked for under a name that none has.
        names = [field.attribute or "_" * (2 + longest + i) for i, field in enumerate(fields)]
        return let(placed(call("to_json", item), dict.fromkeys(names, VALUE_TYPE)), self._lists)

    def _lists(self, found: Sql) -> Sql:
        places = itertools.count()

        def values(fields: Sequence[Field]) -> Sql:
            return call("array", *(_taken(field.type, f"{found}.c{next(places)}") for field in fields))

        lists = {_APART: values(self.apart)}
        for i, (type_, fields) in enumerate(self.lists.items()):
            lists[f"list{i}"] = transform(values(fields), partial(cell, type_))
        return struct(**lists)

    def value(self, item: Sql, place: int) -> Sql:
        """The value of a column that stands apart, by its place among those."""
        return f"{_PACKED}.{_APART}[{place}]" if self.is_wide else member(item, self.apart[place].attribute)

    @cached_property
    def cells(self) -> dict[str, Sql]:
        """Where the cells stand, by the names of their columns."""
        return {field.name: f"`{field.name}`" for field in self.apart} | {
            field.name: f"{_PACKED}.list{i}[{place}]"
            for i, fields in enumerate(self.lists.values())
            for place, field in enumerate(fields)
        }

    @property
    def counts(self) -> list[Sql]:
        """How many cells each list holds."""
        return [f"size(array_compact({_PACKED}.list{i}))" for i in range(len(self.lists))]


def _taken(type_: ColumnType, value: Sql) -> Sql:
    """A value, if plain JSON of its type of DynamoDB's is wanted; null for another."""
    return when(has(value, type_.tag), value) if type_.tag else value
