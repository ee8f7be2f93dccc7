"""Columns to which somebody has given names that a load would take for others': the product's own, and the key's.

They get theirs back before a load looks at the table. All that they hold is there again then, for readers too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.columns.own_columns import names_to_load
from pipeline.columns.table_columns import is_made_here
from pipeline.identity import KeyAttribute
from spark.iceberg.table import Table


def with_names_given_back(
    table: Table, metadata: Mapping[str, Any], key: tuple[KeyAttribute, ...]
) -> Mapping[str, Any]:
    """The table's metadata once they have got them; as it is where there is nothing to do, which is nearly always."""
    renamed = names_to_load(metadata, key) if is_made_here(metadata) else {}
    if not renamed:
        return metadata
    # At once: two may have exchanged their names.
    update = table.java().updateSchema()
    for name, other in renamed.items():
        update = update.renameColumn(name, other)
    update.commit()
    return table.metadata()
