"""What carries one of DynamoDB's types and is none of its values does not go unseen where a column takes that type."""

from __future__ import annotations

import pytest

from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.types import BYTES, DIGITS, FLAG, JSON, LONG, SCALARS, TEXT, ColumnType, Field, Kind
from spark.exports.records import items
from spark.expressions import wide_items
from spark.expressions.values import decoded
from spark.expressions.wide_items import WIDE
from spark.rows.projection import rows_with_misfits
from spark.rows.table_rows import unpacked

pytestmark = pytest.mark.spark

SETS = {tag: ColumnType(Kind.SET, element=type_) for tag, type_ in (("SS", TEXT), ("NS", LONG), ("BS", BYTES))}
DICTIONARY = ColumnType(Kind.DICTIONARY, element=TEXT)
TYPES = {
    "text": TEXT,
    "bytes": BYTES,
    "flag": FLAG,
    "scalars": SCALARS,
    "digits": DIGITS,
    "struct": ColumnType(Kind.STRUCT, fields=(Field("x", "x", FLAG),)),
    "dictionary": DICTIONARY,
    "list": ColumnType(Kind.LIST, element=BYTES),
    "json": JSON,
    **SETS,
}
#: Values by the columns that must not take them for what they are not.
NO_VALUES = {
    '{"BOOL":"yes"}': ["flag", "text", "scalars"],
    '{"BOOL":1}': ["flag", "digits", "scalars"],
    '{"NULL":false}': TYPES,
    '{"NULL":"x"}': TYPES,
    '{"B":"a!b"}': ["bytes", "text", "scalars"],
    '{"B":"a"}': ["bytes", "text"],
    '{"B":"QUI"}': ["bytes"],
    r'{"B":"QUI=\",\"QUI="}': ["bytes"],
    r'{"B":"\\u0041UI="}': ["bytes"],
    '{"SS":"x"}': ["SS", "text", "json"],
    '{"SS":{"a":1}}': ["SS", "text"],
    '{"NS":"x"}': ["NS", "text"],
    '{"BS":"x"}': ["BS", "text"],
    '{"BS":["AAE=","a!"]}': ["BS", "text"],
    '{"M":"x"}': ["struct", "dictionary", "text", "json"],
    '{"M":[1]}': ["struct", "dictionary", "text", "json"],
    '{"M":{"x":{"BOOL":"yes"}}}': ["struct", "dictionary"],
    '{"M":{"k":{"S":"1"},"k":{"S":"2"}}}': ["struct", "dictionary"],
    '{"L":"x"}': ["list", "text", "json"],
    '{"L":[1]}': ["list", "text"],
    '{"L":[{"B":"a"}]}': ["list"],
}


def misfits_of(spark, found):
    """The misfits of items with one value each, in a column of its own; None for none."""
    columns = Columns((), tuple(Field(f"a{i}", f"a{i}", type_) for i, (type_, _) in enumerate(found)))
    lines = [(f'{{"Item":{{"a{i}":{value}}}}}',) for i, (_, value) in enumerate(found)]
    rows = unpacked(rows_with_misfits(items(spark.createDataFrame(lines, "value string")), columns), columns)
    return [row["_misfits"] for row in rows.collect()]


@pytest.mark.parametrize("widest_narrow_item", [WIDE, 0])
def test_what_no_value_holds_shows_among_the_misfits_and_is_refused_by_that(spark, monkeypatch, widest_narrow_item):
    monkeypatch.setattr(wide_items, "WIDE", widest_narrow_item)
    cases = [(TYPES[name], value) for value, names in NO_VALUES.items() for name in names]
    for (type_, value), misfits in zip(cases, misfits_of(spark, cases), strict=True):
        assert misfits is not None and "{}" in misfits.values(), f"{value} in a column of {type_.kind}"


def test_what_is_no_number_is_kept_as_it_is(spark):
    cases = [(type_, '{"N":"abc"}') for type_ in (LONG, DIGITS, SCALARS, TEXT)]
    assert misfits_of(spark, cases) == [{f"/a{i}": '{"N":"abc"}'} for i in range(len(cases))]


def test_bytes_are_those_that_base64_stands_for(spark):
    texts = {"": b"", "AAE=": b"\0\1", "QUI=": b"AB", "QUJD": b"ABC", "+/+/": b"\xfb\xff\xbf"}
    texts |= dict.fromkeys(("a", "QUI", "QU I=", "QU=I", "====", "Q-_D"))
    rows = spark.createDataFrame([*zip(texts)], "t string").selectExpr(f"{decoded('t')} AS found").collect()
    assert [row["found"] for row in rows] == list(texts.values())
