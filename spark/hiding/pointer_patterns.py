"""Pointers of misfits as regular expressions, by the steps of the rules that speak of them."""

from __future__ import annotations

import re

from pipeline.columns.declared.overrides import ANY
from pipeline.columns.pointers import step


def whole(steps: str) -> str:
    """Steps of a pointer as the pattern of all of it; names may hold line ends, which a dot and $ know."""
    return rf"(?s)^{steps}\z"


def any_or(name: str) -> str:
    """A step of a pointer as a pattern."""
    return "[^/]*" if name == ANY else re.escape(step(name))
