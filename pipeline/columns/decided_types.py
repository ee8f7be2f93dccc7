"""Which type a column gets: decided from what was seen of the attribute.

    S                       text                  string
    N                       long                  bigint, when every value is an integer that fits
                            decimal(38, s)        when every value fits exactly
                            digits                string of plain digits, else
    B, BOOL                 bytes, flag           binary, boolean
    S, N, B, BOOL mixed     scalars               string with each value's text
    SS, NS, BS              set of                list of string, of the number's type, of binary
    L                       list of T             json when the elements are mixed
    M                       struct                json when nothing is known of its members, or they are too many
                            dictionary of T       when there are many different members; json when they are mixed
    several of SS…M         json                  string with plain JSON

Scalars beside containers: the more frequent kind gives the type, the others are misfits. A type that the user has declared
(`Profile.pin`) wins over all of it. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pipeline.columns.declared.type_words import TAG_OF_PIN, tags_of, type_of_pin
from pipeline.columns.field_counts import has_room
from pipeline.columns.names import column_names
from pipeline.columns.profile import Profile
from pipeline.columns.types import (
    BYTES,
    CONTAINER_TAGS,
    DIGITS,
    FLAG,
    JSON,
    LONG,
    MOST_DIGITS,
    SCALAR_TAGS,
    SCALARS,
    TEXT,
    ColumnType,
    Field,
    Kind,
    taken_tags,
)

#: A map is a dictionary when it has more different members than a person would name …
_SURELY_DICTIONARY = 500
#: … or fewer, of which each map holds only a small part.
_PERHAPS_DICTIONARY, _SPARSE = 50, 0.25
#: What is made of a number type that the user has declared where none was seen; other numbers widen it.
_NARROWEST = {"N": LONG, "NS": ColumnType(Kind.SET, element=LONG)}


def column_type(seen: Profile) -> ColumnType | None:
    """The type for everything seen at a path; None where nothing but NULL was."""
    if seen.pin:
        return _pinned(seen)
    decided_for = _of_most(seen)
    if not decided_for:
        return None
    return _scalar(decided_for, seen) if decided_for <= SCALAR_TAGS else _container(decided_for, seen)


def as_declared(seen: Profile) -> ColumnType | None:
    """The same for a column that is there; of a declared number type without values the narrowest, which others widen."""
    return column_type(seen) or _NARROWEST.get(seen.pin)


def _of_most(seen: Profile) -> set[str]:
    """The types of the kind, scalars or containers, that is the more frequent."""
    scalars = {tag: count for tag, count in seen.values.items() if tag in SCALAR_TAGS}
    containers = {tag: count for tag, count in seen.values.items() if tag in CONTAINER_TAGS}
    return set(scalars) if sum(scalars.values()) > sum(containers.values()) else set(containers)


def serves(type_: ColumnType, seen: Profile) -> bool:
    """Whether a column of this type takes the types of most values, and has room for their numbers; not what is inside them.

    Where it is declared that they are lists or maps, others are misfits, however many there are.
    """
    if seen.pin not in TAG_OF_PIN and not _of_most(seen) <= taken_tags(type_):
        return False
    return type_.kind not in (Kind.LONG, Kind.DECIMAL) or _holds_number(type_, seen)


def _pinned(seen: Profile) -> ColumnType | None:
    """The type that the user has declared; None where it leaves a choice to the data and they say nothing of it yet."""
    if type_ := type_of_pin(seen.pin):
        return type_
    tag = tags_of(seen.pin)[0]
    if tag not in seen.values:
        # Where all values are of other types: a column that none of them fits, so that they are told as misfits.
        return _NARROWEST.get(seen.pin) if seen.values else None
    return number_type(seen) if tag == "N" else _container({tag}, seen)


def number_type(seen: Profile) -> ColumnType:
    """The narrowest type that holds every number seen exactly."""
    if seen.fits_long:
        return LONG
    if seen.integer_digits + seen.fraction_digits <= MOST_DIGITS:
        return ColumnType(Kind.DECIMAL, scale=seen.fraction_digits)
    return DIGITS


def _scalar(tags: set[str], seen: Profile) -> ColumnType:
    if len(tags) > 1:
        return SCALARS
    (tag,) = tags
    return number_type(seen) if tag == "N" else {"S": TEXT, "B": BYTES, "BOOL": FLAG}[tag]


def _container(tags: set[str], seen: Profile) -> ColumnType:
    if len(tags) > 1:
        return JSON
    (tag,) = tags
    if tag == "M":
        return _map(seen)
    if tag == "L":
        element = alike(seen.elements)
        return ColumnType(Kind.LIST, element=element) if element else JSON
    element = {"SS": TEXT, "BS": BYTES}.get(tag) or number_type(seen.elements or Profile())
    return ColumnType(Kind.SET, element=element)


def _map(seen: Profile) -> ColumnType:
    if not is_dictionary(seen):
        struct = ColumnType(Kind.STRUCT, fields=fields_of(seen))
        if struct.fields and has_room(struct, seen):
            return struct
        if seen.pin == "struct":
            return JSON
    element = alike(seen.any_member)
    return ColumnType(Kind.DICTIONARY, element=element) if element else JSON


def is_dictionary(seen: Profile) -> bool:
    """Whether a map's members are data rather than fields."""
    if seen.pin in ("map", "struct"):
        return seen.pin == "map"
    different = sum(1 for member in seen.members.values() if member.tags)
    held = sum(member.count for member in seen.members.values())
    maps = max(seen.tags.get("M", 0), 1)
    return different > _SURELY_DICTIONARY or (different > _PERHAPS_DICTIONARY and held < _SPARSE * different * maps)


def fields_of(
    seen: Profile, given: Mapping[str, str] = MappingProxyType({}), reserved: tuple[str, ...] = ()
) -> tuple[Field, ...]:
    """A field for each member that shows a type, named uniquely, in the order of their names. `given`: names that are known."""
    # What stands for all further names of a map is none.
    types = {attribute: column_type(member) for attribute, member in seen.members.items() if attribute}
    given = {**given, **{attribute: member.name for attribute, member in seen.members.items() if member.name}}
    names = column_names((attribute for attribute, type_ in types.items() if type_), given, reserved)
    return tuple(
        Field(attribute, names[attribute], type_) for attribute, type_ in sorted(types.items()) if type_ is not None
    )


def alike(seen: Profile | None) -> ColumnType | None:
    """The one type of a list's elements or a dictionary's values; None where they are mixed or nothing is known."""
    if seen is None or (len(seen.values) != 1 and not seen.pin):
        return None
    type_ = as_declared(seen)
    return None if type_ == JSON else type_


def holds(type_: ColumnType, seen: Profile) -> bool:
    """Whether a column of this type holds everything seen, but for members of structs that are not fields yet."""
    if not set(seen.values) <= taken_tags(type_):
        return False
    if type_.kind in (Kind.LONG, Kind.DECIMAL):
        return _holds_number(type_, seen)
    if type_.kind in (Kind.SET, Kind.LIST):
        return type_.element is None or seen.elements is None or holds(type_.element, seen.elements)
    if type_.kind is Kind.DICTIONARY:
        return type_.element is None or holds(type_.element, seen.any_member)
    return all(holds(f.type, seen.members[f.attribute]) for f in type_.fields if f.attribute in seen.members)


def _holds_number(type_: ColumnType, seen: Profile) -> bool:
    if type_.kind is Kind.LONG:
        return seen.fits_long
    return seen.fraction_digits <= type_.scale and seen.integer_digits <= type_.digits - type_.scale
