"""Names that people give to columns: mostly plain ones, else such as break things, or are nearly another's."""

from __future__ import annotations

from collections.abc import Collection
from random import Random

#: In the place of the braces stands what no other name has.
_ODD = (
    *(
        "{} a b",
        "{}'s",
        '{}"',
        "{}\\n",
        "{}-1",
        "1{}",
        "/{}",
        "{},",
        "({})",
        "{}#",
        "Ä{}",
        "{}😀",
        "{}ss",
        "{}" + "n" * 240,
    ),
    *("{}.x", ".{}", "#{}", "{}`", "`{}``", "{}#new"),
)
#: Names that jobs use inside, that engines use, and that a replacement has.
_TAKEN = (
    *("#deleted", "#odd", "#packed", "#rows", "#key", "tidemark_changes", "_file", "_pos", "_partition", "_deleted"),
    *("_row_id", "__row_operation", "__row_from_source", "#new"),
)
#: Those of them that a whole column may not have, by the words of docs/tables.md, beside such as begin or end as jobs' own.
_OF_ENGINES = tuple(name for name in _TAKEN if name.startswith("_"))


def given_name(dice: Random, number: int, there: Collection[str]) -> str:
    """A name for a column, that none of those `there` has; the number is in no other."""
    plain = f"hand{number}"
    if dice.random() < 0.7:
        return plain
    other = dice.choice(sorted(there)) if there else plain
    name = dice.choice((dice.choice(_ODD).format(plain), dice.choice(_TAKEN), other.capitalize()))
    return plain if name in there else name


def is_refused(place: list[str]) -> bool:
    """Whether docs/tables.md has a column, or nested field, at such a place refused until it has another name."""
    name = place[-1]
    if len(place) > 1:
        return "`" in name
    return "`" in name or "." in name or name.startswith("#") or name.endswith("#new") or name in _OF_ENGINES


def quoted(place: list[str]) -> str:
    """A column, or a nested field, as SQL writes it."""
    return ".".join(f"`{step.replace('`', '``')}`" for step in place)


def text(words: str) -> str:
    """A text as SQL writes it."""
    return "'" + words.replace("\\", "\\\\").replace("'", "\\'") + "'"
