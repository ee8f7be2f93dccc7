"""DynamoDB values as Spark reads them: one type for every value, and what can be made of it natively.

A *value* is a struct with a member for each of the ten DynamoDB types, of which exactly one is not null. A *level* is a
map of names to values: an item, or the inside of an M. The inside of M and L is read with the same parse for as many
levels as most items have (`NATIVE`), which costs no more than reading the first; below that it stays JSON text, which
Spark writes without white space, and is parsed by those who need it. How many native levels a value still has is its
`depth`: 0 for one whose M and L are text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add

from pyspark.sql import Column
from pyspark.sql import functions as F

TAGS = ("S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "M", "L")
#: The depth of an item's own values.
NATIVE = 2

# One token of DynamoDB JSON once no string holds an escaped quote: a scalar with its type around it, a string, the
# opening of M, L or a set with the type around it, or its end. What is kept of each stands in a group.
_TOKEN = (
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


def let(value: Column, body: Callable[[Column], Column]) -> Column:
    """`body` of `value`, which is computed once however often `body` mentions it."""
    return F.transform(F.array(value), body)[0]


def below(depth: int) -> int:
    """The depth of the values inside a value of this depth: where text is parsed, it is parsed to full depth."""
    return depth - 1 if depth else NATIVE


def members(value: Column, depth: int) -> Column:
    """The inside of an M as a level of depth `below(depth)`; null for other values."""
    return value["M"] if depth else F.from_json(value["M"], level_type(NATIVE))


def elements(value: Column, depth: int) -> Column:
    """The inside of an L as an array of values of depth `below(depth)`; null for other values."""
    return value["L"] if depth else F.from_json(value["L"], f"array<{value_type(NATIVE)}>")


def has_one_type(value: Column) -> Column:
    """Whether a value carries exactly one of the ten types, as every value does that DynamoDB wrote; null for none."""
    return reduce(add, (value[tag].isNotNull().cast("int") for tag in TAGS)) == 1


def dynamodb_json(value: Column, depth: int) -> Column:
    """A value as DynamoDB JSON."""
    return (
        F.when(value["M"].isNotNull(), F.concat(F.lit('{"M":'), _members_text(value["M"], depth), F.lit("}")))
        .when(value["L"].isNotNull(), F.concat(F.lit('{"L":'), _elements_text(value["L"], depth), F.lit("}")))
        .otherwise(F.to_json(F.struct(*(value[tag].alias(tag) for tag in TAGS if tag not in ("M", "L")))))
    )


def _members_text(inside: Column, depth: int) -> Column:
    if depth == 0:
        return inside
    texts = F.transform(
        F.map_entries(inside),
        lambda e: F.concat(json_string(e["key"]), F.lit(":"), dynamodb_json(e["value"], depth - 1)),
    )
    return F.concat(F.lit("{"), F.array_join(texts, ","), F.lit("}"))


def _elements_text(inside: Column, depth: int) -> Column:
    if depth == 0:
        return inside
    texts = F.transform(inside, lambda value: dynamodb_json(value, depth - 1))
    return F.concat(F.lit("["), F.array_join(texts, ","), F.lit("]"))


def json_string(text: Column) -> Column:
    """A text as a JSON string, quotes included."""
    member = F.to_json(F.struct(text.alias("s")))  # {"s":"…"}
    return member.substr(F.lit(6), F.length(member) - 6)


def plain_json(text: Column) -> Column:
    r"""Plain JSON of a value of any depth given as DynamoDB JSON: N as a number, B as base64, sets as arrays.

    Works on the text alone. First every escaped backslash and quote becomes a ``\\u`` escape, so that a quote always
    delimits a string; then each token loses the type around it; then the two escapes become short again.
    """
    text = F.replace(F.replace(text, F.lit("\\\\"), F.lit("\\u005c")), F.lit('\\"'), F.lit("\\u0022"))
    text = F.replace(text, F.lit('{"NULL":true}'), F.lit("null"))
    text = F.regexp_replace(F.regexp_replace(text, _SET_NUMBER, "$1$2"), _TOKEN, _KEPT)
    return F.replace(F.replace(text, F.lit("\\u0022"), F.lit('\\"')), F.lit("\\u005c"), F.lit("\\\\"))
