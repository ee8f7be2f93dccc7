"""How the columns of a table change whose content is replaced: at the places where they must, and nowhere else. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace

from pipeline.columns.decided_types import alike, as_declared, column_type, holds, is_dictionary, number_type, serves
from pipeline.columns.declared.overrides import NO_OVERRIDES, Overrides, mended_by
from pipeline.columns.declared.type_words import TAG_OF_PIN, obeys
from pipeline.columns.field_counts import count_of, field_count, has_room, room_in
from pipeline.columns.growth import inside_of, key_type, with_room
from pipeline.columns.in_table.kept_names import NOTHING_KEPT, KeptNames, check_placed, misplaced
from pipeline.columns.in_table.odd_names import carried, check_fixed_names, is_foreign
from pipeline.columns.in_table.table_columns import Columns, partition_name
from pipeline.columns.names import REPLACEMENT, name_to_readers
from pipeline.columns.override_checks import checked, is_of_other_type, places_at, twins
from pipeline.columns.pins import pinned, without_dropped
from pipeline.columns.profile import Profile
from pipeline.columns.types import JSON, ColumnType, Field, Kind, taken_tags
from pipeline.columns.undecided import without_undecided
from pipeline.errors import PartitionsKept
from pipeline.identity import KeyAttribute


@dataclass(frozen=True)
class Target:
    """The columns that a load is to give its table.

    `replaced`: names of columns that are written beside the old one until they are published, because its type or name
    differs, or readers take its name for theirs. `removed`: names of old columns, which go then. `is_another`: the table that
    is there has another key, is none of the product's, or has columns that no file can hold together (`twins`).
    """

    columns: Columns
    replaced: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    is_another: bool = False

    @property
    def replaces_key(self) -> bool:
        """Whether the table is another, or a column of its key changes type or name, which only a new table can do."""
        return self.is_another or any(field.name in self.replaced for field in self.columns.key)

    @property
    def written(self) -> Columns:
        """The columns as they are written: a replacement stands beside what it replaces until it is published."""
        attributes = tuple(
            replace(field, name=field.name + REPLACEMENT) if field.name in self.replaced else field
            for field in self.columns.attributes
        )
        return replace(self.columns, attributes=attributes)


def rebuilt(
    columns: Columns,
    key: tuple[KeyAttribute, ...],
    seen: Profile,
    overrides: Overrides = NO_OVERRIDES,
    fixed: Set[str] = frozenset(),
    kept: KeptNames = NOTHING_KEPT,
    *,
    all_seen: bool = True,
) -> Target:
    """The columns for a table's new content: names stay, types stay where they hold everything seen, else they change there.

    Inside a column as well: what is beside the place that changes keeps its name and type. What the user says wins over
    both. `all_seen`: whether all values had their say, as `without_undecided` and `checked` have it. `fixed`: columns that
    somebody has made partitions or a sort order of. They stay what they are, and what does not fit is a misfit; raises
    PartitionsKept where the user says that they are to be something else. Raises OverrideContradicted where a declared name
    is another column's, or one that the table cannot have where it is replaced whole. `kept`: by the table then.
    """
    target = _rebuilt(columns, key, seen, overrides, fixed, all_seen=all_seen)
    if not target.replaces_key:
        return target
    if unfit := misplaced(target.columns.all, kept):
        # As for what partitions are made of now: what the table has under such a name stays what it is, and does not grow.
        target = _rebuilt(columns, key, seen, overrides, fixed | unfit, ungrown=unfit, all_seen=all_seen)
    check_placed(target.columns, kept, columns.all)
    return target


def _rebuilt(
    columns: Columns,
    key: tuple[KeyAttribute, ...],
    seen: Profile,
    overrides: Overrides,
    fixed: Set[str],
    *,
    ungrown: Set[str] = frozenset(),
    all_seen: bool,
) -> Target:
    _check_fixed(columns, overrides, fixed)
    named = carried(columns, fixed)
    undropped = replace(named, attributes=without_dropped(named.attributes, overrides))
    seen = pinned(seen, overrides, undropped)
    kept, seen = without_undecided(undropped, seen, fixed, all_seen=all_seen)
    there = _grown_but(ungrown, kept, seen)
    key_fields = tuple(_rebuilt_key(field, part, seen) for field, part in zip(there.key, key))
    attributes = tuple(
        field if field.name in fixed else _rebuilt_field(field, seen.members.get(field.attribute))
        for field in there.attributes
    )
    # Another key is another table, which is partitioned anew.
    partitions = set() if key_fields == columns.key else {partition_name(key_fields[0].name)}
    target = Columns(key_fields, attributes, columns.taken | partitions)
    # From `kept` to `there` columns only get new fields, for which none has to be replaced.
    before, left, grown, after = (step.types for step in (columns, kept, there, target))
    changed = {name for name in before if before[name] != left.get(name) or grown[name] != after[name]}
    return _target(columns, checked(target, overrides, all_seen=all_seen), changed)


def _grown_but(names: Set[str], columns: Columns, seen: Profile) -> Columns:
    """The columns with room for what was seen, but for those of these names, as far as there were such."""
    stay = {field.name: field for field in columns.attributes if field.name in names}
    grown = with_room(columns, seen)
    return replace(grown, attributes=tuple(stay.get(field.name, field) for field in grown.attributes))


def _check_fixed(there: Columns, overrides: Overrides, fixed: Set[str]) -> None:
    """Refuse what is said of columns that have to stay what they are, and what is inside them, if it wants them otherwise.

    And names that somebody has given them, if no job can carry those.
    """
    check_fixed_names(there, fixed)
    names = {field.attribute: field.name for field in there.attributes if field.name in fixed}
    for rule in overrides.rules:
        at_place = places_at(there, rule.path) if rule.path[0] in names else []
        if any(
            rule.drop or rule.name not in ("", place.name) or is_of_other_type(place, rule, overrides)
            for place in at_place
        ):
            column = names[rule.path[0]]
            raise PartitionsKept(
                f"the table is, or was, partitioned or sorted by {column}, which columns[{rule.pointer!r}] wants otherwise",
                mended_by("take that back")
                + " To have it all the same, go by the manual's steps: in another order the watermark goes.",
            )


def _rebuilt_key(field: Field, part: KeyAttribute, seen: Profile) -> Field:
    """The key's column: it takes the declared type and no other, and has room for what was seen."""
    found = seen.members.get(part.name)
    stays = taken_tags(field.type) == {part.type} and holds(field.type, found or Profile())
    return _named(field if stays else replace(field, type=key_type(part, seen)), found)


def _target(before: Columns, after: Columns, changed: set[str]) -> Target:
    """What is replaced and removed to make one of the other. `changed`: attributes whose columns cannot just grow."""
    names = {field.attribute: field.name for field in before.all if field.attribute}
    there = {field.name: field.attribute for field in before.all}
    read = {name_to_readers(name) for name in there}
    new = {field.attribute: field.name for field in after.all if field.attribute}
    moved = changed | {attribute for attribute, name in names.items() if new.get(attribute) != name}
    # What is new may be written beside what goes, such as _1 beside 1, which are one in files.
    taken = {n for a, n in new.items() if there.get(n) != a and name_to_readers(n) in read}
    replaced = taken | {n for a, n in new.items() if a in moved}
    removed = {name for a, name in names.items() if a in moved}
    own = [(field, made) for field, made in _own_columns(before, after) if made != field]
    replaced |= {made.name for _, made in own if made}
    removed |= {field.name for field, _ in own}
    return Target(after, frozenset(replaced), frozenset(removed), is_another=twins(before) is not None)


def _own_columns(before: Columns, after: Columns) -> Iterator[tuple[Field, Field | None]]:
    """The columns that hold no attribute, which somebody has added, with what becomes of each: told by their order."""
    made = iter([field for field in after.attributes if not field.attribute])
    for field in before.attributes:
        if not field.attribute:
            yield field, None if is_foreign(field.type) else next(made)


def _rebuilt_field(field: Field, seen: Profile | None, room: float | None = None) -> Field:
    return _named(replace(field, type=_rebuilt_type(field.type, seen, room)), seen)


def _rebuilt_type(type_: ColumnType, seen: Profile | None, room: float | None) -> ColumnType:
    """`room`: for how many more fields there is room in the column, where the type is inside one."""
    if seen is None:
        return type_
    mended = _mended(type_, seen, room) if _stays(type_, seen) else None
    return mended or _as_exact(type_, as_declared(seen), seen) or type_


def _stays(type_: ColumnType, seen: Profile) -> bool:
    """Whether a type is what it should be, but perhaps for what is inside."""
    return (not seen.pin or obeys(type_, seen.pin)) and serves(type_, seen) and not _is_outgrown(type_, seen)


def _mended(type_: ColumnType, seen: Profile, room: float | None) -> ColumnType | None:
    """The type with what is inside it made right; None where that is too much for one column."""
    room = room_in(type_) if room is None else room
    fields = _mended_fields(type_, seen, math.inf if seen.pin == "struct" else max(room, 0))
    element, below = type_.element, inside_of(type_, seen)
    if element and below:
        # Elements share one type, which has to be for all of them.
        is_for_all = below.values.keys() <= taken_tags(element) and _stays(element, below)
        made = (_mended(element, below, room) if is_for_all else None) or _as_exact(element, alike(below), below)
        is_said = below.pin == "json"
        if made == JSON or (made is None and (below.values or is_said)):
            return JSON
        element = made or element
    mended = replace(type_, fields=fields, element=element)
    return mended if has_room(mended, seen, field_count(type_)) else None


def _mended_fields(type_: ColumnType, seen: Profile, room: float) -> tuple[Field, ...]:
    """The fields of a struct, each made right for which there is room: what is declared first, then those of the most values."""
    made = {}
    for field in sorted(type_.fields, key=lambda field: seen.members.get(field.attribute, Profile()).rank):
        wanted = _rebuilt_field(field, seen.members.get(field.attribute), room)
        if count_of(wanted) - count_of(field) > room:
            pin = seen.members[field.attribute].pin
            # Plain JSON has no fields, and may stand where a type with fields is declared.
            wanted = replace(wanted, type=JSON if pin and not obeys(field.type, pin) else field.type)
        made[field], room = wanted, room - max(count_of(wanted) - count_of(field), 0)
    return tuple(made[field] for field in type_.fields)


def _as_exact(type_: ColumnType, decided: ColumnType | None, seen: Profile) -> ColumnType | None:
    """The type that was decided anew, with room for as many decimals as there was: of what fitted, nobody has counted them."""
    is_number = decided is not None and decided.kind in (Kind.LONG, Kind.DECIMAL) and seen.pin in ("", "N")
    if type_.kind is not Kind.DECIMAL or not is_number:
        return decided
    return number_type(replace(seen, fraction_digits=max(seen.fraction_digits, type_.scale), fits_long=False))


def _is_outgrown(type_: ColumnType, seen: Profile) -> bool:
    """Whether a struct has no room for fields of what turns out to be a dictionary; or plain JSON is declared to be more."""
    if type_.kind is Kind.JSON:
        return seen.pin in TAG_OF_PIN
    if type_.kind is not Kind.STRUCT or not is_dictionary(seen):
        return False
    named = {field.attribute for field in type_.fields}
    if not any(member.values for name, member in seen.members.items() if name not in named):
        return False
    wanted = column_type(seen)
    return wanted is not None and wanted.kind is Kind.DICTIONARY


def _named(field: Field, seen: Profile | None) -> Field:
    return replace(field, name=seen.name) if seen and seen.name else field
