"""A second reader of the table that shares no code with the jobs, nor with PyIceberg: DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import duckdb

from local.hadoop_catalog import newest_metadata

#: The extension that reads Iceberg tables, after the one it reads their manifests with. They come as packages.
_ICEBERG = ("avro", "iceberg")


@contextmanager
def connected(*extensions: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB with these extensions, loaded in this order; it fetches none by itself."""
    with duckdb.connect(
        config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    ) as connection:
        for name in extensions:
            package = files(f"duckdb_extension_{name}") / "extensions" / f"v{duckdb.__version__}"
            with as_file(package / f"{name}.duckdb_extension") as extension:
                connection.load_extension(str(extension))
        yield connection


def rows_of(found: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """What a statement has found, by the names of its columns."""
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def read_by_duckdb(table_folder: Path) -> list[dict[str, Any]]:
    """Every row of a table of a Hadoop catalog, by its newest metadata file."""
    with connected(*_ICEBERG) as connection:
        return rows_of(connection.execute("SELECT * FROM iceberg_scan(?)", [str(newest_metadata(table_folder))]))
