"""JSON pointers (RFC 6901): where in an item a value lies. A step is a name in a map or an index of a list. Pure."""

from __future__ import annotations

from collections.abc import Iterable

#: What a step spells otherwise, in the order in which it is spelled; it is read in the opposite one.
ESCAPES = (("~", "~0"), ("/", "~1"))


def step(name: str) -> str:
    """A name as a step of a pointer."""
    for character, escape in ESCAPES:
        name = name.replace(character, escape)
    return name


def pointer_to(names_: Iterable[str]) -> str:
    """The pointer to what lies under these names and indices, outermost first."""
    return "".join("/" + step(name) for name in names_)


def names(pointer: str) -> tuple[str, ...]:
    """The names and indices of a pointer's steps."""
    return tuple(_name(text) for text in pointer.split("/")[1:])


def _name(text: str) -> str:
    for character, escape in reversed(ESCAPES):
        text = text.replace(escape, character)
    return text
