"""Images of items as text: what a journal keeps and an export writes.

Text cannot be changed behind the journal's back, is compared and copied for nothing, and goes into a data file as it
is. Two images of equal items are equal texts: attributes are in alphabetical order, sets in an order of their own.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

# DynamoDB JSON: {"name": {"S": "text"}, ...}
Item = Mapping[str, Any]

_SETS = ("SS", "NS", "BS")
_sorted = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode
_as_given = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def image_of(item: Item) -> str:
    """The compact JSON of a whole item, attributes in alphabetical order as incremental exports show them."""
    return _sorted({name: _with_scattered_sets(value) for name, value in item.items()})


def key_of(item: Item, key: Sequence[str]) -> str:
    """The compact JSON of an item's key attributes; `key` names the partition key, then the sort key if any."""
    return _as_given({name: item[name] for name in key})


def full_export_form(image: str, key: Sequence[str]) -> str:
    """The image as full exports show it: key attributes first, the others in no order a reader could rely on."""
    item = json.loads(image)
    others = sorted((name for name in item if name not in key), key=_scatter)
    return _as_given({name: item[name] for name in (*key, *others)})


def stored_form(item: Item) -> dict[str, Any]:
    """The item as DynamoDB stores it: numbers in plain decimal notation, sets without duplicates. Raises ValueError."""
    return {name: _stored_value(value) for name, value in item.items()}


def plain_number(text: str) -> str:
    """A number as DynamoDB returns it: no exponent, no plus sign, no needless zero, -0 as 0. Raises ValueError."""
    try:
        number = Decimal(text)
    except ArithmeticError as wrong:
        raise ValueError(f"{text!r} is not a number") from wrong
    if not number.is_finite():
        raise ValueError(f"{text!r} is not a number that DynamoDB stores")
    if not number:
        return "0"
    plain = f"{number:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _scatter(text: str) -> int:
    """An order that has nothing to do with insertion or the alphabet, and is always the same."""
    return zlib.crc32(text.encode())


def _with_scattered_sets(value: Mapping[str, Any]) -> Mapping[str, Any]:
    for kind, content in value.items():
        if kind in _SETS:
            return {kind: sorted(content, key=_scatter)}
        if kind == "M":
            return {kind: {name: _with_scattered_sets(inner) for name, inner in content.items()}}
        if kind == "L":
            return {kind: [_with_scattered_sets(inner) for inner in content]}
    return value


def _stored_value(value: Mapping[str, Any]) -> dict[str, Any]:
    if len(value) != 1:
        raise ValueError(f"{value!r} is not an attribute value: it names one type")
    ((kind, content),) = value.items()
    if kind == "N":
        return {kind: plain_number(content)}
    if kind == "NS":
        return {kind: list(dict.fromkeys(map(plain_number, content)))}
    if kind in _SETS:
        return {kind: list(dict.fromkeys(content))}
    if kind == "M":
        return {kind: stored_form(content)}
    if kind == "L":
        return {kind: [_stored_value(inner) for inner in content]}
    return {kind: content}
