"""What somebody has made of columns and no job can carry: refused, and made good by a full export. Pure.

That are names, which become readable, and what was put into a column of a type that holds no value of DynamoDB's, which goes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace

from pipeline.columns.in_table.table_columns import Columns
from pipeline.columns.names import LONGEST_PARTITION_KEY, RESERVED, name_to_readers, other_names
from pipeline.columns.types import ColumnType, Field, Kind, fields_inside
from pipeline.errors import RebuildNeeded

_QUOTE = "`"


def check_carried(columns: Columns) -> None:
    """Refuse a table with a column, or nested field, that no job can carry. Raises RebuildNeeded."""
    _refuse_foreign(columns.all, ", or replace the table's content by a new full export, which does.")
    _refuse_odd(columns.all, ", or replace the table's content by a new full export, which gives it one.")


def check_fixed_names(columns: Columns, fixed: Set[str]) -> None:
    """The same of columns that no full export can give another name. `fixed`: their names, which may be the key's."""
    kept = [field for field in columns.attributes if field.name in fixed]
    _refuse_foreign(kept, ": the table is, or was, partitioned or sorted by the column, so that no full export can.")
    _refuse_odd(
        kept,
        ": the table is, or was, partitioned or sorted by it, so that no full export can.",
    )


def _refuse_odd(fields: Sequence[Field], otherwise: str) -> None:
    odd = [field for field in fields if not _is_carried(field.name)]
    nested = (inside for field in fields for inside in fields_inside(field.type))
    odd += [field for field in nested if not _is_carried_inside(field.name)]
    for field in odd:
        raise RebuildNeeded(
            f"somebody has named the column of {field.attribute or field.name!r} {field.name!r}; allowed is a name without "
            f"{_QUOTE}, and of a whole column one without a dot, no # at its beginning, and none that engines use",
            f"Give the column another name (ALTER TABLE ... RENAME COLUMN){otherwise}",
        )


def _refuse_foreign(fields: Sequence[Field], otherwise: str) -> None:
    for column in fields:
        for field in (column, *fields_inside(column.type)):
            if is_foreign(field.type):
                raise RebuildNeeded(
                    f"the column {column.name!r} has got {field.name!r}, of a type that no attribute's column has",
                    f"Take it out (ALTER TABLE ... DROP COLUMN){otherwise}",
                )


def is_foreign(type_: ColumnType) -> bool:
    """Whether nothing in a type can hold a value of DynamoDB's."""
    inside = [type_.element] if type_.element else [field.type for field in type_.fields]
    return type_.kind is Kind.OTHER or (bool(inside) and all(map(is_foreign, inside)))


def carried(columns: Columns, fixed: Set[str]) -> Columns:
    """The columns without what holds no value, with readable names for those that no job can carry.

    A name with capitals that readers take for another column's is replaced as well. `fixed`: names that stay what they are.
    """
    # Another name of the key is another table, in which nothing has to stay.
    stay = fixed - {field.name for field in columns.key}
    columns = replace(columns, attributes=_holding(columns.attributes))
    partition_key, *others = _named(columns.all, _is_carried, stay, (*RESERVED, *columns.taken))
    if partition_key.name != columns.key[0].name:
        partition_key = replace(partition_key, name=partition_key.name[:LONGEST_PARTITION_KEY])
    count = len(columns.key)
    return replace(columns, key=(partition_key, *others[: count - 1]), attributes=tuple(others[count - 1 :]))


def _named(
    fields: tuple[Field, ...],
    is_carried: Callable[[str], bool],
    fixed: Set[str] = frozenset(),
    reserved: Iterable[str] = (),
) -> tuple[Field, ...]:
    shown = Counter(name_to_readers(name) for name in (*(field.name for field in fields), *reserved))

    def stays(name: str) -> bool:
        is_alone = name == name.lower() or shown[name_to_readers(name)] == 1
        return name in fixed or (is_carried(name) and is_alone)

    odd = [field for field in fields if not stays(field.name)]
    taken = {*reserved} | ({field.name for field in fields} - {field.name for field in odd})
    names = other_names({field.name: field.attribute for field in odd}, taken)
    return tuple(replace(field, name=names.get(field.name, field.name), type=_inside(field.type)) for field in fields)


def _inside(type_: ColumnType) -> ColumnType:
    element = _inside(type_.element) if type_.element else None
    return replace(type_, fields=_named(_holding(type_.fields), _is_carried_inside), element=element)


def _holding(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return tuple(field for field in fields if not is_foreign(field.type))


def _is_carried(name: str) -> bool:
    """Whether a column of the table may have the name: Spark takes a dot for a path, and names with # are the jobs' own."""
    return _is_carried_inside(name) and "." not in name and not name.startswith("#") and name not in RESERVED


def _is_carried_inside(name: str) -> bool:
    return _QUOTE not in name
