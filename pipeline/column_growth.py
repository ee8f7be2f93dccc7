"""How columns come to be and grow: the first ones, new ones, and those of a table whose content is replaced.

A column's name never changes. Its type changes only where the whole content is replaced. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipeline.column_names import LONGEST_PARTITION_KEY, RESERVED
from pipeline.column_profile import Profile
from pipeline.column_types import (
    BYTES,
    LONG,
    MOST_FIELDS,
    TEXT,
    ColumnType,
    Field,
    Kind,
    column_type,
    field_count,
    fields_of,
    holds,
    number_type,
    taken_tags,
)
from pipeline.identity import KeyAttribute
from pipeline.overrides import NO_OVERRIDES, Overrides
from pipeline.pins import checked, follows, pinned, without_dropped
from pipeline.table_columns import REPLACEMENT, Columns, partition_name

#: Beyond so many, new attributes stay in ``_misfits``: wider tables no engine opens with pleasure. The same goes for
#: new fields of a column that would have more than `MOST_FIELDS`.
MOST_COLUMNS = 5_000


def first_columns(key: tuple[KeyAttribute, ...], seen: Profile, overrides: Overrides = NO_OVERRIDES) -> Columns:
    """The columns of a new table, from what was seen of the source. Raises OverrideContradicted for a name set twice."""
    seen = pinned(seen, overrides)
    names = _first_names(_with_key(seen, key), key[0].name)
    key_fields = tuple(Field(part.name, names[part.name], key_type(part, seen)) for part in key)
    others = Profile(members={name: m for name, m in seen.members.items() if name not in {p.name for p in key}})
    partitions = frozenset((partition_name(names[key[0].name]),))
    found = Columns(key_fields, fields_of(others, names, RESERVED)[:MOST_COLUMNS], partitions)
    return checked(found, overrides)


def _first_names(seen: Profile, partition_key: str) -> dict[str, str]:
    """A name for every attribute, none of them that of the partitions, which follows from the partition key's."""
    names = {field.attribute: field.name for field in fields_of(seen, {}, RESERVED)}
    key = {partition_key: names[partition_key][:LONGEST_PARTITION_KEY]}
    reserved = (*RESERVED, partition_name(key[partition_key]))
    return {field.attribute: field.name for field in fields_of(seen, key, reserved)}


def _with_key(seen: Profile, key: tuple[KeyAttribute, ...]) -> Profile:
    """The same profile, in which the key's attributes have been seen at least once."""
    members = dict(seen.members)
    for part in key:
        members[part.name] = Profile(tags={part.type: 1}, name=members.get(part.name, Profile()).name)
    return Profile(members=members)


def key_type(part: KeyAttribute, seen: Profile) -> ColumnType:
    """The type of a key's column. Other types than the declared one are not looked at: they are refused elsewhere."""
    if part.type == "N":
        found = seen.members.get(part.name)
        return number_type(found) if found and found.count else LONG
    return TEXT if part.type == "S" else BYTES


def grown(columns: Columns, seen: Profile, overrides: Overrides = NO_OVERRIDES) -> Columns:
    """The same columns with new ones, and new nested fields, for everything seen that has none. No type changes.

    Raises OverrideContradicted where a name that is set is another column's.
    """
    return checked(_grown(columns, pinned(seen, overrides)), overrides)


def _grown(columns: Columns, seen: Profile) -> Columns:
    key = {field.attribute for field in columns.key}
    others = Profile(members={name: m for name, m in seen.members.items() if name not in key})
    reserved = (*RESERVED, *columns.partitions, *(field.name for field in columns.key))
    kept = tuple(
        replace(f, type=_grown_type(f.type, others.members[f.attribute], MOST_FIELDS - field_count(f.type)))
        if f.attribute in others.members
        else f
        for f in columns.attributes
    )
    new = _new_fields(columns.attributes, others, reserved)
    return replace(columns, attributes=kept + new[: max(MOST_COLUMNS - len(kept), 0)])


def _new_fields(fields: tuple[Field, ...], seen: Profile, reserved: tuple[str, ...] = ()) -> tuple[Field, ...]:
    """Fields for what was seen beside those that are there."""
    known = {field.attribute for field in fields}
    unknown = Profile(members={name: member for name, member in seen.members.items() if name not in known})
    return fields_of(unknown, {}, (*reserved, *(field.name for field in fields)))


def _grown_type(type_: ColumnType, seen: Profile, room: int) -> ColumnType:
    """The type with new fields, at most as many as there is room for."""
    if type_.kind is Kind.STRUCT:
        return replace(type_, fields=_grown_fields(type_.fields, seen, room))
    if type_.kind in (Kind.LIST, Kind.DICTIONARY) and type_.element is not None:
        # A pointer's index reads as a member, so a list's elements may stand there as well.
        below = Profile(members={**seen.members, **({"": seen.elements} if seen.elements else {})}).any_member
        return replace(type_, element=_grown_type(type_.element, below, room))
    return type_


def _grown_fields(fields: tuple[Field, ...], seen: Profile, room: int) -> tuple[Field, ...]:
    grown = []
    for field in fields:
        member = seen.members.get(field.attribute)
        grown.append(replace(field, type=_grown_type(field.type, member, room)) if member else field)
        room -= field_count(grown[-1].type) - field_count(field.type)
    for field in _new_fields(fields, seen):
        if field_count(field.type) < room:
            grown.append(field)
            room -= 1 + field_count(field.type)
    return tuple(grown)


@dataclass(frozen=True)
class Target:
    """The columns that a load is to give its table.

    `replaced`: names of columns that are written under another name until they are published, because one of their name
    or attribute is there with another type or name. `removed`: names of columns there that go then. `other_key`: the table
    that is there is one of another key.
    """

    columns: Columns
    replaced: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    other_key: bool = False

    @property
    def replaces_key(self) -> bool:
        """Whether the key is another, or a column of it changes its type or name, which only a new table can do."""
        return self.other_key or any(field.name in self.replaced for field in self.columns.key)

    @property
    def written(self) -> Columns:
        """The columns as they are written: a replacement stands beside what it replaces until it is published."""
        attributes = tuple(
            replace(field, name=field.name + REPLACEMENT) if field.name in self.replaced else field
            for field in self.columns.attributes
        )
        return replace(self.columns, attributes=attributes)


def rebuilt(
    columns: Columns, key: tuple[KeyAttribute, ...], seen: Profile, overrides: Overrides = NO_OVERRIDES
) -> Target:
    """The columns for a table's new content: names stay, types stay where they hold everything seen, else change.

    What the user says wins over both. Raises OverrideContradicted where a name that is set is another column's.
    """
    kept = replace(columns, attributes=without_dropped(columns.attributes, overrides))
    seen = pinned(seen, overrides)
    there = _grown(kept, seen)
    key_fields = tuple(_rebuilt_key(field, part, seen) for field, part in zip(there.key, key))
    attributes = tuple(_rebuilt_field(f, seen.members.get(f.attribute)) for f in there.attributes)
    # Another key is another table, which is partitioned anew.
    partitions = set() if key_fields == columns.key else {partition_name(key_fields[0].name)}
    target = Columns(key_fields, attributes, columns.partitions | partitions)
    shapes = [_types(step) for step in (columns, kept, there, target)]
    changed = {
        name for name in shapes[0] if shapes[0][name] != shapes[1].get(name) or shapes[2][name] != shapes[3][name]
    }
    return _target(columns, checked(target, overrides), changed)


def _rebuilt_key(field: Field, part: KeyAttribute, seen: Profile) -> Field:
    """The key's column: it takes the declared type and no other, and has room for what was seen."""
    found = seen.members.get(part.name)
    stays = taken_tags(field.type) == {part.type} and holds(field.type, found or Profile())
    return _named(field if stays else replace(field, type=key_type(part, seen)), found)


def _types(columns: Columns) -> dict[str, ColumnType]:
    return {field.attribute: field.type for field in columns.all}


def _target(before: Columns, after: Columns, changed: set[str]) -> Target:
    """What is replaced and removed to make one of the other. `changed`: attributes whose columns cannot just grow."""
    names = {field.attribute: field.name for field in before.all}
    owners = {field.name: field.attribute for field in before.all}
    new = {field.attribute: field.name for field in after.all}
    moved = changed | {attribute for attribute, name in names.items() if new.get(attribute) != name}
    replaced = {n for a, n in new.items() if (a in names and a in moved) or owners.get(n, a) != a}
    return Target(after, frozenset(replaced), frozenset(name for a, name in names.items() if a in moved))


def _rebuilt_field(field: Field, seen: Profile | None) -> Field:
    if seen is None or (holds(field.type, seen) and follows(field.type, seen)):
        return _named(field, seen)
    given = {below.attribute: below.name for below in field.type.fields}
    return _named(replace(field, type=column_type(seen, given) or field.type), seen)


def _named(field: Field, seen: Profile | None) -> Field:
    return replace(field, name=seen.name) if seen and seen.name else field
