"""What the user of a random table says of its columns, and what the table must show then.

Types, names, ``drop`` and ``hash``, of attributes, of members of maps, of elements of lists. Items are made to obey, since
what contradicts a declared type is refused. The jobs are told by the setting; what it says is read here once more, by the
words of docs/settings.md (`tests.spark.oracle.said`).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from decimal import Context, Decimal
from random import Random
from typing import Any

from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DecimalType,
    IcebergType,
    ListType,
    LongType,
    StringType,
)

from local.compare import Table, pointer
from pipeline.columns.declared.overrides import Overrides
from tests.spark.oracle.said import ANY, Said
from tests.spark.oracle.values import Value, scalar, usual_type, value
from tests.spark.overriding import hashed

SECRET = "what the oracle's hashes are keyed with"  # noqa: S105 - a test's own
Item = dict[str, Value]
#: What a rule makes of a value; of a dropped one, nothing.
_Change = Callable[[Said, Value], Value | None]
#: What a rule for what is inside makes of a scalar or set.
_ChangeOfWhole = Callable[[Said, Value], Value]
#: What becomes of the elements of a list at a place.
_ChangeOfList = Callable[[tuple[str, ...], list[Value]], list[Value]]
_SETS = ("SS", "NS", "BS")

#: The exact type of a column of which so much is said, where the data leave no choice.
_TYPES: Mapping[str, type[IcebergType]] = {
    "S": StringType,
    "B": BinaryType,
    "BOOL": BooleanType,
    "SS": ListType,
    "BS": ListType,
    "string": StringType,
    "bigint": LongType,
    "json": StringType,
}
_NARROW = ("bigint", "decimal(38,3)", "decimal(38,0)")
_WORDS = {"S": ("S", "string"), "N": ("N", "string", *_NARROW), "M": ("M", "json", "struct", "map")}
#: DynamoDB's precision.
_EXACT = Context(prec=38)


class Wishes:
    """What is said of the columns of one table: of some attributes, one thing each; of none of the key."""

    def __init__(self, rules: Mapping[str, Any]) -> None:
        #: What the jobs are told.
        self.columns = Overrides.parse(rules)
        self._rules = rules
        all_ = [Said.of(path, said) for path, said in rules.items()]
        self._said = [said.among(all_) for said in all_]

    @classmethod
    def of(cls, dice: Random, names: list[str], inner: list[str]) -> Wishes:
        """Wishes for a third of the attributes; one called ``*`` cannot be spoken of."""
        chosen = dice.sample([name for name in names if name != ANY], len(names) // 3)
        rules = dict(_rule(dice, name, inner, number) for number, name in enumerate(chosen))
        return cls({**rules, **_also_inside(rules)})

    def others(self, dice: Random, names: list[str], called: str = "later") -> Wishes:
        """What is said later: some of it no more, some attributes dropped and named that nothing was said of.

        `called`: what the new names begin with, which none did that was given before.
        """
        kept = {path for path in self._rules if dice.random() < 0.6}
        places = {Said.of(path, said).path: path for path, said in self._rules.items()}
        for place, path in places.items():
            if place[-1] == ANY and kept & (both := {path, places.get(place[:-1], path)}):
                kept |= both  # items hold what is hashed, and lists and maps in its place
        free = [name for name in names if name != ANY and all(rule.path[0] != name for rule in self._said)]
        said = {
            pointer("", name): dice.choice(({"drop": True}, {"name": f"{called}{i}"}))
            for i, name in enumerate(free[:3])
        }
        return Wishes({**{path: said for path, said in self._rules.items() if path in kept}, **said})

    def obeyed(self, item: Item, dice: Random) -> Item:
        """An item that contradicts nothing of it."""
        whole = {name: self._obeying_in_map(name, found) for name, found in item.items()}
        return self._changed(
            whole, lambda rule, found: _obeying(rule, found, dice), _obeying_whole, self._obeying_in_list
        )

    def shown(self, item: Item) -> Item:
        """What the table must show of an item."""
        return self._changed(item, _shown, _shown_of_whole, lambda _, elements: elements)

    def broken(self, table: Table, not_of: Collection[int] = ()) -> list[str]:
        """What a table's columns break of it: names and types. `not_of`: the field ids of columns of which nothing is said."""
        found = []
        for rule in self._said:
            column = table.columns.get(rule.path[0])
            if column is None or column.field_id in not_of or len(rule.path) > 1:
                continue
            scale, type_ = rule.scale, column.field_type
            is_typed = type_ == DecimalType(38, scale) if scale is not None else isinstance(type_, _type_of(rule))
            if rule.drop or not is_typed or rule.name not in ("", column.name):
                found.append(f"what is said is {rule}, and there is {column}")
        return found

    def _obeying_in_list(self, path: tuple[str, ...], elements: list[Value]) -> list[Value]:
        """The elements of a list but those in which what is to be hidden is named by an index, or as in a map: refused both."""
        for step in (rule.goes_on_by(path) for rule in self._said if rule.drop or rule.hash):
            if step.isdecimal():
                return []
            if step not in ("", ANY):
                elements = [one for one in elements if step not in _names_in(one)]
        return elements

    def _obeying_in_map(self, attribute: str, found: Value) -> Value:
        """A value but what is to be hidden in the maps of a list, where it stands in one map in the list's place: refused."""
        ((tag, inner),) = found.items()
        hiding = (rule.path for rule in self._said if rule.drop or rule.hash)
        hidden = [path[2] for path in hiding if len(path) > 2 and path[:2] == (attribute, ANY)]
        if tag != "M" or not hidden:
            return found
        return {tag: {name: one for name, one in inner.items() if name not in hidden or {"M", "L", "NULL"} & set(one)}}

    def _changed(self, item: Item, *changes: Any) -> Item:
        """An item with a `_Change`, a `_ChangeOfWhole` and a `_ChangeOfList` made at every place."""
        made = {name: self._made((name,), was, *changes) for name, was in item.items()}
        return {name: now for name, now in made.items() if now is not None}

    def _made(
        self, path: tuple[str, ...], found: Value, change: _Change, of_whole: _ChangeOfWhole, of_list: _ChangeOfList
    ) -> Value | None:
        for rule in self._said:
            if rule.is_of(path):
                made = change(rule, found)
                if made is None:
                    return None
                found = made
        ((tag, inner),) = found.items()
        if tag == "M":
            below = {name: self._made((*path, name), was, change, of_whole, of_list) for name, was in inner.items()}
            return {tag: {name: now for name, now in below.items() if now is not None}}
        if tag == "L":
            elements = (self._made((*path, ANY), was, change, of_whole, of_list) for was in of_list(path, inner))
            return {tag: [now for now in elements if now is not None]}
        if tag != "NULL":
            for rule in self._said:
                found = of_whole(rule, found) if rule.is_of((*path, ANY)) else found
        return found


#: Nothing is said.
NO_WISHES = Wishes({})


def _also_inside(rules: Mapping[str, Any]) -> dict[str, Any]:
    """Of some attributes that are hashed, what becomes of lists and maps in their place; without dice, so that lives stay."""
    said = [Said.of(path, rule) for path, rule in rules.items()]
    names = [one.path[0] for one in said if one.hash and len(one.path) == 1]
    return {f"{pointer('', name)}/{ANY}": {("hash", "drop")[n % 2]: True} for n, name in enumerate(names) if n % 3 < 2}


def _rule(dice: Random, name: str, inner: list[str], number: int) -> tuple[str, Any]:
    """Something said of an attribute, or of what is inside it."""
    usual, steps = usual_type(name, dice), [name]
    if usual in ("L", "M") and inner and dice.random() < 0.7:
        steps.append(dice.choice(inner) if usual == "M" and dice.random() < 0.5 else ANY)
        steps += dice.sample(inner, dice.choice((0, 0, 1)))
        usual = usual_type(steps[-1], dice)
    path = name if len(steps) == 1 and not name.startswith("/") else "".join(pointer("", step) for step in steps)
    what = dice.choice(("type", "type", "drop", "hash", "name"))
    if what == "type":
        return path, dice.choice(_WORDS.get(usual, (usual if usual != "NULL" else "S",)))
    if what == "name":
        return path, {"name": f"given{number}"} if ANY not in steps else {"drop": True}
    return path, {what: True}


def _names_in(found: Value) -> Iterator[str]:
    """The names of all maps in a value, however deep."""
    ((tag, inner),) = found.items()
    if tag == "M":
        yield from inner
    if tag in ("M", "L"):
        for one in inner.values() if tag == "M" else inner:
            yield from _names_in(one)


def _obeying(rule: Said, found: Value, dice: Random) -> Value:
    """The value, or another where it contradicts."""
    ((tag, _),) = found.items()
    if rule.hash and tag in ("L", "M") and not rule.also_inside:
        return {"S": scalar(dice, "S")}
    if not rule.type or tag == "NULL":
        return found
    if rule.type in _NARROW:
        return {"N": str(dice.randrange(-(10**9), 10**9))}
    return found if tag in rule.takes else value(dice, rule.takes[0], ["a", "b"], depth=9)


def _shown(rule: Said, found: Value) -> Value | None:
    ((tag, _),) = found.items()
    if rule.drop:
        return None
    if not rule.hash or tag == "NULL" or (rule.also_inside and tag in ("L", "M")):
        return found
    return {"S": hashed(_canonical(found), SECRET)}


def _obeying_whole(rule: Said, found: Value) -> Value:
    """A scalar or set in the place of what all is hidden of that is inside; a set that loses its elements is NULL."""
    ((tag, _),) = found.items()
    if rule.is_beside:
        return found
    if tag in _SETS:
        return {"L": []} if rule.hash else found
    return {"L": []} if rule.path[-2] != ANY and (rule.hash or rule.drop) else found


def _shown_of_whole(rule: Said, found: Value) -> Value:
    return {"NULL": True} if rule.drop and set(found) & {*_SETS} else found


def _canonical(found: Value) -> str:
    """A scalar's or set's DynamoDB JSON as docs/settings.md has it: no white space, a set's elements sorted."""
    ((tag, inner),) = found.items()
    if isinstance(inner, list):
        return json.dumps({tag: sorted(_text(tag[0], one) for one in inner)}, ensure_ascii=False, separators=(",", ":"))
    return json.dumps({tag: _text(tag, inner)}, ensure_ascii=False, separators=(",", ":"))


def _text(tag: str, inner: Any) -> Any:
    if tag == "B":
        return base64.b64encode(inner).decode()
    return format(Decimal(inner).normalize(_EXACT), "f") if tag == "N" else inner


def _type_of(rule: Said) -> type[IcebergType]:
    return StringType if rule.hash and not rule.also_inside else _TYPES.get(rule.type, IcebergType)
