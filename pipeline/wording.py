"""Wording: numbers with what they count, in the singular where there is one of it. Pure."""

from __future__ import annotations


def number_of(count: int, one: str, several: str = "") -> str:
    """The number and what it is of, such as 1 item and 2 items; `several` where an s behind `one` does not make it."""
    return f"{count} {one}" if count == 1 else f"{count} {several or one + 's'}"
