"""How columns come to be and grow: the first ones of a table, and new ones. No name and no type of one changes. Pure."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from pipeline.columns.decided_types import fields_of, number_type
from pipeline.columns.declared.overrides import NO_OVERRIDES, Overrides
from pipeline.columns.field_counts import count_of, field_count, room_in
from pipeline.columns.in_table.kept_names import NOTHING_KEPT, KeptNames, check_placed, misplaced
from pipeline.columns.in_table.table_columns import Columns, partition_name
from pipeline.columns.names import LONGEST_PARTITION_KEY, RESERVED, column_names
from pipeline.columns.override_checks import checked
from pipeline.columns.pins import pinned
from pipeline.columns.profile import Profile
from pipeline.columns.types import BYTES, TEXT, ColumnType, Field, Kind
from pipeline.identity import KeyAttribute

#: Beyond so many, new attributes stay in ``_misfits``: wider tables no engine opens with pleasure. The same goes for
#: new fields for which a column has no room (`pipeline.columns.field_counts`).
MOST_COLUMNS = 5_000


def first_columns(
    key: tuple[KeyAttribute, ...],
    seen: Profile,
    overrides: Overrides = NO_OVERRIDES,
    kept: KeptNames = NOTHING_KEPT,
    *,
    all_seen: bool = True,
) -> Columns:
    """The columns of a new table, from what was seen of the source. `kept`: by the table that it replaces.

    Raises OverrideContradicted for a name set twice, for one that the table cannot have, and, where all values had their say
    (`all_seen`), for a path that reaches nothing.
    """
    seen = pinned(seen, overrides)
    avoided: frozenset[str] = frozenset()
    found = _first_columns(key, seen)
    while not (unfit := misplaced(found.all, kept)) <= avoided:
        avoided |= unfit
        found = _first_columns(key, seen, avoided)
    check_placed(found, kept)
    return checked(found, overrides, all_seen=all_seen)


def _first_columns(key: tuple[KeyAttribute, ...], seen: Profile, avoided: Set[str] = frozenset()) -> Columns:
    names = _first_names(_with_key(seen, key), [part.name for part in key], (*RESERVED, *avoided))
    key_fields = tuple(Field(part.name, names[part.name], key_type(part, seen)) for part in key)
    others = seen.without({part.name for part in key})
    partitions = frozenset((partition_name(names[key[0].name]),))
    return Columns(key_fields, fields_of(others.limited(MOST_COLUMNS), names, RESERVED), partitions)


def _first_names(seen: Profile, key: Sequence[str], reserved: tuple[str, ...]) -> dict[str, str]:
    """A name for every attribute, none of them that of the partitions, which follows from the partition key's.

    The key's come first, so that what a later look finds changes none of them: a table that is begun anew gives a name the
    id that it had, and keeps the partitions which are made of that.
    """
    declared = {attribute: member.name for attribute, member in seen.members.items() if member.name}
    partition_key, *others = key
    name = column_names([partition_key], declared, reserved)[partition_key][:LONGEST_PARTITION_KEY]
    reserved = (*reserved, partition_name(name))
    given = {partition_key: name, **column_names(others, {**declared, partition_key: name}, reserved)}
    return {field.attribute: field.name for field in fields_of(seen, given, reserved)}


def _with_key(seen: Profile, key: tuple[KeyAttribute, ...]) -> Profile:
    """The same profile, in which the key's attributes have been seen at least once."""
    members = dict(seen.members)
    for part in key:
        members[part.name] = Profile(tags={part.type: 1}, name=members.get(part.name, Profile()).name)
    return Profile(members=members)


def key_type(part: KeyAttribute, seen: Profile) -> ColumnType:
    """The type of a key's column. Other types than the declared one are not looked at: they are refused elsewhere."""
    if part.type == "N":
        return number_type(seen.members.get(part.name, Profile()))
    return TEXT if part.type == "S" else BYTES


def grown(columns: Columns, seen: Profile, overrides: Overrides = NO_OVERRIDES) -> Columns:
    """The same columns with new ones, and new nested fields, for everything seen that has none. No type changes.

    Raises OverrideContradicted where a declared name is another column's.
    """
    return checked(with_room(columns, pinned(seen, overrides)), overrides)


def with_room(columns: Columns, seen: Profile) -> Columns:
    """The columns with new ones and new nested fields; `seen`: with what the user says in it."""
    others = seen.without({field.attribute for field in columns.key})
    reserved = (*RESERVED, *columns.taken, *(field.name for field in columns.key))
    kept = tuple(
        replace(f, type=_grown_type(f.type, others.members[f.attribute], room_in(f.type)))
        if f.attribute in others.members
        else f
        for f in columns.attributes
    )
    return replace(columns, attributes=kept + _new_fields(kept, others, reserved, MOST_COLUMNS - len(kept)))


def _new_fields(
    fields: tuple[Field, ...], seen: Profile, reserved: tuple[str, ...] = (), most: int = MOST_COLUMNS
) -> tuple[Field, ...]:
    """Fields for what was seen beside those that are there, so many at most."""
    unknown = seen.without({field.attribute for field in fields})
    return fields_of(unknown.limited(most), {}, (*reserved, *(field.name for field in fields)))


def _grown_type(type_: ColumnType, seen: Profile, room: int) -> ColumnType:
    """The type with new fields, at most as many as there is room for."""
    if type_.kind is Kind.STRUCT:
        return replace(type_, fields=_grown_fields(type_.fields, seen, room))
    below = inside_of(type_, seen)
    return replace(type_, element=_grown_type(type_.element, below, room)) if type_.element and below else type_


def inside_of(type_: ColumnType, seen: Profile) -> Profile | None:
    """What was seen inside the lists, sets or dictionaries that a column is of."""
    return seen.any_member if type_.kind is Kind.DICTIONARY else seen.elements


def _grown_fields(fields: tuple[Field, ...], seen: Profile, room: int) -> tuple[Field, ...]:
    grown = []
    for field in fields:
        member = seen.members.get(field.attribute)
        grown.append(replace(field, type=_grown_type(field.type, member, room)) if member else field)
        room -= field_count(grown[-1].type) - field_count(field.type)
    return (*grown, *_that_fit(_new_fields(fields, seen), seen, room))


def _that_fit(new: tuple[Field, ...], seen: Profile, room: int) -> tuple[Field, ...]:
    """The new fields for which there is room, with what is inside them: what is declared first, then those of the most values."""
    fit = set()
    for field in sorted(new, key=lambda field: seen.members[field.attribute].rank):
        if count_of(field) <= room:
            fit.add(field)
            room -= count_of(field)
    return tuple(field for field in new if field in fit)
