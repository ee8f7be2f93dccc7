"""Rules followed into an item, step by step: which of them still speak of what lies there. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipeline.columns.declared.overrides import ANY, Override
from pipeline.columns.types import ColumnType, Field

#: The rules that speak of a value or of what is inside it: what is left of the path of each, and the rule.
Rules = Sequence[tuple[tuple[str, ...], Override]]


def inside_items(rules: Iterable[Override]) -> Rules:
    """The rules with their whole paths, as they speak of an item."""
    return [(rule.path, rule) for rule in rules]


def below(rules: Rules, step: str) -> Rules:
    """What is left of them for what lies under a step; what is said of any name holds for each."""
    # Mostly there is none at all, and items of a sample ask this of every value.
    return [(path[1:], rule) for path, rule in rules if path and path[0] in (step, ANY)] if rules else rules


def fields_at(struct: ColumnType, step: str) -> tuple[Field, ...]:
    """The fields of a struct that a step of a rule's path speaks of."""
    found = struct.by_attribute.get(step)
    return struct.fields if step == ANY else (found,) if found else ()


def is_dropped(rules: Rules) -> bool:
    """Whether the value itself is dropped, not only something inside it."""
    return bool(rules) and any(rule.drop for path, rule in rules if not path)


def is_hashed(rules: Rules) -> bool:
    """Whether the value itself is hashed, not only something inside it."""
    return bool(rules) and any(rule.hash for path, rule in rules if not path)


def is_hidden_inside(rules: Rules) -> bool:
    """Whether the value is hashed, or, where it is a map or list, all that is inside it hidden."""
    return bool(rules) and any(rule.also_inside for path, rule in rules if not path)
