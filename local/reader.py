"""An independent reader of the table: PyIceberg, which shares no code with the jobs that write it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.catalog import load_catalog
from pyiceberg.io import pyarrow as arrow_io
from pyiceberg.table import StaticTable
from pyiceberg.table import Table as IcebergTable

from local.compare import Difference, Table, differences
from local.control import LocalAws
from local.hadoop_catalog import newest_metadata
from pipeline.columns.in_table.table_columns import KINDS
from pipeline.table.marker import NAMES


class _WithNulls(arrow_io.ArrowProjectionVisitor):  # type: ignore[misc]  # PyIceberg's own is not typed
    """What PyIceberg makes of a file's columns, with the nulls that it loses.

    A null list of structs, and a null map to structs, it reads as empty ones (apache/iceberg-python#3833, PyIceberg 0.12).
    """

    def list(self, list_type: Any, array: pa.Array | None, values: pa.Array | None) -> pa.Array | None:
        """The column of a list."""
        return _null_where(array, super().list(list_type, array, values))

    def map(self, map_type: Any, array: pa.Array | None, keys: pa.Array | None, values: pa.Array | None) -> Any:
        """The column of a map."""
        return _null_where(array, super().map(map_type, array, keys, values))


def _null_where(before: pa.Array | None, after: pa.Array | None) -> pa.Array | None:
    if before is None or after is None or before.null_count == after.null_count:
        return after
    return pc.if_else(before.is_valid(), after, pa.scalar(None, after.type))


@contextmanager
def nulls_kept() -> Iterator[None]:
    """While it lasts, PyIceberg reads null lists and maps of structs as null: it has no place to hand its visitor over.

    For one thread at a time.
    """
    its_own = arrow_io.ArrowProjectionVisitor
    arrow_io.ArrowProjectionVisitor = _WithNulls
    try:
        yield
    finally:
        arrow_io.ArrowProjectionVisitor = its_own


def read_through_glue(aws: LocalAws, database: str, name: str) -> IcebergTable:
    """Open a table through the local AWS's Glue catalog and S3."""
    environment = aws.environment
    catalog = load_catalog(
        "local",
        **{
            "type": "glue",
            "glue.endpoint": aws.endpoint,
            "glue.region": environment["AWS_REGION"],
            "glue.access-key-id": environment["AWS_ACCESS_KEY_ID"],
            "glue.secret-access-key": environment["AWS_SECRET_ACCESS_KEY"],
            "s3.endpoint": aws.endpoint,
            "s3.region": environment["AWS_REGION"],
            "s3.access-key-id": environment["AWS_ACCESS_KEY_ID"],
            "s3.secret-access-key": environment["AWS_SECRET_ACCESS_KEY"],
            "s3.force-virtual-addressing": "false",
        },
    )
    return catalog.load_table((database, name))


def read_folder(table_folder: Path) -> IcebergTable:
    """Open a table of a Hadoop catalog by its newest metadata file."""
    return StaticTable.from_metadata(str(newest_metadata(table_folder)))


def rows(table: IcebergTable) -> list[dict[str, Any]]:
    """Every row, with decimals, bytes and nested values as Python values."""
    with nulls_kept():
        read: list[dict[str, Any]] = table.scan().to_arrow().to_pylist()
    return read


def compare(items: list[Mapping[str, Any]], table: IcebergTable, key: tuple[str, ...]) -> list[Difference]:
    """Every difference between source items and the table."""
    return list(differences(items, rows(table), columns(table), key))


def columns(table: IcebergTable) -> Table:
    """The table's columns by exact attribute name."""
    names, kinds = (json.loads(table.properties.get(told, "{}")) for told in (NAMES, KINDS))
    return Table(table.schema(), names, kinds)


def scan_source(aws: LocalAws, name: str) -> list[Mapping[str, Any]]:
    """Every item of a source table, through an ordinary Scan."""
    pages = aws.client("dynamodb").get_paginator("scan").paginate(TableName=name)
    return [item for page in pages for item in page["Items"]]
