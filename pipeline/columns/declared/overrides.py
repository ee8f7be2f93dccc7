"""Overrides: what a user says of columns, by path, in place of what the data would say.

A path is the name of a top-level attribute as it stands, or, when it begins with a slash, a JSON pointer (RFC 6901), as
``_misfits`` has them: names may hold dots. The step ``*`` stands for any element of a list or any name of a map. What is
said is a DynamoDB type alone, as in the schema files of other tools, or an object of ``type``, ``name``, ``drop``, ``hash``.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pipeline.columns.declared.path_tree import PathTree
from pipeline.columns.declared.type_words import (
    SAYS_NOTHING,
    TAG_OF_PIN,
    allowed_types,
    is_type_word,
    spelled_out,
    tags_of,
)
from pipeline.columns.names import LONGEST_NAME, LONGEST_PARTITION_KEY, RESERVED, is_column_name, name_in_files
from pipeline.columns.pointers import names, pointer_to
from pipeline.identity import KeyAttribute
from pipeline.setting_checks import refusal

#: The step that stands for any element or name.
ANY = "*"
_INDEX = re.compile("0|[1-9][0-9]*")
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_WITH_INSIDE = ("", *TAG_OF_PIN)
_MEMBERS = ("type", "name", "drop", "hash")


@dataclass(frozen=True)
class Override:
    """What is said of one path. `type`, `name`: empty where nothing is.

    `also_inside`, of a hash: whether all that is in a map or list there is hidden as well, by what is said of ``*`` below.
    """

    path: tuple[str, ...]
    type: str = ""
    name: str = ""
    drop: bool = False
    hash: bool = False
    also_inside: bool = False

    @property
    def pointer(self) -> str:
        """The path as a JSON pointer."""
        return pointer_to(self.path)

    @property
    def said(self) -> dict[str, Any]:
        """What is said, as it is written in settings."""
        return {name: getattr(self, name) for name in _MEMBERS if getattr(self, name)}

    @property
    def is_protection(self) -> bool:
        """Whether values must not come into the table as they are."""
        return self.drop or self.hash

    @property
    def kind(self) -> str:
        """What becomes of such values: ``drop`` or ``hash``; never both are said."""
        return "drop" if self.drop else "hash"

    @property
    def pin(self) -> str:
        """The type that it declares for its place; empty for none. A hash is a string, of which no list and no map has one."""
        return "" if self.also_inside else "S" if self.hash else self.type

    def pin_after(self, pin: str) -> str:
        """The pin of a place that it speaks of, where the rules before it said `pin`."""
        return self.pin or pin

    def pin_beside(self, pin: str) -> str:
        """Of a hash: the pin of a place of which the last of the other rules says `pin`; that stays if it is text."""
        return pin if not pin or "S" in tags_of(pin) else self.pin

    @property
    def has_index(self) -> bool:
        """Whether the path may speak of one element of a list, of which nothing can be said."""
        return any(map(is_index, self.path[1:]))

    def matches(self, path: tuple[str, ...]) -> bool:
        """Whether a place's path is one that this override speaks of."""
        return len(path) == len(self.path) and all(mine in (ANY, step) for mine, step in zip(self.path, path))


@dataclass(frozen=True)
class Overrides:
    """All that is said of one table's columns."""

    rules: tuple[Override, ...] = ()

    @classmethod
    def parse(cls, raw: Any, where: str = "columns") -> Overrides:
        """Read the setting. Raises SettingRefused for the first thing that is wrong."""
        if not isinstance(raw, Mapping):
            raise refusal(where, raw, 'an object such as {"email": {"hash": true}}')
        told = ((path, spelled_out(said)) for path, said in raw.items())
        rules = tuple(_override(path, said, f"{where}[{path!r}]") for path, said in told if said != SAYS_NOTHING)
        _check_together(cls(rules), where)
        paths = {rule.path for rule in rules}  # inside a hash nothing but what hides is said
        rules = tuple(replace(rule, also_inside=rule.hash and (*rule.path, ANY) in paths) for rule in rules)
        # What is said of one place comes behind what is said of any.
        return cls(tuple(sorted(rules, key=lambda rule: tuple((step != ANY, step) for step in rule.path))))

    def to_json(self) -> dict[str, Any]:
        """Write it so that `parse` reads it."""
        return {rule.pointer: rule.said for rule in self.rules}

    def says_type(self, path: tuple[str, ...]) -> Override | None:
        """Which of them says the type of a place, by its path; None for none."""
        return deciding(self.at(path))

    def at(self, path: tuple[str, ...]) -> list[Override]:
        """Those that speak of a place, by its path: first what is said of any name, then what is said of its own."""
        return self._tree.at(path)

    @cached_property
    def _tree(self) -> PathTree[Override]:
        return PathTree(((rule.path, rule) for rule in self.rules), ANY)

    @property
    def typed(self) -> tuple[Override, ...]:
        """Those by which a type is said, which not every value fits."""
        return tuple(rule for rule in self.rules if rule.type)

    @property
    def protections(self) -> tuple[Override, ...]:
        """Those by which values are dropped or hashed."""
        return tuple(rule for rule in self.rules if rule.is_protection)

    @property
    def hashes(self) -> bool:
        """Whether any value is hashed, which takes a secret."""
        return any(rule.hash for rule in self.rules)

    def check_key(self, key: tuple[KeyAttribute, ...]) -> None:
        """Refuse what cannot be said of a key, by which rows are found: all but its name. Raises SettingRefused.

        The partition key comes first.
        """
        types = {part.name: part.type for part in key}
        for rule in self.rules:
            declared = types.get(rule.path[0])
            if declared is None:
                continue
            if rule.is_protection or len(rule.path) > 1 or rule.type not in ("", declared):
                allowed = f'"name", and the type {declared} that the source table declares: rows are found by their key'
                raise refusal(f"columns[{rule.pointer!r}] of the key", rule.said, allowed)
            if rule.path[0] == key[0].name and len(rule.name) > LONGEST_PARTITION_KEY:
                allowed = f"at most {LONGEST_PARTITION_KEY} characters: folders are named by the partition key"
                raise refusal(f"columns[{rule.pointer!r}].name", rule.name, allowed)


def deciding(rules: Sequence[Override]) -> Override | None:
    """Which of the rules that speak of one place says its type: the last. None for none.

    What one of them hashes is a string, also where another comes behind that says no type of strings.
    """
    last = next((rule for rule in reversed(rules) if rule.pin), None)
    hashed = next((rule for rule in reversed(rules) if rule.hash), None)
    return hashed if last and hashed and hashed.pin_beside(last.pin) != last.pin else last


#: Nothing is said of any column.
NO_OVERRIDES = Overrides()


def mended_by(what: str) -> str:
    """What to do about something that is said of columns, on AWS and in a folder."""
    return f"In the settings, or the file of --columns, {what}; then deploy, or replay again."


def is_index(step: str) -> bool:
    """Whether a step of a path would be an index in a list; in a map it is a name like others."""
    return _INDEX.fullmatch(step) is not None


def _override(path: str, said: Any, where: str) -> Override:
    if _HALF_CHARACTER.search(path):
        raise refusal(where, path, "text; JSON may spell half a character, and no attribute has one in its name")
    steps = names(path) if path.startswith("/") else (path,)
    # Nobody gives an empty name: such a rule would leave alone what it was written for.
    if "" in steps or steps[0] == ANY or (path[0] == "/" and re.search("~(?![01])", path)):
        raise refusal(where, path, "an attribute's name, or a JSON pointer as /a/b (no slash last), ~0 for ~, ~1 for /")
    if not isinstance(said, Mapping) or not said or not set(said) <= set(_MEMBERS):
        raise refusal(where, said, f"a type, or an object of {', '.join(_MEMBERS)}")
    for flag in ("drop", "hash"):
        if said.get(flag, True) is not True:
            raise refusal(f"{where}.{flag}", said[flag], "true, or nothing at all")
    if ("drop" in said and len(said) > 1) or ("hash" in said and "type" in said):
        raise refusal(where, dict(said), "drop alone; hash without a type, since a hash is a string")
    rule = Override(steps, **said)
    if "type" in said and not is_type_word(rule.type):
        raise refusal(f"{where}.type", rule.type, allowed_types(rule.type))
    if "name" in said:
        _check_name(rule, f"{where}.name")
    return rule


def _check_name(rule: Override, where: str) -> None:
    if not isinstance(rule.name, str) or not is_column_name(rule.name) or rule.name in RESERVED:
        raise refusal(where, rule.name, f"1-{LONGEST_NAME} of a-z, 0-9 and _, but for {', '.join(RESERVED)}")
    if ANY in rule.path:
        raise refusal(where, rule.name, "a name for one attribute or member, not for a path with *")


def _check_together(said: Overrides, where: str) -> None:
    """Refuse two rules for one path, one name for two siblings, types of what is hidden, and rules below what has no inside."""
    rules, paths = said.rules, {rule.path: rule for rule in said.rules}
    if len(paths) < len(rules):
        twice = next(rule for rule in rules if paths[rule.path] is not rule)
        raise refusal(where, twice.pointer, "each path once; a name and its JSON pointer are the same path")
    named: dict[tuple[object, ...], Override] = {}
    for rule in rules:
        if rule.name and named.setdefault((rule.path[:-1], name_in_files(rule.name)), rule) is not rule:
            allowed = "a name that no sibling has; in Parquet files 1 and _1 are one"
            raise refusal(f"{where}[{rule.pointer!r}].name", rule.name, allowed)
        for outer in said.at(rule.path):
            # What is hashed may be said to be text.
            is_text = outer.hash and "S" in tags_of(rule.type)
            if rule.type and outer.is_protection and not is_text:
                allowed = f"no type at a place of {outer.pointer}, of which is said {outer.said} (a hash is a string)"
                raise refusal(f"{where}[{rule.pointer!r}].type", rule.type, allowed)
        for outer in (outer for depth in range(1, len(rule.path)) for outer in said.at(rule.path[:depth])):
            if not _goes_inside(outer, rule, paths):
                allowed = f"nothing inside {outer.pointer}, of which is said {outer.said}"
                if outer.hash:
                    allowed += f", but that all is hidden which is in maps and lists there ({outer.pointer}/{ANY})"
                raise refusal(f"{where}[{rule.pointer!r}]", rule.said, allowed)


def _goes_inside(outer: Override, rule: Override, paths: Container[tuple[str, ...]]) -> bool:
    """Whether something can be said inside a path of which `outer` is said; JSON text has no columns inside.

    `paths`: all of which something is said.
    """
    if outer.hash and rule.is_protection:
        depth = len(outer.path)
        return rule.path[:-1] in paths and rule.path[:depth] == outer.path and set(rule.path[depth:]) == {ANY}
    return not outer.is_protection and (outer.type in _WITH_INSIDE or (outer.type == "json" and rule.is_protection))
