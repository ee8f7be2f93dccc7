"""The properties with which tables are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FORMAT = "format-version"
_OLDEST_FORMAT = 2  # Iceberg's first in which rows go without their files being written anew
_PROPERTIES = {
    "write.delete.mode": "merge-on-read",
    "write.update.mode": "merge-on-read",
    "write.merge.mode": "merge-on-read",
    "write.merge.isolation-level": "serializable",
    "write.distribution-mode": "hash",
    "write.target-file-size-bytes": str(256 * 1024 * 1024),
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "100",
}


def first_properties(replaced: Mapping[str, Any]) -> dict[str, str]:
    """The properties of a table that is made. `replaced`: the metadata of the one in its place, empty for none.

    A table keeps the format that somebody has upgraded it to: Iceberg takes none back to an older one.
    """
    if replaced.get(_FORMAT, 0) >= _OLDEST_FORMAT:
        return _PROPERTIES
    return {_FORMAT: str(_OLDEST_FORMAT), **_PROPERTIES}
