"""What is shown of pairs that differ: the values that item and row hold at places, each cut where it is long."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.columns.names import MISFITS
from pipeline.columns.types import Field
from spark.expressions.leaves import at
from spark.expressions.pointers import below, step_of
from spark.expressions.sql import Sql, call, function, joined, let, literal, struct, transform, when
from spark.expressions.values import json_of
from spark.verifying.sameness import KEPT, TEXT, WRONG, of_table, pointer

#: Of a key that only one side has, values at so many places are shown.
_MOST_PLACES = 100


def held_places(fields: Sequence[Field]) -> Sql:
    """JSON pointers of what there is of a key that only one side has: an item's attributes, or a row's cells and misfits."""
    names = f"map_keys(from_json(from_json({TEXT}, 'struct<M:string>').M, 'map<string,string>'))"
    attributes = transform(names, lambda name: below("''", step_of(name)))
    cells = call("array", *(when(f"{_shown(f)} IS NOT NULL", literal(pointer(f))) for f in fields))
    of_row = joined(call("array_compact", cells), KEPT)
    return f"slice(array_sort(array_distinct(coalesce({attributes}, {of_row}))), 1, {_MOST_PLACES})"


def shown_values(fields: Sequence[Field]) -> Sql:
    """What item and row hold at the places in `WRONG`: path, DynamoDB JSON of the item, JSON of the row, cell and misfit.

    Columns of somebody's own may have one pointer between them, of no attribute: one that holds something is shown.
    """
    longest = 500
    names = call("array", *(literal(pointer(f)) for f in fields))
    cells = call("array", *(when(f"{_shown(f)} IS NOT NULL", json_of(_shown(f))) for f in fields))
    held = f"filter({cells}, {function(2, lambda cell, i: f'{cell} IS NOT NULL AND {names}[{i}] = p')})"
    misfit = f"`{of_table(MISFITS)}`[p]"
    # What a cell should not show beside a misfit is wrong there, however right the misfit is.
    table = let(f"{held}[0]", lambda cell: f"coalesce({cell} || ' and in {MISFITS} ' || {misfit}, {cell}, {misfit})")
    values = {"path": "p", "source": at(TEXT, "p"), "table": table}
    shown = struct(**{name: f"left({value}, {longest})" for name, value in values.items()})
    return f"transform(`{WRONG}`, p -> {shown})"


def _shown(field: Field) -> Sql:
    return f"`{of_table(field.name)}`"
