"""What ends a verb with a sentence for a person, where it is no error of the product's."""

from __future__ import annotations

from pathlib import Path


class Failed(Exception):
    """Something on this machine was not as it must be; the text says what, and what to do."""


def unwritable(folder: Path, failed: OSError, kind: str) -> str:
    """What is said of a folder in which nothing can be written. `kind`: what another one is to be named of."""
    return f"{folder} cannot be made, or cannot be written to: {failed.strerror}; name another {kind}."
