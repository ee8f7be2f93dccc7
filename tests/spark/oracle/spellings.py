"""Other spellings of the same value: another order where there is none, other white space, numbers written otherwise."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from decimal import Decimal
from random import Random
from typing import Any

_SETS = ("SS", "NS", "BS")
_GAPS = ("", "", " ", "\n", "\t", "  ")
#: Zeros are written out up to so many.
_MOST_ZEROS = 30


class Number(str):
    """A number of JSON, as it is spelled."""

    __slots__ = ()


def read(text: str) -> Any:
    """JSON with its numbers as they are spelled."""
    return json.loads(text, parse_int=Number, parse_float=Number)


def plain(dice: Random, value: Mapping[str, Any]) -> str:
    """A value of DynamoDB's as plain JSON, spelled anyhow."""
    return written(dice, _plain(dice, value))


def tagged(dice: Random, value: Mapping[str, Any]) -> str:
    """A value of DynamoDB's as DynamoDB JSON, spelled anyhow."""
    return written(dice, _tagged(dice, value))


def written(dice: Random, found: Any) -> str:
    """JSON with gaps anywhere, and the members of its objects in any order."""

    def spaced(text: str) -> str:
        return dice.choice(_GAPS) + text + dice.choice(_GAPS)

    if isinstance(found, dict):
        members = [
            f"{spaced(_text(dice, name))}:{written(dice, inner)}" for name, inner in _shuffled(dice, found.items())
        ]
        return spaced("{" + ",".join(members) + "}")
    if isinstance(found, list):
        return spaced("[" + ",".join(written(dice, inner) for inner in found) + "]")
    return spaced(found if isinstance(found, Number) else _text(dice, found))


def number(dice: Random, text: str) -> Number:
    """The same number, as JSON may spell it."""
    exact = Decimal(text)
    spellings = [str(exact), f"{exact:E}", f"{exact:e}"]
    if abs(exact.adjusted()) < _MOST_ZEROS:
        whole = f"{exact:f}"
        spellings += [whole, whole + "0" if "." in whole else whole + ".0"]
    return Number(dice.choice(spellings))


def _plain(dice: Random, value: Mapping[str, Any]) -> Any:
    ((tag, inner),) = value.items()
    if tag == "M":
        return {name: _plain(dice, below) for name, below in inner.items()}
    if tag == "L":
        return [_plain(dice, below) for below in inner]
    if tag in _SETS:
        return [_plain(dice, {tag[0]: one}) for one in _shuffled(dice, inner)]
    if tag == "NULL":
        return None
    if tag == "N":
        return number(dice, inner)
    return base64.b64encode(inner).decode() if tag == "B" else inner


def _tagged(dice: Random, value: Mapping[str, Any]) -> Any:
    ((tag, inner),) = value.items()
    if tag == "M":
        return {tag: {name: _tagged(dice, below) for name, below in inner.items()}}
    if tag == "L":
        return {tag: [_tagged(dice, below) for below in inner]}
    if tag in _SETS:
        return {tag: [_tagged(dice, {tag[0]: one})[tag[0]] for one in _shuffled(dice, inner)]}
    if tag == "N":
        return {tag: str(number(dice, inner))}
    return {tag: base64.b64encode(inner).decode() if isinstance(inner, bytes) else inner}


def _shuffled(dice: Random, found: Any) -> list[Any]:
    return dice.sample(list(found), len(found))


def _text(dice: Random, found: Any) -> str:
    return json.dumps(found, ensure_ascii=dice.random() < 0.5)
