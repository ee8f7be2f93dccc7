"""Iceberg's metadata files: JSON, which a table's property ``write.metadata.compression-codec`` may have packed. Pure."""

from __future__ import annotations

import gzip
import json
from typing import Any

_GZIP = b"\x1f\x8b"


def metadata_in(content: bytes) -> dict[str, Any]:
    """What a metadata file says. Its name may not tell whether it is packed; its first bytes do."""
    found: dict[str, Any] = json.loads(gzip.decompress(content) if content.startswith(_GZIP) else content)
    return found
