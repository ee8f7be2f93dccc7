"""Typed rows from items: every value goes to its column, or to the row's misfits; none goes nowhere.

Attributes, and members of structs, that have no column are misfits too. NULL and absent are the same. Typing tells
cheaply which rows are odd, and keeps the items of those; only they are looked through for misfits, where there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import MapType, StringType

from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.names import MISFITS
from pipeline.columns.types import ColumnType, Field
from spark.expressions.cells import cell
from spark.expressions.fitting import is_null, level_fits, whole, with_cell
from spark.expressions.misfits import NO_VALUE, look
from spark.expressions.sql import Sql, let, member, true_counts, when
from spark.expressions.values import CONTAINERS, PARSED, WALKED, opened
from spark.expressions.wide_items import PACKED, Packed

#: The item as it was read. Internal columns carry a character that no column of the table can have.
ITEM = "#item"
_ITEM = f"`{ITEM}`"
#: Whether a line is a record.
READABLE = "#readable"
#: The item of a row into whose cells it did not go whole; null for all others.
ODD = "#odd"
#: Whether a row is such a one.
IS_ODD = "#is_odd"


class _Column(NamedTuple):
    """How a column is made of a value, step by step. `part`: where what one step has made stands in the next.

    By kind               `parsed`, in `part`    `cell`, made of    `asked`, in `part`    `whole`
    scalars               (not parsed)           the value          (not asked)           where there is a cell
    sets                  the elements           `part`             (not asked)           where there is a cell
    structs               the level              `part`             the level             told by level and cell
    lists, dictionaries   the cell, and `whole`  `part.cell`        `part.whole`          `part`
    """

    type: ColumnType
    value: Sql
    part: Sql

    @property
    def is_parsed(self) -> bool:
        """Whether the value is parsed before the cell is made."""
        return self.type.kind in PARSED

    @property
    def parsed(self) -> Sql:
        """What stands in `part`."""
        inside = opened(self.type, self.value)
        # Lambdas go through the objects that the parser made in a quarter of the time that they take for rows of Spark's.
        return let(inside, lambda found: with_cell(self.type, found)) if self.type.kind in WALKED else inside

    @property
    def cell(self) -> Sql:
        """The cell."""
        if self.type.kind in WALKED:
            return f"{self.part}.cell"
        return cell(self.type, self.part if self.is_parsed else self.value)

    @property
    def asked(self) -> Sql:
        """What is asked whether the cell is whole: of what was gone through already, only the answer is carried on."""
        return f"{self.part}.whole AS {self.part}" if self.type.kind in WALKED else self.part

    def whole(self, made: Sql) -> Sql:
        """Whether the cell was made of the value, with everything inside."""
        return self.part if self.type.kind in WALKED else whole(self.type, self.part, made)


def typed_rows(rows: DataFrame, columns: Columns, also: Sequence[Sql], often_null: Sequence[str] = ()) -> DataFrame:
    """Put the cells of the columns (`table_rows.cells`), and ``#odd``, in the place of the item; all other columns stay.

    What was odd can be looked through later (`looked_through`). `also`: more columns, made of ``#item`` and the columns
    of the key. `often_null`: attributes that are NULL in many items; of those, the odd ones are told more quickly then.
    """
    return _typed(rows, columns, often_null, lambda is_odd: [*also, f"{when(is_odd, _ITEM)} AS `{ODD}`"])


def rows_with_misfits(
    rows: DataFrame, columns: Columns, often_null: Sequence[str] = (), also: Sequence[Sql] = ()
) -> DataFrame:
    """The same with ``_misfits`` for ``#odd``: null where everything fits."""
    return looked_through(typed_rows(rows, columns, also, often_null), columns.all)


def rows_told_odd(
    rows: DataFrame, columns: Columns, often_null: Sequence[str] = (), also: Sequence[Sql] = ()
) -> DataFrame:
    """The same with ``#is_odd``, for rows of which none is; whoever says so counts the odd ones. ``_misfits`` is null."""
    return without_misfits(_typed(rows, columns, often_null, lambda is_odd: [*also, f"{is_odd} AS `{IS_ODD}`"]))


def _typed(
    rows: DataFrame, columns: Columns, often_null: Sequence[str], last: Callable[[Sql], Sequence[Sql]]
) -> DataFrame:
    """Put the cells of the columns, and `last`, in the place of the item in ``#item``; all other columns stay.

    `last`: given whether a row is odd, columns made of that, of ``#item`` and of the columns of the key.
    """
    others = [f"`{name}`" for name in rows.columns if name != ITEM]
    packed = Packed.of(columns)
    kept = [f"`{PACKED}`"] if packed.is_wide else []
    placed = rows.selectExpr(*others, _ITEM, f"{packed.made_of(_ITEM)} AS `{PACKED}`") if packed.is_wide else rows
    made = [_Column(field.type, packed.value(_ITEM, i), f"`#part{i}`") for i, field in enumerate(packed.apart)]
    names = [f"`{field.name}`" for field in packed.apart]
    # Each step uses what the one before it has made more than once, so Spark keeps them apart. A scalar value is found in
    # the item as quickly as in a column of its own; Spark does not look for it twice within a step.
    parsed = placed.selectExpr(*others, _ITEM, *kept, *(f"{c.parsed} AS {c.part}" for c in made if c.is_parsed))
    asked = [c.asked for c in made if c.type.kind in CONTAINERS]
    celled = parsed.selectExpr(*others, _ITEM, *kept, *asked, *(f"{c.cell} AS {n}" for c, n in zip(made, names)))
    held = [*true_counts([c.whole(name) for c, name in zip(made, names)]), *packed.counts]
    made_of = {field.attribute: packed.cells[field.name] for field in columns.all}
    nulls = [is_null(member(_ITEM, name), made_of.get(name)) for name in often_null]
    fits = level_fits(_ITEM, held, nulls)
    return celled.selectExpr(*others, *kept, *names, *last(f"NOT {fits}"))


def looked_through(rows: DataFrame, fields: Sequence[Field]) -> DataFrame:
    """Put ``_misfits`` in the place of ``#odd``: null where everything fits."""
    others = [f"`{name}`" for name in rows.columns if name != ODD]
    for name, made in look(f"`{ODD}`", fields).items():
        rows = rows.selectExpr(*others, f"{made} AS `{name}`")
    return rows


def without_misfits(rows: DataFrame) -> DataFrame:
    """Rows of which none is odd, with ``_misfits``, all null; whoever says so counts the odd ones."""
    return rows.withColumn(MISFITS, F.lit(None).cast(MapType(StringType(), StringType(), False)))


def has_no_value() -> Column:
    """Whether a row's misfits show a value that is none of DynamoDB's; never null."""
    return F.col(MISFITS).isNotNull() & F.exists(F.map_values(MISFITS), lambda text: text == NO_VALUE)


def unreadable() -> Column:
    """Whether a row's line is no record, or a value in it none of DynamoDB's; never null."""
    return ~F.col(READABLE) | has_no_value()


def misfit_count() -> Column:
    """How many misfits a row has."""
    return F.when(F.col(MISFITS).isNotNull(), F.size(MISFITS)).otherwise(0)
