"""DynamoDB values as Spark reads them: one type for every value, and what can be made of it natively.

A *value* is a map with one entry, from its type's tag to its text: decoded for S, N and B, JSON without white space for
the others. A *level* is a map of names to values: an item, or the inside of an M. Maps rather than structs, because
Spark's JSON reader spends two thirds of its time on preparing structs. What is inside a value is parsed, once, by who
needs it (`opened`), in the shape that its column's type says.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.columns.types import ColumnType, Kind, set_tag
from spark.expressions.sql import Sql, call, forall, function, joined, literal, one_of, when

TAGS = ("S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "M", "L")
#: The Spark types of a value and of a level.
VALUE_TYPE = "map<string,string>"
LEVEL_TYPE = f"map<string,{VALUE_TYPE}>"

#: The kinds whose cells are made of other cells.
CONTAINERS = (Kind.STRUCT, Kind.DICTIONARY, Kind.LIST)
#: The kinds whose values are parsed before cells are made of them.
PARSED = (*CONTAINERS, Kind.SET)
#: The containers of which every element is gone through.
WALKED = (Kind.LIST, Kind.DICTIONARY)
_TEXTS = ("S", "N", "B")
_CUT = chr(1)
#: Bytes of Base64 from which on it is read as JSON.
_LONG = 100
_LONG_ESCAPES = (("\\\\", "\\u005c"), ('\\"', "\\u0022"))
# One piece of DynamoDB JSON once no string holds an escaped quote: a scalar with its type around it, a string, the
# opening of M, L or a set with the type around it, or its end. What is kept of each stands in a group.
_PIECE = (
    r'\{"[SB]":("[^"]*")\}|\{"N":"([^"]*)"\}|\{"BOOL":(true|false)\}|("[^"]*")|\{"(?:[ML]|[SNB]S)":([{\[])|([}\]])\}'
)
_KEPT = "$1$2$3$4$5$6"
#: An element of a number set: the first after its opening, or one right after the element before it.
_SET_NUMBER = r'(\G(?!^),|\{"NS":\[)"([^"]*)"'


def of(value: Sql, tag: str) -> Sql:
    """The text that a value carries under one of the ten types; null if it is of another."""
    return f"{value}['{tag}']"


def has(value: Sql, tag: str) -> Sql:
    """Whether a value is of this type; never null."""
    return f"{of(value, tag)} IS NOT NULL"


def tag_of(value: Sql) -> Sql:
    """The tag of a value that carries one."""
    return f"map_keys({value})[0]"


def is_set(value: Sql) -> Sql:
    """Whether a value is a set; false or null where not."""
    return one_of(tag_of(value), ("SS", "NS", "BS"))


def has_one_type(value: Sql) -> Sql:
    """Whether a value carries exactly one of the ten types, as every value does that DynamoDB wrote; never null."""
    one = f"size({value}) = 1 AND map_values({value})[0] IS NOT NULL AND {one_of(tag_of(value), TAGS)}"
    return when(one, "true", "false")


def says_null(value: Sql) -> Sql:
    """Whether a value is NULL, which says true; never null."""
    return f"{of(value, 'NULL')} <=> 'true'"


def is_value(value: Sql) -> Sql:
    """Whether a value is one that DynamoDB may have written: one type, and content of that type; false or null if not.

    What is inside a map or list is not looked at, nor how a number is spelled.
    """
    fits = {
        "BOOL": one_of(of(value, "BOOL"), ("true", "false")),
        "NULL": says_null(value),
        "B": f"{decoded(of(value, 'B'))} IS NOT NULL",
        "SS": forall(strings(of(value, "SS")), lambda text: f"{text} IS NOT NULL"),
        "NS": forall(strings(of(value, "NS")), lambda text: f"{text} IS NOT NULL"),
        "BS": forall(strings(of(value, "BS")), lambda text: f"{decoded(text)} IS NOT NULL"),
        "M": f"{members(value)} IS NOT NULL",
        "L": forall(elements(value), lambda element: f"{element} IS NOT NULL"),
    }
    cases = " ".join(f"WHEN '{tag}' THEN {fit}" for tag, fit in fits.items())
    return when(has_one_type(value), f"CASE {tag_of(value)} {cases} ELSE true END", "false")


def decoded(text: Sql) -> Sql:
    """The bytes that Base64 stands for; null for any other text, but for white space in it.

    `unbase64` passes over what is no Base64, or ends the job by it. Of short texts `try_to_binary` tells in a third of the
    time that Spark's JSON reader takes; of long ones it takes twice as long.
    """
    short = f"try_to_binary({text}, 'base64')"
    listed = joined(literal('["'), text, literal('"]'))
    is_one = f"NOT contains({text}, {literal(chr(34))}) AND NOT contains({text}, {literal(chr(92))})"
    long = when(is_one, f"from_json({listed}, 'array<binary>')[0]")
    return when(f"octet_length({text}) % 4 = 0", when(f"octet_length({text}) < {_LONG}", short, long))


def members(value: Sql) -> Sql:
    """The inside of an M as a level; null for other values."""
    return f"from_json({of(value, 'M')}, '{LEVEL_TYPE}')"


def elements(value: Sql) -> Sql:
    """The inside of an L as an array of values; null for other values."""
    return f"from_json({of(value, 'L')}, 'array<{VALUE_TYPE}>')"


def placed(level: Sql, types: Mapping[str, str]) -> Sql:
    """What a level, given as JSON text, has under names, each of its Spark type: a struct with fields called c0, c1, ….

    A value is found by its place there: a map's names are gone through one by one.
    """
    named = ",".join(f"`{name.replace('`', '``')}`:{type_}" for name, type_ in types.items())
    numbered = ",".join(f"c{place}:{type_}" for place, type_ in enumerate(types.values()))
    # Spark looks for one name of its own among them, `_corrupt_record`, unless told another: one that is none of these.
    none_of_them = "_" * (1 + max(map(len, types)))
    options = f"map('columnNameOfCorruptRecord', '{none_of_them}')"
    return f"cast(from_json({level}, {literal(f'struct<{named}>')}, {options}) AS struct<{numbered}>)"


def strings(text: Sql) -> Sql:
    """The elements of a set, from its JSON."""
    # Without a backslash no element holds a quote or a control character, so the text can be cut where quotes meet a comma.
    # One character to cut at: only for that Java needs no regular expression.
    is_plain = f"NOT contains({text}, {literal(chr(92))}) AND startswith({text}, '[\"') AND endswith({text}, '\"]')"
    inside = f"replace(substr({text}, 3, length({text}) - 4), '\",\"', {literal(_CUT)})"
    return when(is_plain, f"split({inside}, {literal(_CUT)})", f"from_json({text}, 'array<string>')")


def opened(type_: ColumnType, value: Sql) -> Sql:
    """What cells of this type are made of: the inside of containers and sets, parsed, and scalar values as they are.

    Null for a container or set where the value is of another type.
    """
    if type_.kind is Kind.SET:
        return strings(of(value, set_tag(type_)))
    if type_.kind in CONTAINERS:
        return f"from_json({of(value, container_tag(type_))}, '{_shape(type_)}')"
    return value


def opened_inside(type_: ColumnType, value: Sql) -> Sql:
    """The same for an element of a list or a value of a dictionary that has been opened: containers are parsed already."""
    return of(value, container_tag(type_)) if type_.kind in CONTAINERS else opened(type_, value)


def container_tag(type_: ColumnType) -> str:
    """Under which of DynamoDB's types the inside of a container of this type stands."""
    return "L" if type_.kind is Kind.LIST else "M"


def element_of(type_: ColumnType) -> ColumnType:
    """The type of the elements of a list or set, or of the values of a dictionary."""
    assert type_.element is not None  # those kinds have one
    return type_.element


def _shape(type_: ColumnType) -> str:
    """The Spark type of an opened container."""
    if type_.kind is Kind.STRUCT:
        return LEVEL_TYPE
    element = element_of(type_)
    inside = VALUE_TYPE
    if element.kind in CONTAINERS:
        inside = f"struct<`{container_tag(element)}`:{_shape(element)},`NULL`:string>"
    return f"array<{inside}>" if type_.kind is Kind.LIST else f"map<string,{inside}>"


def dynamodb_json(value: Sql) -> Sql:
    """A value as DynamoDB JSON."""
    text = f"map_values({value})[0]"
    shown = when(one_of(tag_of(value), _TEXTS), json_of_text(text), text)
    return joined("'{\"'", tag_of(value), "'\":'", shown, "'}'")


def json_of(cell: Sql) -> Sql:
    """A cell of any type as JSON: a text with its quotes."""
    array = f"to_json(array({cell}))"  # Spark writes JSON of containers only
    return f"substr({array}, 2, length({array}) - 2)"


def json_of_text(text: Sql) -> Sql:
    """The same of a text, whose quotes keep what is inside from being trimmed."""
    return f"trim(BOTH '[]' FROM to_json(array({text})))"


def with_long_escapes(json: Sql) -> Sql:
    r"""JSON in which every escaped backslash and quote is a \u escape, so that a quote always delimits a string."""
    for escaped, longer in _LONG_ESCAPES:
        json = call("replace", json, literal(escaped), literal(longer))
    return json


def plain_json(text: Sql) -> Sql:
    r"""Plain JSON of a value of any depth given as DynamoDB JSON: N as a number, B as base64, sets as arrays.

    Works on the text alone, once a quote always delimits a string: then each piece loses the type around it, and the
    escapes become short again.
    """
    text = call("replace", with_long_escapes(text), literal('{"NULL":true}'), literal("null"))
    for pattern, kept in ((_SET_NUMBER, "$1$2"), (_PIECE, _KEPT)):
        text = call("regexp_replace", text, literal(pattern), literal(kept))
    for escaped, longer in reversed(_LONG_ESCAPES):
        text = call("replace", text, literal(longer), literal(escaped))
    return text


def null_count(level: Sql) -> Sql:
    """How many members of a level are NULL."""
    return f"size(filter(map_values({level}), {function(1, says_null)}))"
