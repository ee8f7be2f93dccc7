"""The misfits of a row: every value that its column cannot hold, by its JSON pointer, as DynamoDB JSON.

Asked only of rows that are known to hold one. What each column takes comes as one constant, path to rule, so that the
expression is as long for a thousand columns as for ten. A rule is the column's kind, with the scale of a decimal or the
rule of a set's elements behind a colon; a value fits here exactly where `spark.cells` makes a cell of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pyspark.sql import DataFrame

from pipeline.column_names import MISFITS
from pipeline.column_types import CONTAINER_TAGS, LONG, SCALAR_TAGS, ColumnType, Field, Kind, set_tag
from pipeline.pointers import step
from spark.numbers import is_number, number
from spark.places import Naming, column, of_members, with_places
from spark.pointers import below, step_of
from spark.sql import Sql, call, function, literal, struct, transform, when
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

    Null as well where everything fits. Columns that are needed on the way stay.
    """
    rules = dict(_rules("", fields))
    naming = _naming(rules)
    found = with_places(rows, of_members(item, struct(pointer="''", path="''", rule="'struct'"), naming), naming)
    places = call("concat", *(column(level) for level in range(1, naming.levels + 1)))
    gathered = found.selectExpr("*", f"{places} AS `#places`").selectExpr(
        "*", f"{_entries('`#places`', rules.values())} AS `#entries`"
    )
    return gathered.selectExpr("*", f"{when('size(`#entries`) > 0', 'map_from_entries(`#entries`)')} AS `{MISFITS}`")


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


def _rules(path: str, fields: Sequence[Field]) -> Iterator[tuple[str, str]]:
    for field in fields:
        yield from _rules_of(f"{path}/{step(field.attribute)}", field.type)


def _rules_of(path: str, type_: ColumnType) -> Iterator[tuple[str, str]]:
    yield path, _rule(type_)
    if type_.kind is Kind.STRUCT:
        yield from _rules(path, type_.fields)
    elif type_.kind in CONTAINERS:
        yield from _rules_of(f"{path}/{_ANY}", element_of(type_))


def _rule(type_: ColumnType) -> str:
    if type_.kind is Kind.SET:
        return f"{set_tag(type_)}:{_rule(element_of(type_))}"
    return f"decimal:{type_.scale}" if type_.kind is Kind.DECIMAL else type_.kind.value


def _entries(places: Sql, rules: Iterable[str]) -> Sql:
    """The misfits among places: pointer and text. `rules`: all there are."""
    fits = _fits(_number_types(rules))
    return transform(
        f"filter({places}, {function(1, lambda p: _is_misfit(f'{p}.value', fits(f'{p}.place.rule', f'{p}.value')))})",
        lambda p: struct(
            pointer=f"{p}.place.pointer",
            json=call("coalesce", when(has_one_type(f"{p}.value"), dynamodb_json(f"{p}.value")), f"'{NO_VALUE}'"),
        ),
    )


def _is_misfit(value: Sql, fits: Sql) -> Sql:
    unheld = f"NOT {has(value, 'NULL')} AND NOT coalesce({fits}, false)"
    return f"(NOT {has_one_type(value)} OR ({unheld}))"


def _number_types(rules: Iterable[str]) -> list[tuple[str, ColumnType]]:
    """The rules of number columns, which may stand behind a set's tag, and the types they are the rules of."""
    found = sorted({rule.removeprefix("NS:") for rule in rules})
    scales = [(rule, int(rule.partition(":")[2])) for rule in found if rule.startswith(f"{Kind.DECIMAL.value}:")]
    return [(rule, ColumnType(Kind.DECIMAL, scale)) for rule, scale in scales] + [(Kind.LONG.value, LONG)]


def _fits(numbers: Sequence[tuple[str, ColumnType]]) -> Callable[[Sql, Sql], Sql]:
    """Whether a column of a rule has a cell for a value; null for no column. `numbers`: the number columns' rules."""

    def number_fits(rule: Sql, text: Sql) -> Sql:
        cases = [f"WHEN '{of_type}' THEN isnotnull({number(type_, text)})" for of_type, type_ in numbers]
        return f"CASE {rule} {' '.join(cases)} WHEN '{Kind.DIGITS.value}' THEN {is_number(text)} END"

    def fits(rule: Sql, value: Sql) -> Sql:
        cases = [f"WHEN '{kind}' THEN {' OR '.join(has(value, tag) for tag in tags)}" for kind, tags in _TAGS.items()]
        element_fits = function(1, lambda n: f"coalesce({number_fits(f'substr({rule}, 4)', n)}, false)")
        cases += [
            f"WHEN '{Kind.LIST.value}' THEN isnotnull({elements(value)})",
            f"WHEN '{Kind.STRUCT.value}' THEN isnotnull({members(value)})",
            f"WHEN '{Kind.DICTIONARY.value}' THEN isnotnull({members(value)})",
            f"WHEN 'NS' THEN forall({strings(of(value, 'NS'))}, {element_fits})",
        ]
        return f"CASE substring_index({rule}, ':', 1) {' '.join(cases)} ELSE {number_fits(rule, of(value, 'N'))} END"

    return fits
