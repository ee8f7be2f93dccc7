"""The misfits of a row: every value that its column cannot hold, by its JSON pointer, as DynamoDB JSON.

Asked only of rows that are known to hold one. What each column takes comes as one constant, path to rule, so that the
expression is as long for a thousand columns as for ten. A rule is the column's kind, with the scale of a decimal or the
rule of a set's elements behind a colon; a value fits here exactly where `spark.cells` makes a cell of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pyspark.sql import DataFrame

from pipeline.column_names import MISFITS
from pipeline.column_types import CONTAINER_TAGS, SCALAR_TAGS, ColumnType, Field, Kind, set_tag
from pipeline.pointers import step
from spark.numbers import is_number, number
from spark.places import Naming, of_members, places
from spark.pointers import below, step_of
from spark.sql import Sql, call, function, let, literal, struct, transform, when
from spark.values import CONTAINERS, dynamodb_json, element_of, elements, has, has_one_type, members, of, strings

#: What a misfit is kept as that carries none or several of DynamoDB's types: no line that DynamoDB wrote has one.
NO_VALUE = "{}"
#: The step of a rule's path that stands for any element or name. In a pointer a tilde never stands alone.
_ANY = "~"
# `pointer`: where the value lies. `path`: the same for the rules. `rule`: what its column takes; null without column.
_WHERE = "struct<pointer:string,path:string,rule:string>"
#: The types of DynamoDB's whose values always have a cell in columns of a rule.
_TAGS = {
    Kind.TEXT.value: ["S"],
    Kind.BYTES.value: ["B"],
    Kind.FLAG.value: ["BOOL"],
    Kind.SCALARS.value: sorted(SCALAR_TAGS),
    Kind.JSON.value: sorted(CONTAINER_TAGS),
    "SS": ["SS"],
    "BS": ["BS"],
}


def with_misfits(rows: DataFrame, item: Sql, fields: Sequence[Field]) -> DataFrame:
    """Add ``_misfits``, a map of pointer to DynamoDB JSON: null where `item` is null.

    Null as well where everything fits.
    """
    types = dict(_types("", fields))
    naming = _naming({path: _rule(type_) for path, type_ in types.items()})
    found = places(of_members(item, struct(pointer="''", path="''", rule="'struct'"), naming), naming)
    entries = _entries(found, _number_types(types.values()))
    misfits = let(entries, lambda e: when(f"size({e}) > 0", f"map_from_entries({e})"))
    return rows.selectExpr("*", f"{when(f'{item} IS NOT NULL', misfits)} AS `{MISFITS}`")


def _naming(rules: Mapping[str, str]) -> Naming:
    constant = call("map_from_arrays", _array(rules), _array(rules.values())) if rules else "map('', '')"

    def named(outer: Sql, name: Sql, step_: Sql) -> Sql:
        path = below(f"{outer}.path", step_)
        return struct(pointer=below(f"{outer}.pointer", name), path=path, rule=f"element_at({constant}, {path})")

    def member(outer: Sql, name: Sql) -> Sql:
        return named(outer, step_of(name), when(f"{outer}.rule = 'dictionary'", f"'{_ANY}'", step_of(name)))

    return Naming(
        type=_WHERE,
        member=member,
        element=lambda outer, index: named(outer, index, f"'{_ANY}'"),
        entered=_is_entered,
        levels=max((path.count("/") for path in rules), default=1),
    )


def _is_entered(where: Sql, value: Sql) -> Sql:
    """Whether the members or elements of a value have columns of their own."""
    of_map = f"({where}.rule IN ('{Kind.STRUCT.value}', '{Kind.DICTIONARY.value}') AND {has(value, 'M')})"
    return f"({of_map} OR ({where}.rule = '{Kind.LIST.value}' AND {has(value, 'L')}))"


def _array(texts: Iterable[str]) -> Sql:
    return call("array", *map(literal, texts))


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
    return f"decimal:{type_.scale}" if type_.kind is Kind.DECIMAL else type_.kind.value


def _entries(places: Sql, numbers: Mapping[str, ColumnType]) -> Sql:
    """The misfits among places: pointer and text. `numbers`: the types of exact numbers by their rules."""

    def is_misfit(p: Sql) -> Sql:
        value = f"{p}.value"
        fits = f"coalesce({_fits(f'{p}.place.rule', value, numbers)}, false)"
        return f"(NOT {has_one_type(value)} OR (NOT {has(value, 'NULL')} AND NOT {fits}))"

    return transform(
        f"filter({places}, {function(1, is_misfit)})",
        lambda p: struct(
            pointer=f"{p}.place.pointer",
            json=call("coalesce", when(has_one_type(f"{p}.value"), dynamodb_json(f"{p}.value")), f"'{NO_VALUE}'"),
        ),
    )


def _fits(rule: Sql, value: Sql, numbers: Mapping[str, ColumnType]) -> Sql:
    """Whether a column of this rule has a cell for the value; false or null if not, null for no column."""
    cases = [f"WHEN '{kind}' THEN {' OR '.join(has(value, tag) for tag in tags)}" for kind, tags in _TAGS.items()]
    element_fits = function(1, lambda n: f"coalesce({_number_fits(f'substr({rule}, 4)', n, numbers)}, false)")
    cases += [
        f"WHEN '{Kind.LIST.value}' THEN isnotnull({elements(value)})",
        f"WHEN '{Kind.STRUCT.value}' THEN isnotnull({members(value)})",
        f"WHEN '{Kind.DICTIONARY.value}' THEN isnotnull({members(value)})",
        f"WHEN 'NS' THEN forall({strings(of(value, 'NS'))}, {element_fits})",
    ]
    of_number = _number_fits(rule, of(value, "N"), numbers)
    return f"CASE substring_index({rule}, ':', 1) {' '.join(cases)} ELSE {of_number} END"


def _number_fits(rule: Sql, text: Sql, numbers: Mapping[str, ColumnType]) -> Sql:
    """Whether a number column makes a cell of a number: by the very expression that makes it."""
    cases = [f"WHEN '{of_type}' THEN isnotnull({number(type_, text)})" for of_type, type_ in numbers.items()]
    return f"CASE {rule} {' '.join(cases)} WHEN '{Kind.DIGITS.value}' THEN {is_number(text)} END"
