"""Random values of DynamoDB's ten types and random attribute names, with a liking for the ones that break things."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import Any

Value = dict[str, Any]

SCALARS = ("S", "N", "B", "BOOL", "NULL")
TYPES = (*SCALARS, "SS", "NS", "BS", "L", "M")
_DEEPEST = 6
#: DynamoDB's limit is 32 levels; a value goes all the way now and then.
_DEEPEST_OF_ALL = 31

_NAMES = (
    *("total", "Total", "TOTAL", "to tal", "to.tal", "to_tal", "to-tal", "ship.to", "/ship/to", "a~b", "a~0b", "#note"),
    *(
        "select",
        "from",
        "null",
        "true",
        "_",
        "__",
        "1",
        "_1",
        "1st",
        "2",
        "*",
        "%",
        "$",
        "?",
        ":v",
        "'",
        '"',
        "`",
        "\\",
        "\\n",
    ),
    *("_file", "_pos", "_partition", "_deleted", "_row_id", "__row_operation"),
    *("_misfits", "_write_time", "#deleted", "#odd", "key", "value", "element", "S", "N", "M", "L", "Item", "NewImage"),
    *("x'; DROP TABLE orders; --", "a`b", "a``b", "{}", "[0]", "a,b", "tab\there", "line\nbreak", "\u00a0", "\u200b"),
    *("ä", "a\u0308", "ß", "SS", "ıI", "İ", "😀", "👩‍👩‍👧", "数量", "مبلغ", "n" * 255, "N" * 300, "ab" * 200 + "c"),
)
_TEXTS = (
    *(
        "",
        " ",
        "x",
        "NULL",
        "null",
        "true",
        "1",
        "-0",
        "1e5",
        "NaN",
        "2026-11-01T00:00:00Z",
        "[1,2]",
        '{"S":"x"}',
        "{}",
    ),
    *(
        '":{}',
        'q"u\\o',
        "back\\slash",
        "line\nbreak",
        "tab\t",
        "\u0001",
        "\u2028",
        "ä",
        "a\u0308",
        "😀",
        "/a~b",
        "=HYPERLINK()",
    ),
)
_NUMBERS = (
    *("0", "1", "-1", "7", "12.5", "12.50", "0.001", "-0.5", "1e0", "1.0", "100", "1E2", "9223372036854775807"),
    *("9223372036854775808", "-9223372036854775808", "12345678901234567890123456789012345678", "1E125", "-1E125"),
    *("1E-130", "9.9999999999999999999999999999999999999E+125", "0.1234567890123456789012345678901234567", "33.333333"),
)


def names(dice: Random, count: int) -> list[str]:
    """So many different attribute names."""
    chosen = dict.fromkeys(dice.sample(_NAMES, min(count, len(_NAMES))))
    while len(chosen) < count:
        chosen["".join(chr(dice.choice((dice.randrange(32, 127), dice.randrange(160, 0x2FFF)))) for _ in range(5))] = (
            None
        )
    return list(chosen)


def value(dice: Random, kind: str, inner: list[str], depth: int = 0, *, of_maps: bool = False) -> Value:
    """A value of a type; members of maps are named from `inner`. `of_maps`: a list of maps, if it is a list, with few others."""
    made: Any
    if kind == "L":
        usual, share = ("M", 0.98) if of_maps else (dice.choice(TYPES), 0.8)
        kinds = [usual if dice.random() < share else dice.choice(TYPES) for _ in range(dice.choice((0, 1, 2, 3, 5)))]
        made = [value(dice, _shallow(one, depth), inner, depth + 1) for one in kinds]
    elif kind == "M":
        chosen = dice.sample(inner, dice.randrange(min(5, len(inner)) + 1))
        made = {name: value(dice, _shallow(usual_type(name, dice), depth), inner, depth + 1) for name in chosen}
    elif kind in ("SS", "NS", "BS"):
        elements = [scalar(dice, kind[0]) for _ in range(dice.randrange(1, 4))]
        # By value: DynamoDB refuses a set that holds a number twice.
        made = list({Decimal(one) if kind == "NS" else one: one for one in elements}.values())
    else:
        made = scalar(dice, kind)
    return {kind: made}


def deep(dice: Random) -> Value:
    """A value that goes as deep as DynamoDB lets it, through maps and lists."""
    made = value(dice, "N", [])
    for _ in range(_DEEPEST_OF_ALL):
        made = {"L": [made]} if dice.random() < 0.5 else {"M": {dice.choice("abc"): made}}
    return made


def scalar(dice: Random, kind: str) -> Any:
    """The content of a scalar, or of an element of a set."""
    if kind == "S":
        return dice.choice(_TEXTS) if dice.random() < 0.8 else "".join(map(chr, dice.choices(range(1, 0xD7FF), k=8)))
    if kind == "N":
        return (
            dice.choice(_NUMBERS)
            if dice.random() < 0.7
            else f"{dice.randrange(-(10**6), 10**6)}E{dice.randrange(-9, 9)}"
        )
    if kind == "B":
        return dice.randbytes(dice.choice((0, 1, 2, 9)))
    return True if kind == "NULL" else dice.random() < 0.5


def usual_type(name: str, dice: Random) -> str:
    """The type that an attribute of this name mostly has; any other now and then."""
    return TYPES[sum(map(ord, name)) % len(TYPES)] if dice.random() < 0.93 else dice.choice(TYPES)


def holds_maps(name: str) -> bool:
    """Whether lists of an attribute of this name are lists of maps."""
    return sum(map(ord, name)) % 3 > 0


def _shallow(kind: str, depth: int) -> str:
    return "S" if kind in ("L", "M") and depth >= _DEEPEST else kind
