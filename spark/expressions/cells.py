"""Cells from values: each value in the type of its column, exactly, or null where it does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipeline.columns.types import ColumnType, Field, Kind, by_type, taken_tags
from spark.expressions.numbers import number
from spark.expressions.sql import (
    Sql,
    call,
    forall,
    function,
    let,
    member,
    one_of,
    struct,
    transform,
    transform_values,
    when,
)
from spark.expressions.values import (
    PARSED,
    WALKED,
    decoded,
    dynamodb_json,
    element_of,
    of,
    opened,
    opened_inside,
    plain_json,
)

#: The cells of more scalar fields than these in one struct are made as one list for each type (as those of wide items are,
#: `spark.expressions.wide_items`): each by itself, a thousand take Spark most of a merge to plan.
MANY_FIELDS = 40
#: A number that hardly any set holds.
_RARE = f"{2**63 - 1}L"


def cell(type_: ColumnType, inside: Sql) -> Sql:
    """The cell of a column of this type, from what `opened` gives; null if the value does not fit, or is NULL or absent."""
    if type_.kind is Kind.STRUCT:
        return when(f"{inside} IS NOT NULL", _struct(inside, type_.fields))
    if type_.kind is Kind.SET:
        return _set(element_of(type_), inside)
    if type_.kind in WALKED:
        each = transform if type_.kind is Kind.LIST else transform_values
        return each(inside, lambda value: cell(element_of(type_), opened_inside(element_of(type_), value)))
    return _scalar(type_, inside)


def _struct(level: Sql, fields: Sequence[Field]) -> Sql:
    scalars = [field for field in fields if field.type.kind not in PARSED]
    if len(scalars) <= MANY_FIELDS:
        return _named(fields, [_cell_in(level, field) for field in fields])
    alike = by_type(scalars)
    lists = (_cells_alike(level, type_, of_type) for type_, of_type in alike.items())
    places = {f.name: f"list{i}[{at}]" for i, of_type in enumerate(alike.values()) for at, f in enumerate(of_type)}

    def taken(found: Sql) -> Sql:
        cells = (f"{found}.{places[f.name]}" if f.name in places else _cell_in(level, f) for f in fields)
        return _named(fields, cells)

    return let(struct(**{f"list{i}": cells for i, cells in enumerate(lists)}), taken)


def _cell_in(level: Sql, field: Field) -> Sql:
    inside = opened(field.type, member(level, field.attribute))
    if field.type.kind is not Kind.STRUCT:
        return cell(field.type, inside)
    # Each of its fields mentions what is inside, which is parsed once.
    return let(inside, lambda found: cell(field.type, found))


def _cells_alike(level: Sql, type_: ColumnType, fields: Sequence[Field]) -> Sql:
    """The cells of scalar fields of one type, as a list."""
    return transform(call("array", *(member(level, field.attribute) for field in fields)), lambda v: cell(type_, v))


def _named(fields: Sequence[Field], cells: Iterable[Sql]) -> Sql:
    return struct(**{field.name: cell for field, cell in zip(fields, cells)})


def _scalar(type_: ColumnType, value: Sql) -> Sql:
    kind = type_.kind
    if kind in (Kind.LONG, Kind.DECIMAL, Kind.DIGITS):
        return number(type_, of(value, "N"))
    if kind is Kind.SCALARS:
        digits = number(ColumnType(Kind.DIGITS), of(value, "N"))
        flag = when(one_of(of(value, "BOOL"), ("true", "false")), of(value, "BOOL"))
        base64 = when(f"{decoded(of(value, 'B'))} IS NOT NULL", of(value, "B"))
        return call("coalesce", of(value, "S"), digits, flag, base64)
    if kind is Kind.JSON:
        begins = ((tag, "{" if tag == "M" else "[") for tag in sorted(taken_tags(type_)))
        is_container = " OR ".join(f"startswith({of(value, tag)}, '{bracket}')" for tag, bracket in begins)
        return when(is_container, plain_json(dynamodb_json(value)))
    flag = f"CASE {of(value, 'BOOL')} WHEN 'true' THEN true WHEN 'false' THEN false END"
    return {Kind.TEXT: of(value, "S"), Kind.BYTES: decoded(of(value, "B")), Kind.FLAG: flag}[kind]


def _set(type_: ColumnType, elements: Sql) -> Sql:
    """A set as a list; null where an element does not fit, since an unordered element has no place of its own."""
    if type_.kind is Kind.TEXT:
        return elements
    if type_.kind is Kind.BYTES:
        return _without_null(transform(elements, decoded))
    exact = _without_null(transform(elements, lambda text: number(type_, text)))
    if type_.kind is not Kind.LONG:
        return exact
    # The usual spelling, cast at once: without a point, which a cast to bigint would cut off. Looking for a number, Spark
    # answers null where it finds none and there is a null; where it finds that number, it cannot be told.
    usual = f"cast({elements} AS array<bigint>)"
    is_usual = f"NOT contains(array_join({elements}, ''), '.') AND NOT array_contains({usual}, {_RARE})"
    return call("coalesce", when(is_usual, usual), exact)


def _without_null(cells: Sql) -> Sql:
    """The cells, or null if one of them is."""
    whole = function(1, lambda found: forall(found, lambda cell: f"{cell} IS NOT NULL"))
    return f"filter(array({cells}), {whole})[0]"
