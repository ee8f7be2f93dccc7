"""Values that a declared type excludes where no column shows it: inside plain JSON, and in dictionaries of another type.

All rules are followed into the item at once, because of several that speak of a place the last decides, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pipeline.columns.beyond_columns import beyond_columns
from pipeline.columns.declared.overrides import ANY, Override, Overrides, deciding
from pipeline.columns.declared.rules_inside import Rules, below, inside_items
from pipeline.columns.declared.type_words import is_narrow, tags_of, type_of_pin
from pipeline.columns.in_table.table_columns import Columns
from spark.expressions.numbers import number
from spark.expressions.sql import Sql, among, call, function, joined, let, literal, member, one_of, transform, when
from spark.expressions.values import elements, members, of, says_null, tag_of

#: What stands behind the pointer of such a rule, and before the type of the value, in ``#contradicted``.
EXCLUDES = "which excludes values of type "


def excluded(columns: Columns, said: Overrides, name: str) -> list[Sql]:
    """For each attribute that may hold such a value: the rule's pointer, a line end, and what it excludes; null for none.

    Made of protected items (levels) in a column. `columns`: those that the items become.
    """
    beyond = beyond_columns(columns, said)
    typed = inside_items(rule for rule in said.rules if rule.pin or rule.hash)
    attributes = dict.fromkeys(rule.path[0] for rule in beyond)
    return [_excluded(member(f"`{name}`", attribute), below(typed, attribute), beyond) for attribute in attributes]


def _excluded(value: Sql, rules: Rules, beyond: Sequence[Override]) -> Sql:
    """What those beyond columns exclude of a value and of all that is inside it; null for nothing.

    `rules`: all by which a type is said or a value hashed, with what is left of each path.
    """
    decides = deciding([rule for path, rule in rules if not path])
    names = list(dict.fromkeys(path[0] for path, _ in rules if path and path[0] != ANY))
    found = [_if_excluded(value, decides)] if decides in beyond else []
    if names:
        found.append(let(members(value), lambda level: _of_names(level, names, rules, beyond)))
    if of_any := below(rules, ANY):
        found.append(_of_any(value, names, lambda one: _excluded(one, of_any, beyond)))
    return call("coalesce", *found, "CAST(NULL AS STRING)")


def _of_names(level: Sql, names: Sequence[str], rules: Rules, beyond: Sequence[Override]) -> Sql:
    return call("coalesce", *(_excluded(member(level, name), below(rules, name), beyond) for name in names))


def _of_any(value: Sql, names: Sequence[str], body: Callable[[Sql], Sql]) -> Sql:
    """What is found first in elements of a list, or in members of a map but those of the names."""
    level = members(value)
    if names:
        level = call("map_filter", level, function(2, lambda name, _: f"NOT {among(name, names)}"))
    found = transform(f"coalesce(map_values({level}), {elements(value)})", body)
    return f"filter({found}, {function(1, lambda one: f'{one} IS NOT NULL')})[0]"


def _if_excluded(value: Sql, rule: Override) -> Sql:
    column = type_of_pin(rule.type)
    if column and is_narrow(rule.type):
        fits = f"{number(column, of(value, 'N'))} IS NOT NULL"
    else:
        fits = one_of(tag_of(value), tags_of(rule.type))
    told = joined(literal(f"{rule.pointer}\nthe type {rule.type}, {EXCLUDES}"), tag_of(value))
    return when(f"{says_null(value)} OR {fits}", "CAST(NULL AS STRING)", told)
