"""A table's fields by their ids, which stay when a name is given to another: which are shown, made ready, or gone. Pure.

`metadata` is the content of an Iceberg metadata file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

from pipeline.columns.in_table.own_columns import check_engines_names, lost_own, own_ids
from pipeline.columns.in_table.schema_fields import ids_by_path, named_fields, schema_fields
from pipeline.columns.in_table.table_columns import (
    Columns,
    attribute_of,
    columns_of,
    current_schema,
    may_hold_attribute,
    told_names,
)
from pipeline.columns.in_table.unread import check_read
from pipeline.columns.names import doc_of
from pipeline.columns.pointers import pointer_to
from pipeline.errors import RebuildNeeded
from pipeline.identity import KeyAttribute
from pipeline.table.marker import with_marker
from pipeline.table.snapshots import ancestors_of_main, shown_schema_id
from pipeline.wording import on_one_line

#: The path to an attribute, and the id of the column or nested field that holds it.
_Holder = tuple[tuple[str, ...], int]


def check_shown(metadata: Mapping[str, Any]) -> None:
    """Refuse a table that shows rows whose columns it no longer has: after a rollback, values would be nowhere.

    Nor may one have another type, or hold another attribute: a table that is replaced whole gives a name the id that it had.
    The product's own columns count as well, by their names: misfits are values, and merges write them by name.
    Raises RebuildNeeded. `metadata`: the content of an Iceberg metadata file.
    """
    check_read(metadata)
    check_engines_names(metadata)
    current = metadata["current-schema-id"]
    own = own_ids(_fields(metadata, current))
    _refuse_lost(lost_own(metadata))
    earlier = dict.fromkeys(schema_id for schema_id in _schemas_of_rows(metadata) if schema_id != current)
    if not earlier:
        return  # as nearly always: the rows were written with the columns of now
    # A column that is to replace another holds nothing yet: who has named one so has taken it away.
    now = _kinds_by_id(_columns(metadata, current))
    holders = _holders(metadata, current, metadata.get("properties", {}))
    for schema_id in earlier:
        _refuse_lost(name for name, id_ in own_ids(_fields(metadata, schema_id)).items() if own.get(name) != id_)
        _refuse_without(_columns(metadata, schema_id), lambda id_, type_: now.get(id_) == type_)
        # What the properties say of an id is said of now: what it held then, only comments tell.
        _refuse_exchanged(_holders(metadata, schema_id, {}), holders, _kept_comments(metadata, schema_id))


def check_readable(metadata: Mapping[str, Any], snapshot_id: int) -> None:
    """Refuse a snapshot that has a column under the id of one of now with another type: no engine reads its files as that.

    Columns that are gone show empty, which can be read; without the product's own nothing can be. Raises RebuildNeeded.
    """
    check_read(metadata)
    check_engines_names(metadata)
    now = _kinds_by_id(current_schema(metadata)["fields"])
    _refuse_lost(lost_own(metadata))
    _refuse_without(
        _columns(metadata, _schema_of(metadata, snapshot_id)), lambda id_, type_: now.get(id_, type_) == type_
    )


def _schemas_of_rows(metadata: Mapping[str, Any]) -> list[int | None]:
    """The ids of the schemas that values of the source may be shown by: that of the newest of our snapshots on ``main``.

    A commit of somebody else's on top, such as a compaction, brings back no values that are lost, and no column that came
    and went since has held any. Where all of ours have expired, rows of ours may be beneath any that is left.
    """
    ancestors = ancestors_of_main(metadata)
    return [snapshot.get("schema-id") for snapshot in with_marker(ancestors)[:1] or ancestors]


def _columns(metadata: Mapping[str, Any], schema_id: int | None) -> list[Any]:
    """The columns of attributes in a schema, as Iceberg's JSON."""
    return [raw for raw in _fields(metadata, schema_id) if may_hold_attribute(raw)]


def _fields(metadata: Mapping[str, Any], schema_id: int | None) -> Iterable[Any]:
    return next((schema["fields"] for schema in metadata["schemas"] if schema["schema-id"] == schema_id), ())


def _refuse_without(columns: Iterable[Any], is_there: Callable[[int, str], bool]) -> None:
    """Refuse a table in which one of these columns, or what is inside, is not there, as its id and type tell."""
    _refuse_lost(raw["name"] for raw in columns if not all(is_there(*one) for one in _kinds_by_id([raw]).items()))


def _refuse_lost(lost: Iterable[str]) -> None:
    if names := ", ".join(lost):
        raise _older_than_columns(f"it lacks {names}")


def _refuse_exchanged(then: Set[_Holder], now: Set[_Holder], kept: Set[int]) -> None:
    """Refuse a table in which an attribute of now was held by another column, or nested field, that holds something else now.

    A comment that is no attribute's name, as a person may have written it, tells nothing. Nor does one that has stayed
    (`kept`: the ids): who replaces a table writes all comments anew.
    """
    there, stayed = {place for place, _ in now}, {place for place, _ in then & now}
    if moved := {place for place, id_ in then if id_ not in kept and place in there - stayed}:
        names = ", ".join(sorted(on_one_line(pointer_to(place)) for place in moved))
        raise _older_than_columns(f"other columns held {names} then")


def _kept_comments(metadata: Mapping[str, Any], schema_id: int | None) -> set[int]:
    """The ids of columns and nested fields whose comments are what they were in a schema."""
    now, then = (
        {field.id: field.said.get("doc", "") for field in named_fields(fields)}
        for fields in (current_schema(metadata)["fields"], _columns(metadata, schema_id))
    )
    return {id_ for id_, comment in then.items() if now.get(id_) == comment}


def _older_than_columns(what: str) -> RebuildNeeded:
    return RebuildNeeded(
        f"the table shows rows older than its columns, as after a rollback: {what}",
        "Replace the table's content by a new full export: no setting is at fault.",
    )


def _holders(metadata: Mapping[str, Any], schema_id: int | None, properties: Mapping[str, str]) -> set[_Holder]:
    """The attributes of a schema, as far as comments can hold their names, with the ids of what holds them."""
    names = told_names(properties)
    return {
        (tuple(doc_of(attribute_of(one.said, one.path, names)) for one in field.way), field.id)
        for field in named_fields(_columns(metadata, schema_id))
    }


def shown_columns(metadata: Mapping[str, Any], key: tuple[KeyAttribute, ...]) -> Columns:
    """The columns that the newest snapshot was written with: without those that a job has made ready, and not come to use."""
    shown = shown_schema_id(metadata)
    return columns_then(metadata, metadata["current-schema-id"] if shown is None else shown, key)


def columns_at(metadata: Mapping[str, Any], snapshot_id: int, key: tuple[KeyAttribute, ...]) -> Columns:
    """The columns that a snapshot's rows can have values in, by the names that they have now."""
    return columns_then(metadata, _schema_of(metadata, snapshot_id), key)


def _schema_of(metadata: Mapping[str, Any], snapshot_id: int) -> int | None:
    """The id of the schema that a snapshot was written with."""
    found: int | None = next(s.get("schema-id") for s in metadata["snapshots"] if s["snapshot-id"] == snapshot_id)
    return found


def columns_then(metadata: Mapping[str, Any], schema_id: int | None, key: tuple[KeyAttribute, ...]) -> Columns:
    """The columns of one of the table's schemas, by the names that they have now: one that somebody has renamed is no news."""
    names = {field.id: field.said["name"] for field in named_fields(current_schema(metadata)["fields"])}
    schema = {"schema-id": schema_id, "fields": _renamed(_columns(metadata, schema_id), names)}
    return columns_of({**metadata, "schemas": [schema], "current-schema-id": schema_id}, key)


def _renamed(raw: Any, names: Mapping[int, str]) -> Any:
    """The same JSON with other names of the fields with these ids."""
    if isinstance(raw, list):
        return [_renamed(one, names) for one in raw]
    if not isinstance(raw, Mapping):
        return raw
    inside = {what: _renamed(value, names) for what, value in raw.items()}
    return {**inside, "name": names.get(raw["id"], raw["name"])} if "id" in raw else inside


def fields_made_ready(metadata: Mapping[str, Any], made: Set[int]) -> list[str]:
    """Of the columns and nested fields with these ids, those that the newest snapshot does not show, by their paths.

    A job has made them ready, and no row has come to use them. Of nested ones only the outermost.
    """
    wanted = made - set(_kinds_by_id(_fields(metadata, shown_schema_id(metadata))))
    found = {path for path, id_ in ids_by_path(current_schema(metadata)["fields"]).items() if id_ in wanted}
    return sorted(path for path in found if path.rpartition(".")[0] not in found)


def used_by_layout(metadata: Mapping[str, Any]) -> frozenset[str]:
    """The columns that can neither go nor be replaced: those that partitions or the sort order are made of.

    And those by whose very values the table was once partitioned: Iceberg keeps such a partition's name for its column.
    """
    spec_id, order_id = metadata["default-spec-id"], metadata.get("default-sort-order-id")
    partitions = ((spec["spec-id"], field) for spec in metadata["partition-specs"] for field in spec["fields"])
    sources = {field["source-id"] for of, field in partitions if of == spec_id or field["transform"] == "identity"}
    orders = (order for order in metadata.get("sort-orders", []) if order["order-id"] == order_id)
    sources |= {field["source-id"] for order in orders for field in order["fields"]}
    columns = current_schema(metadata)["fields"]
    return frozenset(raw["name"] for raw in columns if not sources.isdisjoint(_kinds_by_id([raw])))


def field_ids(metadata: Mapping[str, Any]) -> frozenset[int]:
    """The ids of all columns that a table has now, and of what is inside them."""
    return frozenset(_kinds_by_id(current_schema(metadata)["fields"]))


def gone_ids(metadata: Mapping[str, Any]) -> list[int]:
    """The ids that the table has given to columns, or to what is inside them, and that none of its schemas has any more.

    Each schema that is let go, as maintenance does with the snapshots, may leave some.
    """
    gone = set(range(1, metadata["last-column-id"] + 1))
    for schema in reversed(metadata["schemas"]):
        if not gone:
            break  # mostly after the first: to walk through hundreds of a wide table would take a tenth of a second
        gone -= set(_kinds_by_id(schema["fields"]))
    return sorted(gone)


def _kinds_by_id(columns: Iterable[Any]) -> dict[int, str]:
    """What the columns, and all that is inside them, are: scalars' types, and kinds of containers, by the ids."""
    return {field.id: field.kind for field in schema_fields(columns)}
