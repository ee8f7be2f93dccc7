"""The names that a table which is replaced gives to no other type: what its partitions have been made of. Pure.

Iceberg then gives a column the id that one of its name had, and keeps all partitions and sort orders of before, which find
their columns by id. It cannot open a table where one was made of a text that is a list now. Nor can it make one with a
column in which two fields had the same id: it knows a field by a short name besides (`spark.iceberg.new_fields`). `metadata`
is the content of an Iceberg metadata file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.columns.declared.overrides import mended_by
from pipeline.columns.in_table.description import paths
from pipeline.columns.in_table.schema_fields import schema_fields
from pipeline.columns.in_table.table_columns import Columns, current_schema
from pipeline.columns.types import Field, Kind
from pipeline.errors import OverrideContradicted

#: Of what Iceberg makes buckets, whose numbers do not tell of which type they were made.
_BUCKETED = frozenset({Kind.TEXT, Kind.DIGITS, Kind.SCALARS, Kind.JSON, Kind.LONG, Kind.DECIMAL, Kind.BYTES})
#: The transforms whose values are of the column's own type, and by that type the kinds of which a column may become: what
#: lists the files of before is read by the type of now.
_OF_OWN_TYPE = ("identity", "truncate", "void")
_KINDS_OF_TYPE = {
    "string": frozenset({Kind.TEXT, Kind.DIGITS, Kind.SCALARS, Kind.JSON}),
    "long": frozenset({Kind.LONG}),
    "binary": frozenset({Kind.BYTES}),
    "boolean": frozenset({Kind.FLAG}),
}
_NONE: frozenset[Kind] = frozenset()


@dataclass(frozen=True)
class KeptNames:
    """What a table that is replaced keeps. `kinds`: by name, the kinds of which a column of that name may be.

    `ids`: the ids of its fields, by all names that Iceberg finds them by.
    """

    kinds: Mapping[str, frozenset[Kind]]
    ids: Mapping[str, int]


#: No table is replaced.
NOTHING_KEPT = KeptNames({}, {})


def kept_names(metadata: Mapping[str, Any]) -> KeptNames:
    """The names of which a table would not take every column, were it replaced now. `metadata`: empty for none."""
    if not metadata:
        return NOTHING_KEPT
    specs = [field for spec in metadata["partition-specs"] for field in spec["fields"]]
    orders = [field for order in metadata.get("sort-orders", ()) for field in order["fields"]]
    there = [*schema_fields(current_schema(metadata)["fields"])]
    columns = {field.id: field.way[0] for field in there}
    kept: dict[str, frozenset[Kind]] = {}
    for field in specs + orders:
        if field["source-id"] in columns:
            column = columns[field["source-id"]]
            kinds = _kinds(field["transform"].partition("[")[0], column.type)
            kept[column.path] = kept.get(column.path, kinds) & kinds
    # Of two short names the first counts, and none that is a path.
    ids = {field.short_path: field.id for field in reversed(there)}
    ids.update((field.path, field.id) for field in there)
    # Nor may a column have the name of a partition, unless that is made of its very values.
    return KeptNames({**{field["name"]: _NONE for field in specs}, **kept}, ids)


def _kinds(transform: str, type_: Any) -> frozenset[Kind]:
    """The kinds that a column may become, of which a partition or order is made. `type_`: the column's, in Iceberg's JSON."""
    if transform == "bucket":
        return _BUCKETED
    is_known = transform in _OF_OWN_TYPE and isinstance(type_, str)
    return _KINDS_OF_TYPE.get(type_, _NONE) if is_known else _NONE


def misplaced(fields: Iterable[Field], kept: KeptNames) -> frozenset[str]:
    """The names of the fields that the table would not take under them."""
    return frozenset(field.name for field in fields if not _is_of_kind(field, kept) or _shares_ids(field, kept))


def _is_of_kind(field: Field, kept: KeptNames) -> bool:
    return field.type.kind in kept.kinds.get(field.name, (field.type.kind,))


def _shares_ids(field: Field, kept: KeptNames) -> bool:
    """Whether two places in a column would get the id of one that the table has."""
    ids = [kept.ids[path] for path, _, _ in paths([field]) if path in kept.ids]
    return len(set(ids)) < len(ids)


def check_placed(columns: Columns, kept: KeptNames, before: Iterable[Field] = ()) -> None:
    """Refuse names that the table would not take, as declared ones may be. Raises OverrideContradicted.

    `before`: fields that the table has, which it takes as they are.
    """
    there = {(field.attribute, field.name) for field in before}
    new = [field for field in columns.all if (field.attribute, field.name) not in there]
    unfit = misplaced(new, kept)
    for field in new:
        if field.name in unfit:
            why = "has under that name what Iceberg takes for two fields of it"
            if not _is_of_kind(field, kept):
                why = "is, or was, partitioned or sorted by that name"
            raise OverrideContradicted(
                f"the name {field.name!r} is declared for the attribute {field.attribute!r}, of the kind "
                f"{field.type.kind.value}, and the table that is replaced {why}",
                mended_by("set another name for it"),
            )
