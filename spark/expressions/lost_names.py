"""The names that an item has lost, by two images of it: attributes, and fields of structs in the table.

A level is given as JSON text. Its names are found there without making anything of the values, which takes so little that
every change can be asked for what is gone. The elements of a list, and the values of a dictionary, have no place that could
be gone: what structs among them hold counts as one level. So a name is lost there where one of them had it and none has it:

    old     {"note": …, "lines": {"L": [{"M": {"a": …, "b": …}}, {"M": {"a": …}}]}}
    new     {"lines": {"L": [{"M": {"a": …}}]}}
    lost    /note, /lines/*/b
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pipeline.columns.declared import rules_inside
from pipeline.columns.declared.overrides import ANY
from pipeline.columns.declared.rules_inside import Rules
from pipeline.columns.pointers import step
from pipeline.columns.types import ColumnType, Field, Kind
from spark.expressions.pointers import below, step_of
from spark.expressions.sql import Sql, call, let, literal, struct, transform, when
from spark.expressions.values import WALKED, container_tag, element_of, of, placed

_NONE: Sql = "cast(array() AS array<string>)"
_SIDES = ("old", "new")
#: To look for one value in a text takes a seventh of reading the text as a struct.
_FEW = 6
#: Names that Spark takes in a path as they stand: it passes over white space before one.
_PATH_NAME = re.compile(r"[^'?*\s][^'?*]*")


class _Levels(NamedTuple):
    """What an image has at a place: one level, or an array of all that lie there in lists and dictionaries; null for none."""

    text: Sql
    are_many: bool = False

    @property
    def names(self) -> Sql:
        """Their names, perhaps some of them several times; null where there is no level."""
        if not self.are_many:
            return f"json_object_keys({self.text})"
        each = transform(self.text, lambda level: f"coalesce(json_object_keys({level}), {_NONE})")
        return when(f"size({self.text}) > 0", f"flatten({each})")

    def below(self, type_: ColumnType, find: Callable[[Sql], Sql]) -> _Levels:
        """The levels in a field of this type.

        `find`: of a level, the text of its map, or its list or dictionary opened by `_shape`.
        """
        if not self.are_many:
            return _levels_of(type_, find(self.text))
        if type_.kind is Kind.STRUCT:
            return self._replace(text=f"array_compact({transform(self.text, find)})")
        each = transform(self.text, lambda level: f"coalesce({_levels_in(type_, find(level))}, {_NONE})")
        return self._replace(text=f"flatten({each})")


def lost(old: Sql, new: Sql, fields: Sequence[Field], rules: Rules) -> Sql:
    """The pointers of the names that a level, and the structs among its `fields`, had before and lack now; never null.

    Nothing is lost where one of the two is no level. `rules`: what is dropped there is not told of.
    """
    return _lost(_Levels(old), _Levels(new), fields, rules, "''")


def _lost(old: _Levels, new: _Levels, fields: Sequence[Field], rules: Rules, pointer: Sql) -> Sql:
    dropped = {path[0] for path, rule in rules if rule.drop and len(path) == 1}
    gone = _NONE if ANY in dropped else _gone(old, new, sorted(dropped), pointer)
    leading = [field for field in fields if _struct_in(field.type) and field.attribute]
    if not leading:
        return gone

    def inside(before: Sequence[_Levels], after: Sequence[_Levels]) -> Sql:
        of_fields = (_lost_in(field, *levels, rules, pointer) for field, *levels in zip(leading, before, after))
        return call("concat", gone, *of_fields)

    if old.are_many or (len(leading) <= _FEW and all(_PATH_NAME.fullmatch(field.attribute) for field in leading)):
        return inside(*([_looked_up(levels, field) for field in leading] for levels in (old, new)))
    types = {field.attribute: _value_shape(field.type) for field in leading}
    values = struct(old=placed(old.text, types), new=placed(new.text, types))
    return let(values, lambda found: call("concat", gone, *_lost_by_place(found, leading, rules, pointer)))


def _lost_by_place(found: Sql, leading: Sequence[Field], rules: Rules, pointer: Sql) -> Iterator[Sql]:
    """What is lost in fields, of which `placed` has found both sides: asked once for all that lead to structs alike."""
    alike: dict[Any, list[int]] = {}
    for place, field in enumerate(leading):
        inside = rules_inside.below(rules, field.attribute)
        alike.setdefault((_leading(field.type), tuple(inside)), []).append(place)
    for (type_, inside), places in alike.items():
        each = (
            struct(
                old=f"{found}.old.c{place}",
                new=f"{found}.new.c{place}",
                pointer=below(pointer, literal(step(leading[place].attribute))),
            )
            for place in places
        )
        yield f"flatten({transform(call('array', *each), _lost_of_both(type_, inside))})"


def _lost_of_both(type_: ColumnType, rules: Rules) -> Callable[[Sql], Sql]:
    """What is lost of a value of such a type, given both sides of it and its pointer."""

    def lost_of(both: Sql) -> Sql:
        levels = (_levels_of(type_, of(f"{both}.{side}", container_tag(type_))) for side in _SIDES)
        return _lost_inside(type_, *levels, rules, f"{both}.pointer")

    return lost_of


def _lost_in(field: Field, old: _Levels, new: _Levels, rules: Rules, pointer: Sql) -> Sql:
    """The same for the levels that lie in a field."""
    rules, pointer = rules_inside.below(rules, field.attribute), below(pointer, literal(step(field.attribute)))
    return _lost_inside(field.type, old, new, rules, pointer)


def _lost_inside(type_: ColumnType, old: _Levels, new: _Levels, rules: Rules, pointer: Sql) -> Sql:
    """The same for the levels that lie in a value of such a type. `rules`, `pointer`: the value's own."""
    while type_.kind in WALKED:
        # Of a dictionary's names none is told apart here, so what is said of one of them holds for all.
        rules, pointer = [(path[1:], rule) for path, rule in rules if path], below(pointer, f"'{ANY}'")
        type_ = element_of(type_)
    if rules_inside.is_dropped(rules):
        return _NONE
    if not old.are_many:
        return _lost(old, new, type_.fields, rules, pointer)

    def found(both: Sql) -> Sql:
        return _lost(*(_Levels(f"{both}.{side}", are_many=True) for side in _SIDES), type_.fields, rules, pointer)

    return let(struct(old=old.text, new=new.text), found)


def _gone(old: _Levels, new: _Levels, dropped: Sequence[str], pointer: Sql) -> Sql:
    names = f"array_except({old.names}, {new.names})"
    if dropped:
        names = call("array_except", names, call("array", *map(literal, dropped)))
    return call("coalesce", transform(names, lambda name: below(pointer, step_of(name))), _NONE)


def _looked_up(levels: _Levels, field: Field) -> _Levels:
    """The levels in a field, looked for in each text by itself."""
    name = field.attribute
    tag = container_tag(field.type)
    if not _PATH_NAME.fullmatch(name):
        types = {name: _value_shape(field.type)}
        return levels.below(field.type, lambda level: of(f"{placed(level, types)}.c0", tag))
    path = literal(f"$['{name}'].{tag}")

    def inside(level: Sql) -> Sql:
        text = f"get_json_object({level}, {path})"
        return text if field.type.kind is Kind.STRUCT else f"from_json({text}, '{_shape(field.type)}')"

    return levels.below(field.type, inside)


def _leading(type_: ColumnType) -> ColumnType:
    """A type with nothing in it but what leads to structs."""
    fields = (Field(field.attribute, "", _leading(field.type)) for field in type_.fields if _struct_in(field.type))
    return replace(type_, element=type_.element and _leading(type_.element), fields=tuple(fields), tag="")


def _struct_in(type_: ColumnType) -> bool:
    """Whether values of this type are structs, or lists or dictionaries that lead to some."""
    return type_.kind is Kind.STRUCT or (type_.kind in WALKED and _struct_in(element_of(type_)))


def _shape(type_: ColumnType) -> str:
    """The Spark type of what is inside a value, down to the structs in it, which stay text."""
    if type_.kind is Kind.STRUCT:
        return "string"
    value = _value_shape(element_of(type_))
    return f"array<{value}>" if type_.kind is Kind.LIST else f"map<string,{value}>"


def _value_shape(type_: ColumnType) -> str:
    """The same of the value itself, with its type around it."""
    return f"map<string,{_shape(type_)}>"


def _levels_of(type_: ColumnType, inside: Sql) -> _Levels:
    """The levels in the inside of one value."""
    return _Levels(inside) if type_.kind is Kind.STRUCT else _Levels(_levels_in(type_, inside), are_many=True)


def _levels_in(type_: ColumnType, inside: Sql) -> Sql:
    """The levels in the inside of a list or dictionary, an array without null; null for none."""
    values, element = inside if type_.kind is Kind.LIST else f"map_values({inside})", element_of(type_)
    if element.kind is Kind.STRUCT:
        return f"array_compact({transform(values, lambda value: of(value, 'M'))})"
    deeper = transform(values, lambda v: f"coalesce({_levels_in(element, of(v, container_tag(element)))}, {_NONE})")
    return f"flatten({deeper})"
