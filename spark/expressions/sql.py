"""Expressions as SQL text.

A table of a thousand attributes has expressions of a hundred thousand nodes; built as `Column` objects each node is a
call to Java, as text the whole is one. Everything that comes from data enters through `literal`, and nowhere else.

Where SQL has an operator it is used, and not the function of the same meaning (`IS NOT NULL`, `CAST`): Spark resolves
functions from the innermost outwards, and goes through all its rules again for each level.

Nothing is put in parentheses but arguments. What a pair of parentheses is (an expression, a row, a query, a lambda's
parameters) the parser finds out by reading on to its end, and within it of each pair again: two fifths of the time that
a new JVM took for the expressions of a load. So what has an operator is made to stand where it is used, beside operators
that bind less: a condition beside AND, OR and NOT, if it is no AND or OR itself; those go where an argument goes, to
`when` mostly.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from zlib import crc32

#: A Spark SQL expression.
Sql = str

_numbers = itertools.count(1)
#: So many conditions are counted by a sum, and more as a list.
_FEW = 50
#: So many entries of a table are one map.
_FEW_ENTRIES = 10


def literal(text: str) -> Sql:
    """Any text as a string constant: spelled in hexadecimal, so that nothing in it can be read as SQL."""
    return f"CAST(X'{text.encode().hex()}' AS STRING)"


def function(parameters: int, body: Callable[..., Sql]) -> Sql:
    """A lambda of so many parameters, whose names occur nowhere else: only a person gives a column capitals, and hardly these."""
    names = [f"_X{next(_numbers)}" for _ in range(parameters)]
    return f"({', '.join(names)}) -> {body(*names)}" if parameters > 1 else f"{names[0]} -> {body(*names)}"


def let(value: Sql, body: Callable[[Sql], Sql]) -> Sql:
    """`body` of `value`, which is computed once however often `body` mentions it."""
    if "(" not in value:
        return body(value)  # a column, a parameter or a part of one: there is nothing to compute
    return f"transform(array({value}), {function(1, body)})[0]"


def transform(array: Sql, body: Callable[[Sql], Sql]) -> Sql:
    """`body` of each element of an array."""
    return f"transform({array}, {function(1, body)})"


def unfolded(array: Sql, times: int, body: Callable[[Sql], Sql]) -> Sql:
    """An array of which each element becomes the elements of `body`, so many times over; as long for many as for one."""

    def once(found: Sql) -> Sql:
        return f"flatten({transform(found, body)})"

    if times <= 1:
        return once(array) if times else array
    # Not a sequence of numbers: for that, Spark asks Scala's reflection, which takes most of a second to begin with.
    return call("aggregate", f"array_repeat(0, {times})", array, function(2, lambda found, _: once(found)))


def transform_values(level: Sql, body: Callable[[Sql], Sql]) -> Sql:
    """`body` of each value of a map."""
    return f"transform_values({level}, {function(2, lambda _, value: body(value))})"


def forall(array: Sql, condition: Callable[[Sql], Sql]) -> Sql:
    """Whether a condition holds of every element of an array."""
    return f"forall({array}, {function(1, condition)})"


def when(condition: Sql, then: Sql, otherwise: Sql = "NULL") -> Sql:
    """One of two expressions; only the one is computed."""
    return first_of([(condition, then)], otherwise)


def first_of(cases: Sequence[tuple[Sql, Sql]], otherwise: Sql = "NULL") -> Sql:
    """The expression that stands beside the first condition which holds; only that one is computed."""
    # Not CASE WHEN: WHEN may be a name there, and the parser reads to the end of the condition to find out; of nested
    # ones, four tenths of a second in a new JVM.
    without = "" if otherwise == "NULL" else f" ELSE {otherwise}"
    return f"CASE true {' '.join(f'WHEN {condition} THEN {then}' for condition, then in cases)}{without} END"


def one_of(text: Sql, words: Iterable[str]) -> Sql:
    """Whether a text is one of the program's own words; null for null."""
    listed = ", ".join(f"'{word}'" for word in words)
    return f"{text} IN ({listed})"


def among(text: Sql, names: Iterable[str]) -> Sql:
    """The same of names that come from data; however many they are, Spark looks for the text once."""
    return f"{text} IN ({', '.join(map(literal, names))})"


def joined(*parts: Sql) -> Sql:
    """Texts, or arrays, one after the other; null if one of them is."""
    return " || ".join(parts)


def call(name: str, *arguments: Sql) -> Sql:
    """A function of expressions."""
    return f"{name}({', '.join(arguments)})"


def struct(**fields: Sql) -> Sql:
    """A struct; the names are the program's own."""
    return call("struct", *(f"{value} AS `{name}`" for name, value in fields.items()))


def looked_up(values: Mapping[str, str | int], type_: str) -> tuple[Sql, Callable[[Sql, Sql], Sql]]:
    """A table of values by text as a constant, and what is found in it for a text (table, text); null for any other.

    A map of Spark's is searched from its beginning. Of more than a few entries this is many small ones, chosen by the
    text's checksum, so that a thousand entries are searched no longer than ten.
    """
    parts: list[dict[str, str | int]] = [{} for _ in range(len(values) if len(values) > _FEW_ENTRIES else 1)]
    for text, value in values.items():
        parts[crc32(text.encode()) % len(parts)][text] = value
    table = f"from_json({literal(json.dumps(parts))}, 'array<map<string,{type_}>>')"

    def found(known: Sql, text: Sql) -> Sql:
        part = f"crc32({text}) % {len(parts)}" if len(parts) > 1 else "0"
        return f"{known}[{part}][{text}]"

    return table, found


def true_counts(conditions: Sequence[Sql]) -> list[Sql]:
    """Numbers that, added up, say how many conditions hold, none of them null."""
    if len(conditions) <= _FEW:
        return [f"CAST({condition} AS INT)" for condition in conditions]
    # A sum is as deep for the parser as it is long.
    return [f"size(array_remove({call('array', *conditions)}, false))"]


def member(level: Sql, name: str) -> Sql:
    """The value of a name in a level; null where there is none."""
    return f"{level}[{literal(name)}]"
