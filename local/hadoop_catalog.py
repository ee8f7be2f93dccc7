"""Where a Hadoop catalog, which is nothing but folders, keeps what it knows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.table.metadata_file import metadata_in


def newest_metadata(table_folder: Path) -> Path | None:
    """The newest metadata file of a table; None where there is no table. What has no number Iceberg passes over, too."""
    versions = {_version(file.name): file for file in (table_folder / "metadata").glob("v*.metadata.json")}
    versions.pop("", None)
    return versions[max(versions, key=int)] if versions else None


def _version(name: str) -> str:
    """The number in a metadata file's name; empty where there is none, as in that of somebody's copy."""
    number = name[1:].partition(".")[0]
    return number if number.isdecimal() else ""


def read_metadata(table_folder: Path) -> dict[str, Any]:
    """The content of the newest metadata file of a table; empty where there is no table."""
    newest = newest_metadata(table_folder)
    return metadata_in(newest.read_bytes()) if newest else {}
