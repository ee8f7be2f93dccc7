"""Columns and nested fields that are new, of another type or gone are found, with attributes, types, counted values."""

from __future__ import annotations

import pytest

from pipeline.columns.column_changes import changed_columns, new_columns
from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.profile import ELEMENT, Observed
from pipeline.columns.types import BYTES, FLAG, JSON, LONG, TEXT, ColumnType, Field, Kind

KEY = Field("id", "id", TEXT)


def columns(**types: ColumnType) -> Columns:
    return Columns((KEY,), tuple(Field(name.title(), name, type_) for name, type_ in types.items()))


def struct(**types: ColumnType) -> ColumnType:
    return ColumnType(Kind.STRUCT, fields=columns(**types).attributes)


def list_of(type_: ColumnType) -> ColumnType:
    return ColumnType(Kind.LIST, element=type_)


def map_of(type_: ColumnType) -> ColumnType:
    return ColumnType(Kind.DICTIONARY, element=type_)


@pytest.mark.parametrize(
    ("before", "after", "column", "path", "word"),
    [
        pytest.param({}, {"a": LONG}, "a", "/A", "bigint", id="an attribute"),
        pytest.param({}, {"a": ColumnType(Kind.DECIMAL, scale=2)}, "a", "/A", "decimal(38,2)", id="a decimal"),
        pytest.param({}, {"a": map_of(list_of(JSON))}, "a", "/A", "map<string,array<string>>", id="a map of lists"),
        pytest.param({"m": struct(x=TEXT)}, {"m": struct(x=TEXT, y=FLAG)}, "m.y", "/M/Y", "boolean", id="a field"),
        pytest.param(
            {"l": list_of(struct(x=TEXT))},
            {"l": list_of(struct(x=TEXT, y=BYTES))},
            "l.y",
            "/L/*/Y",
            "binary",
            id="a field in a list",
        ),
        pytest.param(
            {"d": map_of(struct(x=TEXT))},
            {"d": map_of(struct(x=TEXT, y=struct(z=TEXT)))},
            "d.y",
            "/D/*/Y",
            "struct",
            id="a field in a dictionary",
        ),
    ],
)
def test_a_new_column_has_its_name_attribute_and_type(before, after, column, path, word):
    assert new_columns(columns(**before), columns(**after)) == [{"column": column, "path": path, "type": word}]


def test_what_is_there_already_or_is_of_another_kind_now_is_not_new():
    before = columns(a=LONG, m=struct(x=TEXT), l=list_of(TEXT))
    assert new_columns(before, columns(a=LONG, m=JSON, l=list_of(LONG))) == []


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        pytest.param(LONG, ColumnType(Kind.DECIMAL, scale=2), ("c", "/C", "bigint", "decimal(38,2)"), id="a number"),
        pytest.param(
            ColumnType(Kind.DECIMAL, scale=2),
            ColumnType(Kind.DECIMAL, scale=4),
            ("c", "/C", "decimal(38,2)", "decimal(38,4)"),
            id="a scale",
        ),
        pytest.param(TEXT, JSON, ("c", "/C", "string (text)", "string (json)"), id="what a string holds"),
        pytest.param(struct(x=TEXT), map_of(TEXT), ("c", "/C", "struct", "map<string,string>"), id="a struct"),
        pytest.param(struct(x=TEXT), struct(x=LONG), ("c.x", "/C/X", "string", "bigint"), id="a field"),
        pytest.param(list_of(TEXT), list_of(LONG), ("c", "/C/*", "string", "bigint"), id="elements"),
        pytest.param(
            map_of(struct(x=TEXT, y=LONG)), map_of(struct(x=TEXT)), ("c.y", "/C/*/Y", "bigint", None), id="a field gone"
        ),
    ],
)
def test_a_column_of_another_type_is_told_with_both(before, after, told):
    (found,) = changed_columns(columns(a=LONG, c=before), columns(a=LONG, c=after))
    assert (found["column"], found["path"], found["before"], found.get("after")) == told


def test_a_column_that_went_is_told_and_nothing_is_where_columns_only_grew():
    before, after = columns(a=LONG, m=struct(x=TEXT)), columns(a=LONG, m=struct(x=TEXT, y=TEXT), new=TEXT)
    assert changed_columns(before, after) == []
    gone = [("m.y", "/M/Y", "string"), ("new", "/New", "string")]
    assert changed_columns(after, before) == [{"column": c, "path": p, "before": b} for c, p, b in gone]


def test_values_are_counted_with_the_least_key_of_those_that_have_one_wherever_they_lie():
    before = columns(l=list_of(struct(x=TEXT)), d=map_of(struct(x=TEXT)))
    after = columns(l=list_of(struct(x=TEXT, y=TEXT)), d=map_of(struct(x=TEXT, y=TEXT)), new=LONG)
    seen = [
        Observed((".L", ".0", ".Y"), "S", 2, example="b"),
        Observed((".L", ".17", ".Y"), "S", 1, example="a"),
        Observed((".D", ".any name", ".Y"), "S", 4, example="c"),
        Observed((".New",), "N", 3, example="d"),
        Observed((".New",), "S", 1, example="c"),
        Observed((".New",), "NULL", 9, example="a"),
        Observed((".New", ELEMENT), "N", 9, example="a"),
    ]
    found = {one["column"]: (one["count"], one["example"]) for one in new_columns(before, after, seen)}
    # The text is no number: it is told as a misfit.
    assert found == {"l.y": (3, "a"), "d.y": (4, "c"), "new": (3, "d")}


def test_of_a_column_of_another_type_the_values_that_it_holds_now_are_told_as_well():
    before, after = columns(a=LONG, l=list_of(LONG), gone=TEXT), columns(a=TEXT, l=list_of(TEXT))
    seen = [Observed((".A",), "S", 2, example="b"), Observed((".L", ".0"), "S", 3, example="a")]
    found = {one["path"]: (one.get("count"), one.get("example")) for one in changed_columns(before, after, seen)}
    assert found == {"/A": (2, "b"), "/L/*": (3, "a"), "/Gone": (None, None)}


def test_a_column_that_is_given_to_another_attribute_is_gone_and_new():
    before, after = (Columns((KEY,), (Field(attribute, "a", LONG),)) for attribute in ("A", "B"))
    assert new_columns(before, after) == [{"column": "a", "path": "/B", "type": "bigint"}]
    assert changed_columns(before, after) == [{"column": "a", "path": "/A", "before": "bigint"}]
