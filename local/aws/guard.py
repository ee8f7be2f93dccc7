"""Every parameter is held against botocore's own model of the service, as AWS does and MiniStack does not.

The models carry what AWS checks before anything else: required members, lengths and ranges, patterns, enums. boto3
itself checks types and minima only, the Java SDK nothing. Limits that no model states are in `unmodelled.py`.
"""

import functools
import re
from collections.abc import Iterator
from typing import Any

from local.aws.operations import Model

# Java's classes and surrogate pairs, as Python writes them. Approximations only widen what is let through.
_JAVA = (
    (r"\uD800\uDC00-\uDBFF\uDFFF", r"\U00010000-\U0010FFFF"),
    (r"\p{L}", r"\w"),
    (r"\p{N}", r"\d"),
    (r"\p{Z}", r"\s"),
    (r"\p{M}", r"\w"),
    (r"\p{P}", r"!-/:-@\[-`{-~"),
    (r"\p{S}", r"$+<=>^`|~"),
    (r"\p{IsLetter}", r"\w"),
    (r"\p{Alnum}", "a-zA-Z0-9"),
    (r"\p{Alpha}", "a-zA-Z"),
    (r"\p{ASCII}", r"\x00-\x7F"),
    (r"\p{Graph}", r"\x21-\x7E"),
    (r"\p{Print}", r"\x20-\x7E"),
)


def violations(shape: Model, parameters: object) -> list[str]:
    """What AWS would say about the parameters of an operation, in its words; empty when they fit the model."""
    return list(_walk(shape, parameters, "")) if shape is not None else []


def message_for(found: list[str]) -> str:
    """The message of a ValidationException."""
    return f"{len(found)} validation error{'s' if len(found) > 1 else ''} detected: {'; '.join(found)}"


def _walk(shape: Model, value: Any, path: str) -> Iterator[str]:
    kind = shape.type_name
    if kind == "structure" and isinstance(value, dict):
        yield from _structure(shape, value, path)
    elif kind == "list" and isinstance(value, list):
        yield from _range(shape, len(value), value, path, "length")
        for number, item in enumerate(value, 1):
            yield from _walk(shape.member, item, f"{path}.{number}.member")
    elif kind == "map" and isinstance(value, dict):
        yield from _range(shape, len(value), value, path, "length")
        for key, item in value.items():
            yield from _walk(shape.key, key, f"{path}.key")
            yield from _walk(shape.value, item, f"{path}.{key}.member")
    elif kind == "string" and isinstance(value, str):
        yield from _range(shape, len(value), value, path, "length")
        yield from _text(shape, value, path)
    elif kind in ("integer", "long", "float", "double") and isinstance(value, int | float):
        yield from _range(shape, value, value, path, "value")


def _structure(shape: Model, value: dict[str, Any], path: str) -> Iterator[str]:
    for name in shape.required_members:
        if value.get(name, value.get(shape.members[name].serialization.get("name", name))) is None:
            yield f"Value null at '{_below(path, name)}' failed to satisfy constraint: Member must not be null"
    for name, member in shape.members.items():
        item = value.get(name, value.get(member.serialization.get("name", name)))
        if item is not None:
            yield from _walk(member, item, _below(path, name))


def _below(path: str, name: str) -> str:
    """AWS names members with a small first letter: tableInput.storageDescriptor.columns.1.member.comment."""
    return f"{path}.{name[0].lower()}{name[1:]}".lstrip(".")


def _range(shape: Model, size: float, value: object, path: str, what: str) -> Iterator[str]:
    have = "have length" if what == "length" else "have value"
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if least is not None and size < least:
        yield _failure(value, path, f"Member must {have} greater than or equal to {least}")
    if most is not None and size > most:
        yield _failure(value, path, f"Member must {have} less than or equal to {most}")


def _text(shape: Model, value: str, path: str) -> Iterator[str]:
    pattern, allowed = shape.metadata.get("pattern"), shape.metadata.get("enum")
    if pattern and (compiled := compiled_pattern(pattern)) and not compiled.fullmatch(value):
        yield _failure(value, path, f"Member must satisfy regular expression pattern: {pattern}")
    if allowed and value not in allowed:
        yield _failure(value, path, f"Member must satisfy enum value set: [{', '.join(allowed)}]")


def _failure(value: object, path: str, constraint: str) -> str:
    shown = str(value)
    shown = shown if len(shown) <= 200 else f"{shown[:200]}..."
    return f"Value '{shown}' at '{path}' failed to satisfy constraint: {constraint}"


@functools.cache
def compiled_pattern(pattern: str) -> re.Pattern[str] | None:
    """A model's pattern for Python; None for the few that Python cannot express, which are then not checked."""
    for java, python in _JAVA:
        pattern = pattern.replace(java, python)
    try:
        return re.compile(pattern)
    except re.error:
        return None
