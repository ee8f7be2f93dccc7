"""How columns come to be and grow: the first ones, new ones, and those of a table whose content is replaced.

A column's name never changes. Its type changes only where the whole content is replaced. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipeline.column_names import OWN_COLUMNS
from pipeline.column_profile import Profile
from pipeline.column_types import BYTES, LONG, TEXT, ColumnType, Field, Kind, column_type, fields_of, holds, number_type
from pipeline.identity import KeyAttribute
from pipeline.table_columns import REPLACEMENT, Columns

#: Beyond so many, new attributes stay in ``_misfits``: wider tables no engine opens with pleasure.
MOST_COLUMNS, MOST_FIELDS = 5_000, 1_000


def first_columns(key: tuple[KeyAttribute, ...], seen: Profile) -> Columns:
    """The columns of a new table, from what was seen of the source."""
    names = {f.attribute: f.name for f in fields_of(_with_key(seen, key), {}, OWN_COLUMNS)}
    key_fields = tuple(Field(part.name, names[part.name], key_type(part, seen)) for part in key)
    others = Profile(members={name: m for name, m in seen.members.items() if name not in {p.name for p in key}})
    return Columns(key_fields, fields_of(others, names, OWN_COLUMNS)[:MOST_COLUMNS])


def _with_key(seen: Profile, key: tuple[KeyAttribute, ...]) -> Profile:
    """The same profile, in which the key's attributes have been seen at least once."""
    members = dict(seen.members)
    for part in key:
        members[part.name] = Profile(tags={part.type: 1})
    return Profile(members=members)


def key_type(part: KeyAttribute, seen: Profile) -> ColumnType:
    """The type of a key's column. Other types than the declared one are not looked at: they are refused elsewhere."""
    if part.type == "N":
        return number_type(seen.members[part.name]) if part.name in seen.members else LONG
    return TEXT if part.type == "S" else BYTES


def grown(columns: Columns, seen: Profile) -> Columns:
    """The same columns with new ones, and new nested fields, for everything seen that has none. No type changes."""
    key = {field.attribute for field in columns.key}
    others = Profile(members={name: m for name, m in seen.members.items() if name not in key})
    reserved = (*OWN_COLUMNS, *(field.name for field in columns.key))
    return Columns(columns.key, _grown_fields(columns.attributes, others, reserved, MOST_COLUMNS))


def _grown_fields(fields: tuple[Field, ...], seen: Profile, reserved: tuple[str, ...], most: int) -> tuple[Field, ...]:
    known = {field.attribute: field for field in fields}
    kept = tuple(
        replace(f, type=_grown_type(f.type, seen.members[f.attribute])) if f.attribute in seen.members else f
        for f in fields
    )
    unknown = Profile(members={name: member for name, member in seen.members.items() if name not in known})
    taken = (*reserved, *(field.name for field in fields))
    return kept + fields_of(unknown, {}, taken)[: max(most - len(fields), 0)]


def _grown_type(type_: ColumnType, seen: Profile) -> ColumnType:
    if type_.kind is Kind.STRUCT:
        return replace(type_, fields=_grown_fields(type_.fields, seen, (), MOST_FIELDS))
    if type_.kind in (Kind.LIST, Kind.DICTIONARY) and type_.element is not None:
        # A pointer's index reads as a member, so a list's elements may stand there as well.
        below = Profile(members={**seen.members, **({"": seen.elements} if seen.elements else {})}).any_member
        return replace(type_, element=_grown_type(type_.element, below))
    return type_


@dataclass(frozen=True)
class Target:
    """The columns that a load is to give its table. `replaced`: names of columns that are there with another type."""

    columns: Columns
    replaced: frozenset[str] = frozenset()

    @property
    def replaces_key(self) -> bool:
        """Whether a column of the key changes its type, which only a new table can do."""
        return any(field.name in self.replaced for field in self.columns.key)

    @property
    def written(self) -> Columns:
        """The columns as they are written: a replacement stands beside what it replaces until it is published."""
        attributes = tuple(
            replace(field, name=field.name + REPLACEMENT) if field.name in self.replaced else field
            for field in self.columns.attributes
        )
        return Columns(self.columns.key, attributes)


def rebuilt(columns: Columns, key: tuple[KeyAttribute, ...], seen: Profile) -> Target:
    """The columns for a table's new content: names stay, types stay where they hold everything seen, else change."""
    there = grown(columns, seen)
    key_fields = tuple(
        field
        if holds(field.type, seen.members.get(part.name, Profile()))
        else replace(field, type=key_type(part, seen))
        for field, part in zip(there.key, key)
    )
    target = Columns(key_fields, tuple(_rebuilt_field(f, seen.members.get(f.attribute)) for f in there.attributes))
    return Target(target, frozenset(new.name for old, new in zip(there.all, target.all) if old.type != new.type))


def _rebuilt_field(field: Field, seen: Profile | None) -> Field:
    if seen is None or holds(field.type, seen):
        return field
    given = {below.attribute: below.name for below in field.type.fields}
    return replace(field, type=column_type(seen, given) or field.type)
