"""Parts of a transaction on a table: properties that are set, columns that go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: Before the path of the column, or nested field, for which somebody has said what is measured of its values.
_MEASURED = "write.metadata.metrics.column."


def set_properties(transaction: Any, properties: Mapping[str, str]) -> None:
    """Set table properties; an empty value removes one.

    Those that say what is measured of a field go once the field is gone: beside one of them Iceberg lets no property be set.
    It removes that of a column which goes, and leaves those of the fields inside the column.
    """
    stale = dict.fromkeys(_of_gone_fields(transaction.table()), "")
    update = transaction.updateProperties()
    for name, value in {**stale, **properties}.items():
        update = update.set(name, value) if value else update.remove(name)
    update.commit()


def _of_gone_fields(table: Any) -> list[str]:
    measured = [name for name in dict(table.properties()) if name.startswith(_MEASURED)]
    return [name for name in measured if table.schema().findField(name[len(_MEASURED) :]) is None]


def without_columns(transaction: Any, names: Iterable[str]) -> Any:
    """A change of the schema by which columns go, yet to be committed."""
    update = transaction.updateSchema()
    for name in names:
        update = update.deleteColumn(name)
    return update
