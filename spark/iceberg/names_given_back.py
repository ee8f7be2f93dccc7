"""Columns to which somebody has given names that a load would take for others': the product's own, and the key's.

They get theirs back before a load looks at the table. All that they hold is there again then, for readers too. Columns that
somebody has added of types that Spark does not read go then: beside one it could write nothing, and nothing stays in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.columns.in_table.own_columns import names_to_load
from pipeline.columns.in_table.table_columns import is_made_here
from pipeline.columns.in_table.unread import unread
from pipeline.identity import KeyAttribute
from spark.iceberg.table import Table
from spark.iceberg.updates import without_columns


def with_names_given_back(
    table: Table, metadata: Mapping[str, Any], key: tuple[KeyAttribute, ...]
) -> Mapping[str, Any]:
    """The table's metadata once they have got them; as it is where there is nothing to do, which is nearly always."""
    if not is_made_here(metadata):
        return metadata
    renamed, gone = names_to_load(metadata, key), unread(metadata)
    if not (renamed or gone):
        return metadata
    # At once: two may have exchanged their names.
    update = without_columns(table.java(), gone)
    for name, other in renamed.items():
        update = update.renameColumn(name, other)
    update.commit()
    return table.metadata()
