"""The names that an item has lost, by two images of it: attributes, and fields of maps that are structs in the table.

A level is given as JSON text. Its names are found there without making anything of the values, which takes so little that
every change can be asked for what is gone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.columns import rules_inside
from pipeline.columns.overrides import ANY
from pipeline.columns.rules_inside import Rules
from pipeline.columns.types import Field, Kind
from spark.expressions.pointers import below, step_of
from spark.expressions.sql import Sql, call, let, literal, struct, transform
from spark.expressions.values import placed

_NONE: Sql = "cast(array() AS array<string>)"
#: To look for one map in a text takes a seventh of reading the text as a struct.
_FEW = 6
#: Names that Spark takes in a path.
_PATH_NAME = re.compile(r"[^'?]+")


def lost(old: Sql, new: Sql, fields: Sequence[Field], rules: Rules, pointer: Sql = "''") -> Sql:
    """The pointers of the names that a level, and the structs among its `fields`, had before and lack now; never null.

    Nothing is lost where one of the two is no level. `rules`: what is dropped there is not told of. `pointer`: of the level.
    """
    dropped = {path[0] for path, rule in rules if rule.drop and len(path) == 1}
    structs = [field for field in fields if field.type.kind is Kind.STRUCT and field.attribute]
    gone = _NONE if ANY in dropped else _gone(old, new, sorted(dropped), pointer)
    if not structs:
        return gone

    def inside(before: Sequence[Sql], after: Sequence[Sql]) -> Sql:
        of_structs = (
            lost(*levels, field.type.fields, rules_inside.below(rules, field.attribute), below(pointer, _step(field)))
            for field, *levels in zip(structs, before, after)
        )
        return call("concat", gone, *of_structs)

    names = [field.attribute for field in structs]
    if len(names) <= _FEW and all(map(_PATH_NAME.fullmatch, names)):
        return inside(*([_map(level, name) for name in names] for level in (old, new)))
    maps = struct(old=placed(old, names, "struct<M:string>"), new=placed(new, names, "struct<M:string>"))
    return let(maps, lambda m: inside(*([f"{m}.{side}.c{i}.M" for i in range(len(names))] for side in ("old", "new"))))


def _gone(old: Sql, new: Sql, dropped: Sequence[str], pointer: Sql) -> Sql:
    names = f"array_except(json_object_keys({old}), json_object_keys({new}))"
    if dropped:
        names = call("array_except", names, call("array", *map(literal, dropped)))
    return call("coalesce", transform(names, lambda name: below(pointer, step_of(name))), _NONE)


def _map(level: Sql, name: str) -> Sql:
    path = f"$['{name}'].M"
    return f"get_json_object({level}, {literal(path)})"


def _step(field: Field) -> Sql:
    return step_of(literal(field.attribute))
