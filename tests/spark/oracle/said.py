"""What is said of one path of a table's columns, read and matched by the words of docs/settings.md: none of the jobs' code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

#: The step of a path that is any element of a list, or any name of a map.
ANY = "*"
#: The types of values, DynamoDB's, that a word for a column's own type takes; of its other words each takes its own.
_TAKES: Mapping[str, tuple[str, ...]] = {
    "string": ("S", "N", "B", "BOOL"),
    "json": ("SS", "NS", "BS", "L", "M"),
    "struct": ("M",),
    "map": ("M",),
    "bigint": ("N",),
}


@dataclass(frozen=True)
class Said:
    """What is said of a path. `type`, `name`: empty where nothing is.

    `also_inside`, of a hash: whether what becomes of all that is in a list or map there is said, too.
    `is_beside`: whether it is said of all that is inside, beside such a hash.
    """

    path: tuple[str, ...]
    type: str = ""
    name: str = ""
    drop: bool = False
    hash: bool = False
    also_inside: bool = False
    is_beside: bool = False

    @classmethod
    def of(cls, path: str, said: Any) -> Said:
        """Read an entry of the setting: of an attribute's name or a JSON pointer, a type alone or an object."""
        steps = tuple(map(_name, path[1:].split("/"))) if path.startswith("/") else (path,)
        return cls(steps, **({"type": said} if isinstance(said, str) else said))

    def among(self, all_: Sequence[Said]) -> Said:
        """The same, knowing of what else is said."""
        also_inside = self.hash and any(other.path == (*self.path, ANY) for other in all_)
        is_beside = any(other.hash and (*other.path, ANY) == self.path for other in all_)
        return replace(self, also_inside=also_inside, is_beside=is_beside)

    def is_of(self, place: tuple[str, ...]) -> bool:
        """Whether a place is one that the path leads to. The step of an element is `ANY`, wherever it stands in its list."""
        if len(place) != len(self.path):
            return False
        return all(said in (ANY, step) for said, step in zip(self.path, place, strict=True))

    def goes_on_by(self, place: tuple[str, ...]) -> str:
        """The step by which the path goes on from a place that it leads to; empty where it does not lead there, or ends."""
        begun = replace(self, path=self.path[: len(place)])
        return self.path[len(place)] if len(self.path) > len(place) and begun.is_of(place) else ""

    @property
    def scale(self) -> int | None:
        """How many digits after the point the column is to have; None where it is to be no decimal."""
        found = re.fullmatch(r"decimal\(38,(\d+)\)", self.type)
        return int(found[1]) if found else None

    @property
    def takes(self) -> tuple[str, ...]:
        """The types of the values that are not refused, where a type is said."""
        return ("N",) if self.scale is not None else _TAKES.get(self.type, (self.type,))


def _name(step: str) -> str:
    """A step of a JSON pointer as the name that it spells."""
    return step.replace("~1", "/").replace("~0", "~")
