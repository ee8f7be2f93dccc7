"""Items of many attributes: what a thousand columns would each do over and over is done once an item, by way of JSON.

A value is found by its place, for a map's names are gone through one by one. Numbers are spelled as DynamoDB prints
them, so that the rule of a number's column is a tenth as long: Spark analyses and compiles one for each column.
"""

from __future__ import annotations

from collections.abc import Sequence

from spark.numbers import PLAIN, plain_number
from spark.sql import Sql, call, function, literal, transform_values, when
from spark.values import VALUE_TYPE

#: Of more attributes than these, items are read this way.
WIDE = 200
#: A number of a value of the item itself; what is inside M, L and NS stands in strings here, where quotes are escaped.
_SPELLED_OTHERWISE = f'"N":"(?!(?:{PLAIN})")'


def by_place(item: Sql, attributes: Sequence[str]) -> Sql:
    """The values of an item as a struct: ``c<i>`` is the i-th attribute's, a number in it as DynamoDB prints it."""
    named = ",".join(f"`{attribute.replace('`', '``')}`:{VALUE_TYPE}" for attribute in attributes)
    numbered = ",".join(f"c{i}:{VALUE_TYPE}" for i in range(len(attributes)))
    # Spark looks for one name of its own among them, `_corrupt_record`, unless told another: one that is none of these.
    none_of_them = "_" * (1 + max(map(len, attributes)))
    json = call("to_json", item)
    spelled_otherwise = call("rlike", json, literal(_SPELLED_OTHERWISE))
    text = when(spelled_otherwise, call("to_json", _spelled_plainly(item)), json)
    options = f"map('columnNameOfCorruptRecord', '{none_of_them}')"
    return f"cast(from_json({text}, {literal(f'struct<{named}>')}, {options}) AS struct<{numbered}>)"


def _spelled_plainly(item: Sql) -> Sql:
    """The item with its numbers as DynamoDB prints them; what is no number stays."""

    def plain(tag: Sql, text: Sql) -> Sql:
        return when(f"{tag} = 'N'", f"coalesce({plain_number(text)}, {text})", text)

    return transform_values(item, lambda value: call("transform_values", value, function(2, plain)))
