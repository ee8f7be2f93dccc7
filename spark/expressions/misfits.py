"""The misfits of a row: every value that its column cannot hold, by its JSON pointer, as DynamoDB JSON.

Asked only of rows that are known to hold one. What each column takes comes as one constant, path to rule, so that the
expression is as long for a thousand columns as for ten. A rule is the column's kind, with the digits and scale of a decimal
or the rule of a set's elements behind a colon; a value fits here exactly where `spark.expressions.cells` makes a cell of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pipeline.columns.names import MISFITS
from pipeline.columns.pointers import step
from pipeline.columns.types import ColumnType, Field, Kind, set_tag, taken_tags
from spark.expressions.numbers import is_number, number
from spark.expressions.places import Naming, of_members, places
from spark.expressions.pointers import below, step_of
from spark.expressions.sql import Sql, forall, function, joined, let, looked_up, one_of, struct, transform, when
from spark.expressions.values import (
    CONTAINERS,
    dynamodb_json,
    element_of,
    has,
    is_value,
    of,
    says_null,
    strings,
    tag_of,
)

#: What a misfit is kept as that is none of DynamoDB's values (`is_value`): no line that DynamoDB wrote has one.
NO_VALUE = "{}"
#: The misfits of a row with an object that says a name twice: no line that DynamoDB wrote has one either.
_TWIN = f"map('', '{NO_VALUE}')"
#: The steps of the look: all places, with their rules and values; and what is told of each.
_PLACES, _TOLD = "#places", "#told"
#: Of so few rules the table may stand in the expression several times.
_FEW = 100
#: The step of a rule's path that stands for any element or name. In a pointer a tilde never stands alone.
_ANY = "~"
# `pointer`: where the value lies. `path`: the same for the rules. `rule`: what its column takes; null without column.
_WHERE = "struct<pointer:string,path:string,rule:string>"
_NUMBERS = (Kind.LONG.value, Kind.DECIMAL.value, Kind.DIGITS.value, "NS")
#: Which of DynamoDB's types a column takes, not always all their values: its rule up to the colon, and the type.
_TAKEN = (
    *(f"{kind.value} {tag}" for kind in Kind if kind is not Kind.SET for tag in sorted(taken_tags(ColumnType(kind)))),
    *(f"{Kind.JSON.value} of {tag} {tag}" for tag in ("L", "M")),  # plain JSON of which the user has declared the type
    *(f"{tag} {tag}" for tag in ("SS", "NS", "BS")),
)


def look(item: Sql, fields: Sequence[Field]) -> dict[str, Sql]:
    """Columns to be made one after the other, each of the one before; the last, ``_misfits``, tells the item's.

    It is a map of pointer to DynamoDB JSON; null where everything fits, or where there is no item. In one expression,
    Spark's analysis would go through each step as often as all of them together need.
    """
    types = dict(_types("", fields))
    rules = {path: _rule(type_) for path, type_ in types.items()}
    levels = max((path.count("/") for path in rules), default=1)
    numbers = _number_types(types.values())

    def found(known: Sql) -> Sql:
        naming = _naming(lambda path: rule_of(known, path), levels)
        return places(of_members(item, struct(pointer="''", path="''", rule="'struct'"), naming), naming)

    table, rule_of = looked_up(rules, "string")
    # However often a rule is looked up, the table stands there once: of a thousand columns it would be most of the expression.
    all_ = let(table, found) if len(rules) > _FEW else found(table)
    return {_PLACES: all_, _TOLD: _told(f"`{_PLACES}`", numbers), MISFITS: _kept(f"`{_TOLD}`")}


def _kept(told: Sql) -> Sql:
    """The misfits among places and what is told of each (`_told`): a map; null where there are none."""
    # Two places have one pointer where an object says a name twice; of the second value nothing would stay.
    has_twin = f"size(array_distinct({told}.pointer)) < size({told})"
    is_misfit = function(1, lambda place: f"{place}.json IS NOT NULL")
    found = when(f"exists({told}, {is_misfit})", f"map_from_entries(filter({told}, {is_misfit}))")
    return when(has_twin, _TWIN, found)


def _naming(rule_of: Callable[[Sql], Sql], levels: int) -> Naming:
    """Names that carry the rule of their place. `rule_of`: the rule of a path."""

    def named(outer: Sql, name: Sql, step_: Sql) -> Sql:
        path = below(f"{outer}.path", step_)
        return struct(pointer=below(f"{outer}.pointer", name), path=path, rule=rule_of(path))

    def member(outer: Sql, name: Sql) -> Sql:
        return named(outer, step_of(name), when(f"{outer}.rule = 'dictionary'", f"'{_ANY}'", step_of(name)))

    return Naming(
        type=_WHERE,
        member=member,
        element=lambda outer, index: named(outer, index, f"'{_ANY}'"),
        entered=_is_entered,
        levels=levels,
    )


def _is_entered(where: Sql, value: Sql) -> Sql:
    """Whether the members or elements of a value have columns of their own."""
    takes_map = one_of(f"{where}.rule", (Kind.STRUCT.value, Kind.DICTIONARY.value))
    return f"{takes_map} AND {has(value, 'M')} OR {where}.rule = '{Kind.LIST.value}' AND {has(value, 'L')}"


def _types(path: str, fields: Sequence[Field]) -> Iterator[tuple[str, ColumnType]]:
    """The type at every place that has one, by the path of its rule."""
    for field in fields:
        yield from _types_in(f"{path}/{step(field.attribute)}", field.type)


def _types_in(path: str, type_: ColumnType) -> Iterator[tuple[str, ColumnType]]:
    yield path, type_
    if type_.kind is Kind.STRUCT:
        yield from _types(path, type_.fields)
    elif type_.kind in CONTAINERS:
        yield from _types_in(f"{path}/{_ANY}", element_of(type_))


def _number_types(types: Iterable[ColumnType]) -> dict[str, ColumnType]:
    """The types of exact numbers among these and the elements of sets, by their rules."""
    own = (element_of(type_) if type_.kind is Kind.SET else type_ for type_ in types)
    return {_rule(type_): type_ for type_ in own if type_.kind in (Kind.LONG, Kind.DECIMAL)}


def _rule(type_: ColumnType) -> str:
    if type_.kind is Kind.SET:
        return f"{set_tag(type_)}:{_rule(element_of(type_))}"
    if type_.tag:
        return f"{type_.kind.value} of {type_.tag}"
    return f"decimal:{type_.digits},{type_.scale}" if type_.kind is Kind.DECIMAL else type_.kind.value


def _told(places: Sql, numbers: Mapping[str, ColumnType]) -> Sql:
    """Of each place its pointer, and as what it is kept; null where the value has a cell.

    `numbers`: the types of exact numbers by their rules.
    """

    def text(p: Sql) -> Sql:
        value = f"{p}.value"
        is_fit = f"{says_null(value)} OR {_fits(f'{p}.place.rule', value, numbers)}"
        return when(is_value(value), when(is_fit, "NULL", dynamodb_json(value)), f"'{NO_VALUE}'")

    return transform(places, lambda p: struct(pointer=f"{p}.place.pointer", json=text(p)))


def _fits(rule: Sql, value: Sql, numbers: Mapping[str, ColumnType]) -> Sql:
    """Whether a column of this rule has a cell for what is a value (`is_value`); false or null if not, null for no column."""
    kind = f"substring_index({rule}, ':', 1)"
    is_taken = one_of(joined(kind, "' '", tag_of(value)), _TAKEN)
    texts = f"coalesce({strings(of(value, 'NS'))}, array({of(value, 'N')}))"
    own = f"replace({rule}, 'NS:', '')"
    all_fit = forall(texts, lambda text: _number_fits(own, text, numbers))
    is_text = when(f"{kind} = '{Kind.SCALARS.value}' AND NOT {is_number(of(value, 'N'))}", "false", "true")
    held = when(one_of(kind, _NUMBERS), all_fit, is_text)
    return f"{is_taken} AND {held}"


def _number_fits(rule: Sql, text: Sql, numbers: Mapping[str, ColumnType]) -> Sql:
    """Whether a number column makes a cell of a number, by the very expression that makes it; false or null if not."""
    cases = [f"WHEN '{of_type}' THEN {number(type_, text)} IS NOT NULL" for of_type, type_ in numbers.items()]
    return f"CASE {rule} {' '.join(cases)} WHEN '{Kind.DIGITS.value}' THEN {is_number(text)} END"
