"""Columns and nested fields that a table gets, also such as Iceberg takes for others that the table has.

It knows what lies in the maps of a list, or of a dictionary, by a short name besides, without the step into them:
``l.element.x`` is ``x`` in what is called ``element`` in a list's maps, until these have an ``x`` of their own, which it
refuses to add under that name. So that is added under another name, and gets its own then.
"""

from __future__ import annotations

import json
from collections.abc import Set
from dataclasses import replace
from typing import Any

from pyspark.sql import SparkSession

from pipeline.columns.in_table.schema_fields import ids_by_path
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.names import REPLACEMENT
from pipeline.columns.types import ColumnType, Field, part_inside
from spark.iceberg.schemas import table_schema
from spark.java import iceberg_schema


def add_fields(spark: SparkSession, transaction: Any, columns: Columns) -> None:
    """Add what the table lacks, in a transaction; nothing is changed or removed."""
    wanted = iceberg_schema(spark, table_schema(columns))
    taken = _taken_for_others(spark, transaction.table().schema(), wanted)
    if taken:
        apart = replace(columns, attributes=_apart(columns.attributes, taken))
        wanted = iceberg_schema(spark, table_schema(apart))
    transaction.updateSchema().unionByNameWith(wanted).commit()
    if taken:
        update = transaction.updateSchema()
        for path in taken:
            update = update.renameColumn(path + REPLACEMENT, path.rpartition(".")[2])
        update.commit()


def _taken_for_others(spark: SparkSession, there: Any, wanted: Any) -> frozenset[str]:
    """The paths of the fields to be added under which Iceberg finds other ones."""
    known, all_ = _paths(spark, there), _paths(spark, wanted)
    new = (path for path in all_ - known if path.rpartition(".")[0] in known)
    return frozenset(path for path in new if there.findField(path) is not None)


def _paths(spark: SparkSession, schema: Any) -> set[str]:
    raw = json.loads(spark._jvm.org.apache.iceberg.SchemaParser.toJson(schema))
    return set(ids_by_path(raw["fields"]))


def _apart(fields: tuple[Field, ...], taken: Set[str], outer: str = "") -> tuple[Field, ...]:
    """The fields with other names for those at the paths that are taken."""
    return tuple(
        replace(
            field,
            name=field.name + (REPLACEMENT if outer + field.name in taken else ""),
            type=_apart_inside(field.type, taken, outer + field.name),
        )
        for field in fields
    )


def _apart_inside(type_: ColumnType, taken: Set[str], path: str) -> ColumnType:
    if type_.element:
        return replace(type_, element=_apart_inside(type_.element, taken, f"{path}.{part_inside(type_)}"))
    return replace(type_, fields=_apart(type_.fields, taken, f"{path}."))
