"""What somebody has set of a table and Spark could not write rows beside: taken back, in the metadata alone, before a job.

- Columns that are required, though items may lack them: of rows that lack them already, Spark shows zeros.
- That the table takes any columns: Spark resolves no MERGE into such a table.
- Partitions that share a name (`spark.iceberg.former_partitions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.columns.in_table.required import needlessly_required
from spark.iceberg.former_partitions import with_own_partition_names
from spark.iceberg.table import Table

_ANY_COLUMNS = "write.spark.accept-any-schema"


def writable(table: Table, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table's metadata once nothing of that is left; as it is where there is nothing, which is nearly always."""
    metadata = without_requirements(table, with_own_partition_names(table, metadata))
    if _ANY_COLUMNS not in metadata.get("properties", {}):
        return metadata
    table.remember({_ANY_COLUMNS: ""})
    return table.metadata()


def without_requirements(table: Table, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table's metadata once no column is required but the key's; as it is where none is, which is nearly always."""
    required = needlessly_required(metadata)
    if not required:
        return metadata
    java = table.java()
    update = java.updateSchema()
    for path in required:
        update = update.makeColumnOptional(path)
    # What is not required may not identify rows either.
    identifying = java.schema().identifierFieldNames()
    for path in {*identifying}.intersection(required):
        identifying.remove(path)
    update.setIdentifierFields(identifying).commit()
    return table.metadata()
