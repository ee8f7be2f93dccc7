"""Typed rows from items: every value goes to its column, or to the row's misfits; none goes nowhere.

Attributes, and members of structs, that have no column are misfits too. NULL and absent are the same. Whether a row has
misfits at all is settled first, cheaply; only the few rows that may have any are parsed once more and looked through.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.column_names import MISFITS
from pipeline.column_types import Field
from spark.cells import CONTAINERS, cell
from spark.fitting import held_count, member_count
from spark.misfits import NO_VALUE, with_misfits
from spark.sql import Sql, member, when
from spark.values import NATIVE

#: The item as it was read. Internal columns carry a character that no column of the table can have.
ITEM = "#item"
_ITEM = f"`{ITEM}`"


def typed_rows(rows: DataFrame, flat: Sql, fields: Sequence[Field]) -> DataFrame:
    """Put a column for each field, and ``_misfits``, in the place of the item in ``#item``; all other columns stay.

    `flat`: how to read the item once more with values of depth 0, from a column that is there.
    """
    others = [f"`{name}`" for name in rows.columns if name != ITEM]
    names = [f"`{field.name}`" for field in fields]
    values = [f"`#value{i}`" for i in range(len(fields))]
    # Each step uses what the one before it has made more than once, so Spark keeps them apart.
    found = [f"{member(_ITEM, field.attribute)} AS {value}" for field, value in zip(fields, values)]
    valued = rows.selectExpr(*others, f"{member_count(_ITEM)} AS `#members`", *found)
    made = [f"{cell(field.type, value, NATIVE)} AS {name}" for field, value, name in zip(fields, values, names)]
    walked = [value for field, value in zip(fields, values) if field.type.kind in CONTAINERS]
    celled = valued.selectExpr(*others, "`#members`", *walked, *made)
    fits = f"`#members` = {held_count(values, names, fields, NATIVE)}"
    settled = celled.selectExpr(*others, *names, f"{fits} AS `#fits`")
    looked_through = with_misfits(settled, when("NOT `#fits`", flat), fields)
    return looked_through.selectExpr(*others, *names, MISFITS)


def has_no_value(found: Column) -> Column:
    """Whether a row's misfits show a value that is none of DynamoDB's; never null."""
    return F.coalesce(F.exists(F.map_values(found), lambda text: text == NO_VALUE), F.lit(False))
