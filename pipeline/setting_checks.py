"""Checks of single settings: each gives the value back, or raises SettingRefused with name, value and what is allowed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from pipeline.errors import SettingRefused


def read_json(content: bytes) -> Any:
    """What a JSON file of settings says. Raises ValueError where it is none, or says a name twice in one object.

    What the first one said would be hidden: a hash, for example. So would be what is said of a name that a locale reads
    otherwise: JSON is in UTF-8, or in what a byte order mark tells, whatever the machine's is.
    """
    try:
        return json.loads(content, object_pairs_hook=_each_once)
    except RecursionError as endless:
        raise ValueError(f"its brackets go too deep: {endless}") from endless


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    said = dict(pairs)
    if len(said) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"it says {max(names, key=names.count)!r} more than once")
    return said


def names_of(kind: type) -> set[str]:
    """The names of a dataclass's fields."""
    return {f.name for f in fields(kind)}


def known(raw: Mapping[str, Any], allowed: set[str], where: str) -> None:
    """Refuse a setting that is not among the allowed ones."""
    unknown = sorted(set(raw) - allowed)
    if unknown:
        raise SettingRefused(
            f"{where} has the unknown setting {unknown[0]!r}; allowed are {', '.join(sorted(allowed))}"
        )


def refusal(name: str, value: Any, allowed: str) -> SettingRefused:
    """The refusal of a value, naming what is allowed."""
    return SettingRefused(f"{name} is {value!r}; allowed is {allowed}")


def expect(right: bool, name: str, value: Any, allowed: str) -> None:
    """Refuse a value that is not right, naming what is allowed."""
    if not right:
        raise refusal(name, value, allowed)


def is_whole(value: Any, least: int, most: int) -> bool:
    """Whether a value is a whole number between two others, both allowed."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _path(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def whole(raw: Mapping[str, Any], name: str, default: int, least: int, most: int, where: str = "") -> int:
    """A whole number between two others, both allowed."""
    value = raw.get(name, default)
    expect(is_whole(value, least, most), _path(where, name), value, f"a whole number from {least} to {most}")
    return int(value)


def choice(
    raw: Mapping[str, Any], name: str, default: int, allowed: tuple[int, ...], where: str = "", of: str = ""
) -> int:
    """One of some whole numbers. `of`: what else makes these the allowed ones; the value may be a default."""
    value = raw.get(name, default)
    right = isinstance(value, int) and not isinstance(value, bool) and value in allowed
    expect(right, _path(where, name), value, "one of " + ", ".join(map(str, allowed)) + of)
    return int(value)


def flag(raw: Mapping[str, Any], name: str, default: bool, where: str) -> bool:
    """Yes or no."""
    value = raw.get(name, default)
    expect(isinstance(value, bool), _path(where, name), value, "true or false")
    return bool(value)


def word(raw: Mapping[str, Any], name: str, default: str, allowed: tuple[str, ...], where: str) -> str:
    """One of some words."""
    value = raw.get(name, default)
    expect(isinstance(value, str) and value in allowed, _path(where, name), value, "one of " + ", ".join(allowed))
    return str(value)


def text(raw: Mapping[str, Any], name: str, default: str, form: re.Pattern[str], allowed: str, where: str = "") -> str:
    """A text of a form."""
    value = raw.get(name, default)
    expect(isinstance(value, str) and form.fullmatch(value) is not None, _path(where, name), value, allowed)
    return str(value)


def distinct(names: list[str], setting: str) -> None:
    """Refuse a name that several tables have."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SettingRefused(f"tables has the {setting} {twice[0]!r} more than once; each table has its own")
