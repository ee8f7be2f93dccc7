"""JSON pointers as expressions: `pipeline.columns.pointers` of what lies in the data."""

from __future__ import annotations

from pipeline.columns.pointers import ESCAPES
from spark.expressions.sql import Sql, call, joined, literal, transform

#: A name of an item is 64 KB at most and a level has 32: no pointer has so many steps.
_MOST_STEPS = 1_000


def step_of(name: Sql) -> Sql:
    """A name as a step of a pointer."""
    for character, escape in ESCAPES:
        name = call("replace", name, literal(character), literal(escape))
    return name


def below(pointer: Sql, step_: Sql) -> Sql:
    """The pointer of what lies one step below."""
    return joined(pointer, "'/'", step_)


def names(pointer: Sql) -> Sql:
    """The names and indices of a pointer's steps, as an array of texts."""

    def name(text: Sql) -> Sql:
        for character, escape in reversed(ESCAPES):
            text = call("replace", text, literal(escape), literal(character))
        return text

    return transform(f"slice(split({pointer}, '/'), 2, {_MOST_STEPS})", name)
