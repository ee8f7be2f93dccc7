"""Parts of a transaction on a table: properties that are set, columns that go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def set_properties(transaction: Any, properties: Mapping[str, str]) -> None:
    """Set table properties; an empty value removes one."""
    update = transaction.updateProperties()
    for name, value in properties.items():
        update = update.set(name, value) if value else update.remove(name)
    update.commit()


def without_columns(transaction: Any, names: Iterable[str]) -> Any:
    """A change of the schema by which columns go, yet to be committed."""
    update = transaction.updateSchema()
    for name in names:
        update = update.deleteColumn(name)
    return update
