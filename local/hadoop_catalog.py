"""Where a Hadoop catalog, which is nothing but folders, keeps what it knows of a table."""

from __future__ import annotations

from pathlib import Path


def newest_metadata(table_folder: Path) -> Path | None:
    """The newest metadata file of a table; None where there is no table."""
    versions = (table_folder / "metadata").glob("v*.metadata.json")
    return max(versions, key=lambda file: int(file.name[1:].partition(".")[0]), default=None)
