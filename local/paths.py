"""Paths as a person has typed them."""

from __future__ import annotations

import os
from pathlib import Path


def meant(text: str) -> Path:
    """The path that is meant: a shell leaves the ~ of ``--warehouse=~/here`` as it is; one of nobody's home stays."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 - that of Path raises where there is no such home
