"""Names that people give to columns: mostly plain ones, else such as break things, or are nearly another's; and types."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from random import Random
from typing import Any

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

#: Types that attributes' columns have; and such as none has: a whole column of one is left alone, inside another it is refused.
_OF_ATTRIBUTES = (
    "bigint",
    "decimal(9,2)",
    "boolean",
    "binary",
    "array<string>",
    "map<string, bigint>",
    "struct<mine: string>",
)
_FOREIGN = ("date", "double", "array<date>", "map<string, int>")
_PARTLY_FOREIGN = ("struct<mine: string, on: date>", "struct<on: date>", "array<struct<mine: bigint, on: date>>")


def given_name(dice: Random, number: int, there: Collection[str]) -> str:
    """A name for a column, that none of those `there` has; the number is in no other."""
    plain = f"hand{number}"
    if dice.random() < 0.7:
        return plain
    other = dice.choice(sorted(there)) if there else plain
    name = dice.choice((dice.choice(_ODD).format(plain), dice.choice(_TAKEN), other.capitalize()))
    return plain if name in there else name


def given_type(dice: Random) -> str:
    """A type for a column of somebody's own."""
    return dice.choice(("string", "string", "string", *_OF_ATTRIBUTES, *_FOREIGN, *_PARTLY_FOREIGN))


def is_refused(place: list[str], type_: str = "") -> bool:
    """Whether docs/tables.md has a column, or nested field, at such a place refused until it is called otherwise, or gone."""
    name = place[-1]
    if type_ in _PARTLY_FOREIGN or (len(place) > 1 and type_ in _FOREIGN):
        return True
    if len(place) > 1:
        return "`" in name
    return "`" in name or "." in name or name.startswith("#") or name.endswith("#new") or name in _OF_ENGINES


def places_in(around: list[str], field: Mapping[str, Any]) -> Iterator[list[str]]:
    """The place of a column, or of a field in one, as a table's metadata have it, and of the fields of structs in it."""
    place, type_ = [*around, field["name"]], field["type"]
    yield place
    if isinstance(type_, dict) and type_["type"] == "struct":
        for inner in type_["fields"]:
            yield from places_in(place, inner)


def quoted(place: list[str]) -> str:
    """A column, or a nested field, as SQL writes it."""
    return ".".join(f"`{step.replace('`', '``')}`" for step in place)


def text(words: str) -> str:
    """A text as SQL writes it."""
    return "'" + words.replace("\\", "\\\\").replace("'", "\\'") + "'"
