"""Whether a row shows an item: at first sight, cell by cell, and by meaning, where the first sight says no.

Both sides are rows of the same columns: ``#s_<column>`` was made from the item just now, ``#t_<column>`` is the
table's. A row may have been written when the table had fewer columns, and keep as misfits what would now have a place.
So the second look asks of every misfit of the row whether the item holds that value there, and of every cell whether
it is what the item's value becomes, but for the places that the row keeps as misfits.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.columns.names import MISFITS
from pipeline.columns.pointers import step
from pipeline.columns.types import ColumnType, Field, Kind, by_type
from spark.expressions.leaves import as_value, at, leaves, same_leaves, same_plain_leaves
from spark.expressions.pointers import below, step_of
from spark.expressions.sql import Sql, call, forall, function, literal, struct, transform, transform_values, when
from spark.expressions.values import CONTAINERS, element_of

#: The item as DynamoDB JSON (M), and the pointers of the row's misfits: what the second look needs besides.
TEXT, KEPT = "`#text`", "`#kept`"
#: The column of the JSON pointers of all places whose values are to be shown.
WRONG = "#wrong"
#: The texts of a row that are to be held against the item, step by step: as they are (``place``, ``text``, ``is_plain``),
#: as DynamoDB JSON beside the item's (``value``), and of both what they say.
_TEXTS, _READ, _SAID = "#texts", "#read", "#said"
#: Of a cell in which no plain JSON is spelled otherwise than the item's would be.
_NO_DOUBTS = "cast(array() AS array<struct<place:string,text:string,is_plain:boolean>>)"


def of_source(name: str) -> str:
    """The column that holds what the item becomes."""
    return f"#s_{name}"


def of_table(name: str) -> str:
    """The column that holds what the table shows."""
    return f"#t_{name}"


def pointer(field: Field) -> str:
    """The JSON pointer of a column's attribute."""
    return "/" + step(field.attribute)


def is_same_at_first_sight(fields: Sequence[Field]) -> Sql:
    """Whether all cells and misfits are the same, whatever the order of maps and sets; never null."""
    cells = [f"{_ordered(f.type, _s(f))} <=> {_ordered(f.type, _t(f))}" for f in fields]
    misfits = (f"array_sort(map_entries(`{side(MISFITS)}`))" for side in (of_source, of_table))
    return " AND ".join([*cells, " <=> ".join(misfits)])


def second_look(fields: Sequence[Field]) -> dict[str, Sql]:
    """Columns to be made one after the other, from `TEXT` and `KEPT`; the last, `WRONG`, tells in what the two truly differ.

    In one expression, Spark's analysis would go through each step as often as all of them together need.
    """

    def read(x: Sql) -> Sql:
        text = as_value(f"{x}.text", f"{x}.is_plain")
        return struct(place=f"{x}.place", is_plain=f"{x}.is_plain", value=at(TEXT, f"{x}.place"), text=text)

    def said(x: Sql) -> Sql:
        both = transform(f"array({x}.value, {x}.text)", leaves)
        return struct(place=f"{x}.place", is_plain=f"{x}.is_plain", both=both)

    return {
        _TEXTS: _texts(fields),
        _READ: transform(f"`{_TEXTS}`", read),
        _SAID: transform(f"`{_READ}`", said),
        WRONG: _wrong_places(fields),
    }


def _texts(fields: Sequence[Field]) -> Sql:
    """What a row shows as text, and may say what the item says, however it is spelled: plain JSON, and misfits."""

    def of_type(type_: ColumnType, alike: Sequence[Field]) -> Sql:
        found = transform(_both_sides(alike), lambda x: _doubts(type_, f"{x}.source", f"{x}.shown", f"{x}.place"))
        return f"flatten({found})"

    doubts = [of_type(type_, alike) for type_, alike in by_type(fields).items() if _holds(type_, Kind.JSON)]
    misfit = f"`{of_table(MISFITS)}`"
    kept = transform(KEPT, lambda p: struct(place=p, text=f"{misfit}[{p}]", is_plain="false"))
    return call("concat", *doubts, kept)


def _wrong_places(fields: Sequence[Field]) -> Sql:
    source = f"`{of_source(MISFITS)}`"
    lost = function(1, lambda p: f"NOT {_is_kept(p)}")
    parts = [
        *(_wrong_cells(type_, alike) for type_, alike in by_type(fields).items()),
        _wrong_texts(),
        f"filter(coalesce(map_keys({source}), cast(array() AS array<string>)), {lost})",
    ]
    return call("array_distinct", call("concat", *parts))


def _wrong_texts() -> Sql:
    """The columns in which plain JSON, however deep, says something else than the item; and the misfits that do."""

    def is_wrong(x: Sql) -> Sql:
        value, text = f"{x}.both[0]", f"{x}.both[1]"
        return f"NOT {when(f'{x}.is_plain', same_plain_leaves(value, text), same_leaves(value, text))}"

    wrong = f"filter(`{_SAID}`, {function(1, is_wrong)})"
    return transform(wrong, lambda x: when(f"{x}.is_plain", f"substring_index({x}.place, '/', 2)", f"{x}.place"))


def _wrong_cells(type_: ColumnType, fields: Sequence[Field]) -> Sql:
    differs = function(1, lambda x: f"NOT {_same(type_, f'{x}.source', f'{x}.shown', f'{x}.place')}")
    return transform(f"filter({_both_sides(fields)}, {differs})", lambda x: f"{x}.place")


def _both_sides(fields: Sequence[Field]) -> Sql:
    """The cells of columns of one type, with their places."""
    return call("array", *(struct(place=literal(pointer(f)), source=_s(f), shown=_t(f)) for f in fields))


def _doubts(type_: ColumnType, s: Sql, t: Sql, place: Sql) -> Sql:
    """Where in a cell plain JSON is spelled otherwise than the item's would be, and how."""
    if type_.kind is Kind.JSON:
        return when(f"{s} <> {t}", call("array", struct(place=place, text=t, is_plain="true")), _NO_DOUBTS)
    if type_.kind is Kind.STRUCT:
        inside = (
            _doubts(f.type, f"{s}.`{f.name}`", f"{t}.`{f.name}`", below(place, literal(step(f.attribute))))
            for f in type_.fields
            if _holds(f.type, Kind.JSON)
        )
        return call("concat", *inside)
    element = element_of(type_)
    if type_.kind is Kind.LIST:
        of_each = function(2, lambda x, i: _doubts(element, x, f"{t}[{i}]", below(place, f"CAST({i} AS STRING)")))
        return f"coalesce(flatten(transform({s}, {of_each})), {_NO_DOUBTS})"

    def of_name(name: Sql) -> Sql:
        return _doubts(element, f"{s}[{name}]", f"{t}[{name}]", below(place, step_of(name)))

    return f"coalesce(flatten({transform(f'map_keys({s})', of_name)}), {_NO_DOUBTS})"


def _holds(type_: ColumnType, *kinds: Kind) -> bool:
    """Whether a type is of one of these kinds, or something in it is, however deep."""
    inside = [type_.element] if type_.element else [field.type for field in type_.fields]
    return type_.kind in kinds or any(_holds(one, *kinds) for one in inside)


def _s(field: Field) -> Sql:
    return f"`{of_source(field.name)}`"


def _t(field: Field) -> Sql:
    return f"`{of_table(field.name)}`"


def _ordered(type_: ColumnType, cell: Sql) -> Sql:
    """The cell with everything that has no order sorted, and no maps, which cannot be compared."""
    if not _holds(type_, Kind.SET, Kind.DICTIONARY):
        return cell
    if type_.kind is Kind.SET:
        return f"array_sort({cell})"
    if type_.kind is Kind.LIST:
        return transform(cell, lambda x: _ordered(element_of(type_), x))
    if type_.kind is Kind.DICTIONARY:
        return f"array_sort(map_entries({transform_values(cell, lambda x: _ordered(element_of(type_), x))}))"
    ordered = struct(**{f.name: _ordered(f.type, f"{cell}.`{f.name}`") for f in type_.fields})
    return when(f"{cell} IS NOT NULL", ordered)


def _same(type_: ColumnType, s: Sql, t: Sql, place: Sql) -> Sql:
    """Whether a cell is what the item's value becomes there; of what the row keeps as a misfit it shows nothing.

    Of plain JSON, whether there is some on both sides or on none: what it says is held against the item apart.
    """
    return when(f"array_contains({KEPT}, {place})", f"{t} IS NULL", _same_cell(type_, s, t, place))


def _same_cell(type_: ColumnType, s: Sql, t: Sql, place: Sql) -> Sql:
    if type_.kind is Kind.SET:
        return f"array_sort({s}) <=> array_sort({t})"
    if type_.kind not in (*CONTAINERS, Kind.JSON):
        return f"{s} <=> {t}"
    if type_.kind is Kind.JSON:
        both = "true"
    elif type_.kind is Kind.STRUCT:
        both = " AND ".join(
            _same(f.type, f"{s}.`{f.name}`", f"{t}.`{f.name}`", below(place, literal(step(f.attribute))))
            for f in type_.fields
        )
        both = both or "true"  # somebody has dropped all that the struct had
    elif type_.kind is Kind.LIST:
        both = f"size({s}) = size({t}) AND {_same_elements(element_of(type_), s, t, place)}"
    else:
        both = f"size({s}) = size({t}) AND {_same_members(element_of(type_), s, t, place)}"
    return when(f"{s} IS NULL OR {t} IS NULL", f"{s} IS NULL AND {t} IS NULL", both)


def _same_elements(type_: ColumnType, s: Sql, t: Sql, place: Sql) -> Sql:
    found = function(2, lambda x, i: _same(type_, x, f"{t}[{i}]", below(place, f"CAST({i} AS STRING)")))
    return forall(f"transform({s}, {found})", lambda same: same)


def _same_members(type_: ColumnType, s: Sql, t: Sql, place: Sql) -> Sql:
    def same(name: Sql) -> Sql:
        cells = (f"{s}[{name}]", f"{t}[{name}]")
        return f"map_contains_key({t}, {name}) AND {_same(type_, *cells, below(place, step_of(name)))}"

    return forall(f"map_keys({s})", same)


def _is_kept(place: Sql) -> Sql:
    """Whether the row keeps a misfit at a place or around it."""
    around = function(1, lambda p: f"{place} = {p} OR startswith({place}, {p} || '/')")
    return call("exists", KEPT, around)
