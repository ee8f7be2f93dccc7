"""Words for the types of columns, as settings say them: DynamoDB's, columns' own, and several at once."""

from __future__ import annotations

import re
from typing import Any

#: Words for types: DynamoDB's, whose columns follow the data where they leave a choice, and columns' own.
_TAGS = ("S", "N", "B", "BOOL", "SS", "NS", "BS", "L", "M")
TYPE_WORDS = (*_TAGS, "string", "bigint", "json", "struct", "map")
_DECIMAL = re.compile(r"decimal\(38, ?([0-9]{1,2})\)")
_MOST_SCALE = 38
_SEVERAL = {
    "string": ("S", "N", "B", "BOOL"),
    "json": ("SS", "NS", "BS", "L", "M"),
    "struct": ("M",),
    "map": ("M",),
}
#: What a schema file says of an attribute that was NULL wherever it was met.
NOTHING = "NULL"


def decimal_scale(word: str) -> int | None:
    """The scale that a word for a type says; None where it is no decimal."""
    found = _DECIMAL.fullmatch(word)
    return int(found[1]) if found and int(found[1]) <= _MOST_SCALE else None


def tags_of(word: str) -> tuple[str, ...]:
    """The DynamoDB types of the values that a word for a type speaks of."""
    if word in _SEVERAL:
        return _SEVERAL[word]
    return ("N",) if is_narrow(word) else (word,)


def is_narrow(word: str) -> bool:
    """Whether a column of that type cannot hold every number."""
    return word == "bigint" or decimal_scale(word) is not None


def one_word(types: str) -> str:
    """One word for the types that a schema file lists of an attribute, as ``S,N``; NULL among them says nothing."""
    listed = {word.strip() for word in types.split(",")} - {NOTHING}
    if len(listed) < 2:
        return listed.pop() if listed else NOTHING
    return next((word for word in ("string", "json") if listed <= set(_SEVERAL[word])), types)


def allowed_types(said: Any) -> str:
    """What is allowed in place of what is said for a type: of a list, in a schema file's way, or of one word."""
    if isinstance(said, str) and {word.strip() for word in said.split(",")} <= {NOTHING, *_TAGS}:
        several = " or ".join(f"several of {', '.join(_SEVERAL[word])}" for word in ("string", "json"))
        return f"{several}: no column takes a scalar beside a container; left out, the column follows the data"
    return f"one of {', '.join(TYPE_WORDS)}, decimal(38,s)"
