"""What a sample of items shows: the types seen at each path, counted in memory.

A sample is some thousand items at most, of which a Spark job would take longer to plan than this takes to count them.
What only the pass over all items may judge is passed over here: lines that are no items, values that are none of
DynamoDB's. What is dropped or hashed counts as what becomes of it. Pure.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from pipeline.columns.declared.overrides import ANY, NO_OVERRIDES, Overrides
from pipeline.columns.declared.rules_inside import Rules, below, inside_items, is_dropped, is_hashed, is_hidden_inside
from pipeline.columns.profile import ELEMENT, MEMBER, Observed, Path, rule_path
from pipeline.columns.types import CONTAINER_TAGS, SCALAR_TAGS

#: Paths are counted to this depth, or as deep as something is said of them; a map or list further down has no members
#: here, so its column becomes JSON text.
LEVELS = 4
#: A map with more names than this is data. Further names are counted together, under a name that none has, so that they
#: cannot crowd out other paths.
MOST_NAMES, OTHERS = 1_000, ""
#: The counts that are kept: the shallowest and most frequent. An item with more attributes has no room for them.
MOST_PATHS = 20_000

Level = Mapping[str, Any]
_TAGS = SCALAR_TAGS | CONTAINER_TAGS | {"NULL"}
#: What a hash leaves of a value's type: all else becomes text. Maps and lists are refused later, for which they stay.
_NOT_HASHED = ("M", "L", "NULL")
_SETS = ("SS", "NS", "BS")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")


class _Room(NamedTuple):
    """What numbers need: digits before the point, digits behind it, whether a bigint holds them."""

    integer_digits: int = 0
    fraction_digits: int = 0
    fits_long: bool = True

    def and_of(self, other: _Room) -> _Room:
        """What both need."""
        integer, fraction = map(max, zip(self[:2], other[:2]))
        return _Room(integer, fraction, self.fits_long and other.fits_long)


def items_of(lines: Iterable[bytes]) -> Iterator[Level]:
    """The items of lines of a full export, as DynamoDB JSON with every number as its text."""
    for line in lines:
        try:
            # Any number of JSON's own is no value of DynamoDB's; as text it is as long as it stands there.
            record = json.loads(line.decode("utf-8", "replace"), parse_int=str, parse_float=str)
        except (ValueError, RecursionError):
            continue
        item = record.get("Item") if isinstance(record, dict) else None
        if isinstance(item, dict):
            yield item


def levels_for(said: Overrides) -> int:
    """How deep paths are counted: what lies beside a place of which something is said is seen as well."""
    return max([LEVELS, *(len(rule.path) for rule in said.rules)])


def observed_items(items: Iterable[Level], said: Overrides = NO_OVERRIDES) -> list[Observed]:
    """Count the types at the paths of items, of which some values are dropped or hashed: the shallowest first."""
    seen, followed = _Seen(said), _Followed(inside_items(said.protections))
    for item in items:
        seen.add_level(item, (), followed)
    return seen.counts()[:MOST_PATHS]


class _Followed:
    """What is left of rules at a place of items. To what lies under a name they are followed once, however many items have it."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._inside: dict[str, _Followed] = {}

    def inside(self, step: str) -> _Followed:
        """What is left of them for what lies under a step."""
        if not self.rules:
            return self
        if step not in self._inside:
            self._inside[step] = _Followed(below(self.rules, step))
        return self._inside[step]


class _Seen:
    """What has been seen until now."""

    def __init__(self, said: Overrides) -> None:
        self._levels, self._said = levels_for(said), said
        self._names: dict[Path, set[str]] = {}
        self._counts: Counter[tuple[Path, str]] = Counter()
        self._rooms: dict[Path, _Room] = {}

    def add_level(self, level: Level, path: Path, followed: _Followed) -> None:
        """Count the members of an item or map. `followed`: the rules that may speak of them."""
        for name, value in level.items():
            inside = followed.inside(name)
            if not is_dropped(inside.rules):
                self._add_value(value, (*path, MEMBER + self._counted_as(name, path)), inside)

    def _counted_as(self, name: str, path: Path) -> str:
        """The name of a map's member, or the one of all others. Attributes of items are fields, however many."""
        if not path:
            return name
        names = self._names.setdefault(path, set())
        if name not in names and (len(names) < MOST_NAMES or self._is_named((*path, MEMBER + name))):
            names.add(name)
        return name if name in names else OTHERS

    def _is_named(self, path: Path) -> bool:
        """Whether something is said of this very place, or that the map around it is a struct."""
        place = rule_path(path)
        is_own = any(rule.path[-1] != ANY for rule in self._said.at(place))
        return is_own or any(rule.type == "struct" for rule in self._said.at(place[:-1]))

    def counts(self) -> list[Observed]:
        """Everything seen: the shallowest first, of those the most frequent."""
        ordered = sorted(self._counts.items(), key=lambda found: (len(found[0][0]), -found[1], *found[0]))
        return [
            Observed(_encodable(path), tag, count, *(self._rooms.get(path, ()) if tag == "N" else ()))
            for (path, tag), count in ordered
        ]

    def _add_value(self, value: Any, path: Path, followed: _Followed) -> None:
        if not isinstance(value, Mapping) or len(value) != 1:
            return
        ((tag, inner),) = value.items()
        if tag not in _TAGS or inner is None:
            return
        if is_hashed(followed.rules) and not (tag in ("L", "M") and is_hidden_inside(followed.rules)):
            self._counts[path, tag if tag in _NOT_HASHED else "S"] += 1
            return
        if tag in _SETS and is_dropped(followed.inside(ANY).rules):
            tag = "NULL"  # no set is empty: without its elements it is gone
        self._counts[path, tag] += 1
        if tag == "N":
            self._widen(path, inner)
        elif tag == "NS" and isinstance(inner, Sequence):
            for text in inner:
                self._counts[(*path, ELEMENT), "N"] += 1
                self._widen((*path, ELEMENT), text)
        elif tag == "M" and isinstance(inner, Mapping) and len(path) < self._levels:
            self.add_level(inner, path, followed)
        elif tag == "L" and isinstance(inner, Sequence) and len(path) < self._levels:
            inside = followed.inside(ANY)
            if not is_dropped(inside.rules):
                for element in inner:
                    self._add_value(element, (*path, ELEMENT), inside)

    def _widen(self, path: Path, text: Any) -> None:
        room = _room(text) if isinstance(text, str) else None
        if room:
            known = self._rooms.get(path, room)
            self._rooms[path] = room if known == room else known.and_of(room)


def _room(text: str) -> _Room | None:
    """What a number needs, exactly, however it is spelled; None for what is no number."""
    if not _NUMBER.fullmatch(text):
        return None
    value = Decimal(text)
    if not value:
        return _Room()
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # a number's; only NaN and the infinite have none
    zeros = next(i for i, digit in enumerate(reversed(digits)) if digit)
    fraction = max(-exponent - zeros, 0)
    fits_long = not fraction and -(2**63) <= value < 2**63
    return _Room(max(len(digits) + exponent, 0), fraction, fits_long)


def _encodable(path: Path) -> Path:
    """A path as Java reads it: in the place of half a character, as JSON may spell one, stands a question mark."""
    return tuple(step.encode("utf-8", "replace").decode() for step in path)
