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
from spark.cells import cell
from spark.fitting import level_fits
from spark.misfits import NO_VALUE, with_misfits
from spark.sql import Sql, forall, member, when
from spark.values import NATIVE, has_one_type

#: The item as it was read. Internal columns carry a character that no column of the table can have.
ITEM = "#item"
_ITEM = f"`{ITEM}`"


def typed_rows(rows: DataFrame, flat: Sql, fields: Sequence[Field]) -> DataFrame:
    """Add a column for each field, and ``_misfits``, made from the item in ``#item``; all other columns stay.

    `flat`: how to read the item once more with values of depth 0, from a column that is there.
    """
    one_type = forall(f"map_values({_ITEM})", has_one_type)
    fits = f"({level_fits(_ITEM, fields, NATIVE)} AND {one_type})"
    settled = rows.selectExpr("*", f"{fits} AS `#fits`")
    looked_through = with_misfits(settled, when("NOT `#fits`", flat), fields)
    cells = [f"{cell(f.type, member(_ITEM, f.attribute), NATIVE)} AS `{f.name}`" for f in fields]
    kept = [f"`{name}`" for name in rows.columns]
    return looked_through.selectExpr(*kept, *cells, MISFITS)


def has_no_value(found: Column) -> Column:
    """Whether a row's misfits show a value that is none of DynamoDB's; never null."""
    return F.coalesce(F.exists(F.map_values(found), lambda text: text == NO_VALUE), F.lit(False))
