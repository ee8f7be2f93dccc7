"""Where a Hadoop catalog, which is nothing but folders, keeps what it knows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.table.metadata_file import metadata_in


def newest_metadata(table_folder: Path) -> Path | None:
    """The newest metadata file of a table; None where there is no table. What has no number Iceberg passes over, too."""
    files = (table_folder / "metadata").glob("v*.metadata.json")
    return max(
        (file for file in files if _version(file).isdecimal()), key=lambda file: int(_version(file)), default=None
    )


def _version(file: Path) -> str:
    """What stands for the number in a metadata file's name; a word in that of somebody's copy."""
    return file.name[1:].partition(".")[0]


def read_metadata(table_folder: Path) -> dict[str, Any]:
    """The content of the newest metadata file of a table; empty where there is no table."""
    newest = newest_metadata(table_folder)
    return metadata_in(newest.read_bytes()) if newest else {}


def location(metadata: dict[str, Any]) -> Path:
    """Where a table lies by its own word: Iceberg writes the folder as it stands, after ``file:``."""
    return Path(metadata["location"].removeprefix("file:"))
