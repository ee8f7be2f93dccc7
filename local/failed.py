"""What ends a verb with a sentence for a person, where it is no error of the product's."""

from __future__ import annotations


class Failed(Exception):
    """Something on this machine was not as it must be; the text says what, and what to do."""
