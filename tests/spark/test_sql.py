"""Expressions of the row path hold no parentheses but around arguments: the parser would read each pair over and over."""

from __future__ import annotations

import re

import pytest

from pipeline.columns.types import LONG, ColumnType, Field, Kind
from pipeline.identity import KeyAttribute
from spark.expressions.cells import cell
from spark.expressions.fitting import is_null, level_fits, whole, with_cell
from spark.expressions.misfits import look
from spark.expressions.values import opened
from spark.rows.keys import lacks_key

VALUE = "`#item`['a']"
TEXT, DECIMAL, DIGITS = ColumnType(Kind.TEXT), ColumnType(Kind.DECIMAL, scale=2), ColumnType(Kind.DIGITS)
STRUCT = ColumnType(Kind.STRUCT, fields=(Field("x", "x", TEXT), Field("y", "y", LONG)))
SCALARS = (
    TEXT,
    LONG,
    DECIMAL,
    DIGITS,
    *(ColumnType(kind) for kind in (Kind.BYTES, Kind.FLAG, Kind.SCALARS, Kind.JSON)),
)
SETS = tuple(ColumnType(Kind.SET, element=of) for of in (TEXT, LONG, DECIMAL, DIGITS, ColumnType(Kind.BYTES)))
MAPS = tuple(ColumnType(kind, element=of) for kind in (Kind.LIST, Kind.DICTIONARY) for of in (LONG, STRUCT, SETS[1]))
FIELDS = tuple(Field(f"c{i}", f"a{i}", of) for i, of in enumerate((*SCALARS, *SETS, *MAPS, STRUCT)))


def grouped(sql: str) -> list[str]:
    """Where parentheses open that belong to no function, no IN and no lambda."""
    bare = re.sub(r"'[^']*'", "''", sql)
    return [m.group() for m in re.finditer(r"(?<![\w`])(?<!\bIN )\((?!_X\d+(?:, _X\d+)+\) ->).{,40}", bare)]


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: f"{field.name} {field.type.kind.value}")
def test_a_cell_and_what_is_asked_of_it(field):
    inside = opened(field.type, VALUE)
    assert not grouped(cell(field.type, inside))
    assert not grouped(whole(field.type, inside, f"`{field.name}`"))
    assert not grouped(with_cell(field.type, inside))


def test_what_is_asked_of_an_item():
    assert [made for made in look("`#item`", FIELDS).values() if grouped(made)] == []
    assert not grouped(level_fits("`#item`", ["size(`a`)", "size(`b`)"], [is_null(VALUE, "`c`"), is_null(VALUE, None)]))
    assert not grouped(lacks_key("`#item`", (KeyAttribute("pk", "S"), KeyAttribute("sk", "N"))))


def test_parentheses_are_found():
    assert grouped("size(a) - (b + c) IN (0, f((_X1, _X2) -> _X1))") == ["(b + c) IN (0, f((_X1, _X2) -> _X1))"]
