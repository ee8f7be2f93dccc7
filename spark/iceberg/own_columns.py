"""The product's own columns that somebody has given another name, which would be taken for columns of attributes.

They get their names back before a load looks at the table. All that they hold is there again then, for readers too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.columns.own_columns import renamed_own
from pipeline.columns.table_columns import is_made_here
from spark.iceberg.table import Table


def with_own_columns(table: Table, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table's metadata once they have; as it is where there is nothing to do, which is nearly always."""
    renamed = renamed_own(metadata) if is_made_here(metadata) else {}
    if not renamed:
        return metadata
    update = table.java().updateSchema()
    for name, own in renamed.items():
        update = update.renameColumn(name, own)
    update.commit()
    return table.metadata()
