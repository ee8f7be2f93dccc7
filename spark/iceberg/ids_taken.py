"""Ids of columns that are gone, kept from Iceberg 1.10, which would give them to the partitions that a MERGE reads.

It numbers these, while it reads, by the first ids that no schema of the table has. Where maintenance, or somebody, has let
old schemas go, those are ids of columns that data files still hold; and where such a column is a list, a map or a struct,
reading the file ends in a NullPointerException (``PruneColumns``), at every merge for good. So a schema in which nothing is
ever written or shown says that these ids are taken. It goes with the next schemas that maintenance lets go, and the next
merge makes it anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from pipeline.columns.in_table.field_ids import gone_ids
from spark.iceberg.table import Table


def take_gone_ids(spark: SparkSession, table: Table, metadata: Mapping[str, Any]) -> None:
    """Say that they are taken, in the metadata alone; where none are gone, which is nearly always, nothing is done.

    `metadata`: the table's of now. Raises Iceberg's CommitFailedException where somebody else commits meanwhile.
    """
    gone = gone_ids(metadata)
    if not gone:
        return
    iceberg, operations = spark._jvm.org.apache.iceberg, table.java().operations()
    fields = [{"id": id_, "name": f"#gone_{id_}", "required": False, "type": "int"} for id_ in gone]
    schema = iceberg.SchemaParser.fromJson(json.dumps({"type": "struct", "fields": fields}))
    now = operations.current()
    builder = iceberg.TableMetadata.buildFrom(now)
    iceberg.MetadataUpdate.AddSchema(schema).applyTo(builder)
    operations.commit(now, builder.build())
    table.metadata()  # Spark's catalog keeps the tables it has loaded
