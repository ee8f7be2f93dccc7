"""What is said of paths, found by a place's own: of thousands, not each is held against each of thousands of places. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T")
_Path = tuple[str, ...]


class PathTree(Generic[T]):
    """What is said of each path, once at most. `any_step`: the step of a path that stands for whatever a place has there."""

    def __init__(self, said: Iterable[tuple[_Path, T]], any_step: str) -> None:
        self._any_step = any_step
        self._root: _Node[T] = _Node()
        for path, what in said:
            node = self._root
            for step in path:
                node = node.inside.setdefault(step, _Node())
            node.said.append(what)

    def at(self, path: _Path) -> list[T]:
        """All that speaks of a place, by its path: first what is said of any name, then what is said of its own."""
        nodes = [self._root]
        for step in path:
            steps = dict.fromkeys((self._any_step, step))
            nodes = [node.inside[one] for node in nodes for one in steps if one in node.inside]
        return [what for node in nodes for what in node.said]


class _Node(Generic[T]):
    """What is said of a path, and of those that go on from it, by their next step."""

    def __init__(self) -> None:
        self.said: list[T] = []
        self.inside: dict[str, _Node[T]] = {}
