"""Words for the tests of columns: items of a source table, what is seen of them, and the columns that come of it."""

from __future__ import annotations

from typing import Any

from pipeline.columns.growth import first_columns
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.item_sample import observed_items
from pipeline.columns.pointers import names
from pipeline.columns.profile import Path, Profile, member_step
from pipeline.columns.types import ColumnType
from pipeline.identity import KeyAttribute

KEY = (KeyAttribute("pk", "S"), KeyAttribute("sk", "N"))
S, N = {"S": "x"}, {"N": "1"}


def item(**attributes: Any) -> dict[str, Any]:
    """An item with the key, and these attributes."""
    return {"pk": S, "sk": N, **attributes}


def profile(*items: dict[str, Any]) -> Profile:
    """What is seen of items."""
    return Profile.of(observed_items(items))


def columns(*items: dict[str, Any]) -> Columns:
    """The columns of a table that was loaded from items."""
    return first_columns(KEY, profile(*items))


def named(found: Columns) -> dict[str, ColumnType]:
    """The columns' types by their names."""
    return {field.name: field.type for field in found.all}


def steps_of(pointer: str) -> Path:
    """A JSON pointer as steps; an index reads as a member, since a pointer does not say which it is."""
    return tuple(map(member_step, names(pointer)))
