"""Words for the types of columns, as settings say them: DynamoDB's, columns' own, and several at once.

A word that is declared for a place is its pin: it says which values belong there, and which types a column may have.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pipeline.columns.types import BYTES, FLAG, JSON, LONG, MOST_DIGITS, SCALARS, TEXT, ColumnType, Kind, set_tag

#: Words for types: DynamoDB's, whose columns follow the data where they leave a choice, and columns' own.
_TAGS = ("S", "N", "B", "BOOL", "SS", "NS", "BS", "L", "M")
_TYPE_WORDS = (*_TAGS, "string", "bigint", "json", "struct", "map")
_DECIMAL = re.compile(r"decimal\(38, ?([0-9]{1,2})\)")
_SEVERAL = {
    "string": ("S", "N", "B", "BOOL"),
    "json": ("SS", "NS", "BS", "L", "M"),
    "struct": ("M",),
    "map": ("M",),
}
#: What a pin makes of a column, whatever the data.
_TYPE_OF_PIN = {
    "S": TEXT,
    "B": BYTES,
    "BOOL": FLAG,
    "SS": ColumnType(Kind.SET, element=TEXT),
    "BS": ColumnType(Kind.SET, element=BYTES),
    "string": SCALARS,
    "bigint": LONG,
    "json": JSON,
}
#: The kinds among which the data decide.
_KINDS_OF_PIN = {
    "N": (Kind.LONG, Kind.DECIMAL, Kind.DIGITS),
    "NS": (Kind.SET,),
    "L": (Kind.LIST, Kind.JSON),
    "M": (Kind.STRUCT, Kind.DICTIONARY, Kind.JSON),
    "struct": (Kind.STRUCT, Kind.JSON),
    "map": (Kind.DICTIONARY, Kind.JSON),
}
#: The pins for lists and maps, with DynamoDB's type for each. Any of them may leave the column plain JSON.
TAG_OF_PIN = {"L": "L", "M": "M", "struct": "M", "map": "M"}
#: What a schema file says of an attribute that was NULL wherever it was met.
_NOTHING = "NULL"
#: The same as an object.
SAYS_NOTHING = {"type": _NOTHING}


def _decimal_scale(word: str) -> int | None:
    """The scale that a word for a type says; None where it is no decimal."""
    found = _DECIMAL.fullmatch(word)
    return int(found[1]) if found and int(found[1]) <= MOST_DIGITS else None


def is_type_word(said: Any) -> bool:
    """Whether this is a word for a type; settings may hold anything in its place."""
    return isinstance(said, str) and (said in _TYPE_WORDS or _decimal_scale(said) is not None)


def tags_of(word: str) -> tuple[str, ...]:
    """The DynamoDB types of the values that a word for a type speaks of."""
    if word in _SEVERAL:
        return _SEVERAL[word]
    return ("N",) if is_narrow(word) else (word,)


def is_narrow(word: str) -> bool:
    """Whether a column of that type cannot hold every number."""
    return word == "bigint" or _decimal_scale(word) is not None


def type_of_pin(pin: str) -> ColumnType | None:
    """The type that a pin makes of a column, whatever the data; None where it leaves a choice to them."""
    scale = _decimal_scale(pin)
    return _TYPE_OF_PIN.get(pin) if scale is None else ColumnType(Kind.DECIMAL, scale=scale)


def obeys(type_: ColumnType, pin: str) -> bool:
    """Whether a column's type is one that a pin allows."""
    if only := type_of_pin(pin):
        return type_ == only
    return type_.kind in _KINDS_OF_PIN[pin] and (type_.kind is not Kind.SET or set_tag(type_) == pin)


def _one_word(types: str) -> str:
    """One word for the types that a schema file lists of an attribute, as ``S,N``; NULL among them says nothing."""
    listed = {word.strip() for word in types.split(",")} - {_NOTHING}
    if len(listed) < 2:
        return listed.pop() if listed else _NOTHING
    return next((word for word in ("string", "json") if listed <= set(_SEVERAL[word])), types)


def spelled_out(said: Any) -> Any:
    """What is said of a path as an object, its types as one word; what is neither text nor an object stays as it is."""
    said = {"type": said} if isinstance(said, str) else said
    if not isinstance(said, Mapping) or not isinstance(said.get("type"), str):
        return said
    word = _one_word(said["type"])
    if word != _NOTHING:
        return {**said, "type": word}
    # A name, or what is to be hidden, may be said beside it.
    return {name: value for name, value in said.items() if name != "type"} or SAYS_NOTHING


def allowed_types(said: Any) -> str:
    """What is allowed in place of what is said for a type: of a list, in a schema file's way, or of one word."""
    if isinstance(said, str) and {word.strip() for word in said.split(",")} <= {_NOTHING, *_TAGS}:
        several = " or ".join(f"several of {', '.join(_SEVERAL[word])}" for word in ("string", "json"))
        return f"{several}: no column takes a scalar beside a container; left out, the column follows the data"
    return f"one of {', '.join(_TYPE_WORDS)}, decimal(38,s)"
