"""How many fields a column may have inside it: as many as Spark plans quickly, and Glue takes. Pure."""

from __future__ import annotations

from pipeline.columns.profile import Profile
from pipeline.columns.types import ColumnType, Field, Kind, fields_inside

#: A column's fields, all those inside its fields counted: of 1,600, a merge of ten changes takes half a minute to plan.
MOST_FIELDS = 1_000
#: Glue takes a type of 131,072 characters at most, each field's name and type in it. A field with more than its share of
#: them counts as several, so that of any names there are no more fields than Glue takes.
_SHARE_OF_TEXT = 128
#: What stands beside a name, of a decimal and of any other type, and around the type of elements: ``,:decimal(38,38)``,
#: ``,:struct<>``, ``map<string,>``.
_BESIDE_A_NAME = {Kind.DECIMAL: 16}
_BESIDE_OTHERS, _AROUND_AN_ELEMENT = 10, 12


def field_count(type_: ColumnType) -> int:
    """How many fields are inside a type, however deep; one with a very long name counts as several."""
    return sum(map(_share, fields_inside(type_)))


def count_of(field: Field) -> int:
    """As how many a field counts, with those inside it."""
    return _share(field) + field_count(field.type)


def room_in(type_: ColumnType) -> int:
    """How many fields more a column may have; less than none where it has too many."""
    return MOST_FIELDS - field_count(type_)


def has_room(type_: ColumnType, seen: Profile, there: int = 0) -> bool:
    """Whether a column may have so many fields: as many as Glue takes, where the user has set that it is a struct.

    `there`: how many it has already.
    """
    is_struct = seen.pin == "struct" and sum(map(_text, fields_inside(type_))) <= MOST_FIELDS * _SHARE_OF_TEXT
    return is_struct or field_count(type_) <= max(MOST_FIELDS, there)


def _share(field: Field) -> int:
    return 1 + _text(field) // _SHARE_OF_TEXT


def _text(field: Field) -> int:
    """How many characters a field has in the text of its column's type, or a few more, without the fields inside it."""
    length, type_ = len(field.name), field.type
    while type_.element:
        length, type_ = length + _AROUND_AN_ELEMENT, type_.element
    return length + _BESIDE_A_NAME.get(type_.kind, _BESIDE_OTHERS)
