"""Whether a cell, or JSON, says the same as a value of DynamoDB's, without any of the code that wrote it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

Tagged = Mapping[str, Any]


def same(tag: str, inner: Any, cell: Any) -> bool:
    """Whether a scalar, a set, or a value kept as text is the cell's value."""
    try:
        return cell is not None and _same_cell(tag, inner, cell)
    except (ArithmeticError, ValueError, TypeError):
        return False  # a text that is no number or no JSON, where the value is one; elements that have no order


def _same_cell(tag: str, inner: Any, cell: Any) -> bool:
    if tag in ("SS", "NS", "BS") and isinstance(cell, list):
        return _same_elements(tag, inner, cell)
    if tag in ("M", "L", "SS", "NS", "BS"):
        return isinstance(cell, str) and _plain_equal(
            json.loads(cell, parse_float=Decimal, parse_int=Decimal), {tag: inner}
        )
    if tag == "N":
        if isinstance(cell, str) and ("e" in cell.lower()):
            return False
        return not isinstance(cell, (bool, bytes)) and Decimal(str(cell)) == Decimal(inner)
    if tag == "BOOL":
        return bool(cell is inner or cell == str(inner).lower())
    if tag == "B":
        return bool(bytes(cell) == inner) if isinstance(cell, bytes) else bool(cell == base64.b64encode(inner).decode())
    return bool(cell == inner)


def _same_elements(tag: str, source: list[Any], found: list[Any]) -> bool:
    """Whether two sets hold the same, in any order: numbers by value, text and bytes as they are."""
    if tag == "NS":
        return sorted(map(Decimal, source)) == sorted(map(Decimal, found))
    return bool(sorted(source) == sorted(found))


def _plain_equal(found: Any, value: Tagged) -> bool:
    """Whether plain JSON (N as a number, B as base64, sets as arrays) is what a tagged value should have become."""
    (tag, inner), *_ = value.items()
    if tag == "M":
        if not isinstance(found, dict) or found.keys() != inner.keys():
            return False
        return all(_plain_equal(found[name], below) for name, below in inner.items())
    if tag == "L":
        if not isinstance(found, list) or len(found) != len(inner):
            return False
        return all(_plain_equal(f, below) for f, below in zip(found, inner, strict=True))
    if tag == "NULL":
        return found is None
    if tag == "N":
        return isinstance(found, Decimal) and found == Decimal(inner)
    if tag == "BOOL":
        return found is inner  # to Python the number 1 equals true
    if tag == "B":
        return bool(found == base64.b64encode(inner).decode())
    if tag in ("SS", "NS", "BS"):
        elements = [base64.b64encode(e).decode() for e in inner] if tag == "BS" else inner
        of_type = Decimal if tag == "NS" else str
        is_set = isinstance(found, list) and all(isinstance(element, of_type) for element in found)
        return is_set and _same_elements(tag, elements, found)
    return bool(found == inner)


def same_misfit(value: Tagged, text: str) -> bool:
    """Whether a text that anybody may have written is a value as DynamoDB JSON, however that is spelled."""
    try:
        return _meaning(json.loads(text)) == _meaning(_as_json(value))
    except (ArithmeticError, AttributeError, ValueError, TypeError):
        return False  # no JSON, or JSON that is none of DynamoDB's values


def _meaning(value: Tagged) -> tuple[str, Any]:
    """A value given as DynamoDB JSON in a form that is equal for equal ones: numbers by value, sets in one order."""
    ((tag, inner),) = value.items()
    if tag == "M":
        return tag, {name: _meaning(below) for name, below in inner.items()}
    if tag == "L":
        return tag, [_meaning(below) for below in inner]
    if tag in ("SS", "NS", "BS"):
        return tag, sorted(map(Decimal, inner) if tag == "NS" else inner)
    if tag == "BOOL":
        return tag, repr(inner)  # to Python the number 1 equals true
    return tag, Decimal(inner) if tag == "N" else inner


def _as_json(value: Any) -> Any:
    """A tagged value as DynamoDB JSON: bytes as base64."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return {name: _as_json(inner) for name, inner in value.items()}
    return [_as_json(inner) for inner in value] if isinstance(value, (list, tuple, set)) else value
