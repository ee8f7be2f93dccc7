"""DynamoDB values as Spark reads them: one type for every value, and what can be made of it natively.

A *value* is a struct with a member for each of the ten DynamoDB types, of which exactly one is not null. A *level* is a
map of names to values: an item, or the inside of an M. The inside of M and L is read with the same parse for as many
levels as most items have (`NATIVE`), which costs no more than reading the first; below that it stays JSON text, which
Spark writes without white space, and is parsed by those who need it. How many native levels a value still has is its
`depth`: 0 for one whose M and L are text.
"""

from __future__ import annotations

from spark.sql import Sql, call, literal, transform

TAGS = ("S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "M", "L")
#: The depth of an item's own values.
NATIVE = 2

# One piece of DynamoDB JSON once no string holds an escaped quote: a scalar with its type around it, a string, the
# opening of M, L or a set with the type around it, or its end. What is kept of each stands in a group.
_PIECE = (
    r'\{"[SB]":("[^"]*")\}|\{"N":"([^"]*)"\}|\{"BOOL":(true|false)\}|("[^"]*")|\{"(?:[ML]|[SNB]S)":([{\[])|([}\]])\}'
)
_KEPT = "$1$2$3$4$5$6"
#: An element of a number set: the first after its opening, or one right after the element before it.
_SET_NUMBER = r'(\G(?!^),|\{"NS":\[)"([^"]*)"'


def value_type(depth: int) -> str:
    """The Spark type of a value of this depth."""
    inside = ("string", "string") if depth == 0 else (level_type(depth - 1), f"array<{value_type(depth - 1)}>")
    strings = "array<string>"
    types = ("string", "string", "string", "boolean", "boolean", strings, strings, strings, *inside)
    return "struct<" + ",".join(f"`{tag}`:{type_}" for tag, type_ in zip(TAGS, types)) + ">"


def level_type(depth: int) -> str:
    """The Spark type of a level whose values have this depth."""
    return f"map<string,{value_type(depth)}>"


#: The Spark type of an item.
ITEM_TYPE = level_type(NATIVE)


def of(value: Sql, tag: str) -> Sql:
    """What a value carries under one of the ten types; null if it is of another."""
    return f"{value}.`{tag}`"


def has(value: Sql, tag: str) -> Sql:
    """Whether a value is of this type; never null."""
    return f"isnotnull({of(value, tag)})"


def below(depth: int) -> int:
    """The depth of the values inside a value of this depth: where text is parsed, it is parsed to full depth."""
    return depth - 1 if depth else NATIVE


def members(value: Sql, depth: int, below: int = NATIVE) -> Sql:
    """The inside of an M as a level; null for other values. `below`: the depth to parse to, where it is still text."""
    return of(value, "M") if depth else f"from_json({of(value, 'M')}, '{level_type(below)}')"


def elements(value: Sql, depth: int, below: int = NATIVE) -> Sql:
    """The inside of an L as an array of values; null for other values. `below` as in `members`."""
    return of(value, "L") if depth else f"from_json({of(value, 'L')}, 'array<{value_type(below)}>')"


def has_one_type(value: Sql) -> Sql:
    """Whether a value carries exactly one of the ten types, as every value does that DynamoDB wrote."""
    # Function calls rather than operators in brackets: Spark's parser takes seconds over those in a fresh session.
    return f"size(array_compact(array({', '.join(f'if({has(value, tag)}, 1, NULL)' for tag in TAGS)}))) = 1"


def dynamodb_json(value: Sql, depth: int) -> Sql:
    """A value as DynamoDB JSON."""
    simple = ", ".join(f"{of(value, tag)} AS `{tag}`" for tag in TAGS if tag not in ("M", "L"))
    map_text, list_text = _members_text(of(value, "M"), depth), _elements_text(of(value, "L"), depth)
    return (
        f"CASE WHEN {has(value, 'M')} THEN concat('{{\"M\":', {map_text}, '}}') "
        f"WHEN {has(value, 'L')} THEN concat('{{\"L\":', {list_text}, '}}') ELSE to_json(struct({simple})) END"
    )


def _members_text(inside: Sql, depth: int) -> Sql:
    if depth == 0:
        return inside
    texts = transform(
        f"map_entries({inside})",
        lambda e: call("concat", json_string(f"{e}.key"), "':'", dynamodb_json(f"{e}.value", depth - 1)),
    )
    return f"concat('{{', array_join({texts}, ','), '}}')"


def _elements_text(inside: Sql, depth: int) -> Sql:
    if depth == 0:
        return inside
    return f"concat('[', array_join({transform(inside, lambda v: dynamodb_json(v, depth - 1))}, ','), ']')"


def json_string(text: Sql) -> Sql:
    """A text as a JSON string, quotes included."""
    array = f"to_json(array({text}))"  # ["…"]
    return f"substr({array}, 2, length({array}) - 2)"


def plain_json(text: Sql) -> Sql:
    r"""Plain JSON of a value of any depth given as DynamoDB JSON: N as a number, B as base64, sets as arrays.

    Works on the text alone. First every escaped backslash and quote becomes a \u escape, so that a quote always delimits
    a string; then each piece loses the type around it; then the two escapes become short again.
    """
    for escaped, longer in (("\\\\", "\\u005c"), ('\\"', "\\u0022"), ('{"NULL":true}', "null")):
        text = call("replace", text, literal(escaped), literal(longer))
    for pattern, kept in ((_SET_NUMBER, "$1$2"), (_PIECE, _KEPT)):
        text = call("regexp_replace", text, literal(pattern), literal(kept))
    for longer, escaped in (("\\u0022", '\\"'), ("\\u005c", "\\\\")):
        text = call("replace", text, literal(longer), literal(escaped))
    return text
