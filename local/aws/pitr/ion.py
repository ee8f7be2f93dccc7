"""Records in Amazon Ion text, the other format of exports, so that a reader of DynamoDB JSON can be seen to refuse it.

As the developer guide shows them: one record a line, each with the version marker, sets as annotated lists, numbers as
decimals, binary as blobs.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

_MARKER = "$ion_1_0 "
_SYMBOL = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_RESERVED = ("null", "true", "false", "nan")


def ion_item(item: Mapping[str, Any]) -> str:
    """A line of a full export."""
    return f"{_MARKER}{{Item:{_struct(item)}}}"


def ion_change(at: int, images: Mapping[str, Mapping[str, Any]]) -> str:
    """A line of an incremental export; `images` holds Keys and, if there are, OldImage and NewImage."""
    keys, *others = images.items()
    parts = [f"{keys[0]}:{_struct(keys[1])}", f"Metadata:{{WriteTimestampMicros:{at}.}}"]
    parts += [f"{name}:{_struct(image)}" for name, image in others]
    return f"{_MARKER}{{Record:{{{','.join(parts)}}}}}"


def _struct(attributes: Mapping[str, Any]) -> str:
    return "{" + ",".join(f"{_name(name)}:{_value(value)}" for name, value in attributes.items()) + "}"


def _name(name: str) -> str:
    return name if _SYMBOL.fullmatch(name) and name not in _RESERVED else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _decimal(number: str) -> str:
    """600 as 6d2: a decimal is told from an integer by its point or exponent."""
    if "." in number:
        return number
    digits = number.rstrip("0")
    zeros = len(number) - len(digits)
    return f"{digits}d{zeros}" if zeros and digits not in ("", "-") else f"{number}."


def _value(value: Mapping[str, Any]) -> str:
    ((kind, content),) = value.items()
    if kind in ("SS", "NS", "BS"):
        return f"$dynamodb_{kind}::[{','.join(_value({kind[0]: element}) for element in content)}]"
    if kind == "N":
        return _decimal(content)
    if kind == "B":
        return f"{{{{{content}}}}}"
    if kind == "BOOL":
        return "true" if content else "false"
    if kind == "NULL":
        return "null"
    if kind == "M":
        return _struct(content)
    if kind == "L":
        return f"[{','.join(map(_value, content))}]"
    return _text(content)
