"""A table's fields by their ids, which stay when a name is given to another: which are shown, made ready, or gone. Pure.

`metadata` is the content of an Iceberg metadata file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Any

from pipeline.columns.table_columns import current_schema, ids_by_path, is_ours
from pipeline.errors import RebuildNeeded
from pipeline.table.marker import WATERMARK, ancestors_of_main, shown_schema_id


def check_shown(metadata: Mapping[str, Any]) -> None:
    """Refuse a table that shows rows whose columns it no longer has: after a rollback, values would be nowhere.

    Nor may one have another type: a table that is replaced whole gives a name the id that it had. Raises RebuildNeeded.
    `metadata`: the content of an Iceberg metadata file.
    """
    now = _types_now(metadata)
    for schema_id in _schemas_of_rows(metadata):
        _refuse_without(_columns(metadata, schema_id), lambda id_, type_: now.get(id_) == type_)


def check_readable(metadata: Mapping[str, Any], snapshot_id: int) -> None:
    """Refuse a snapshot that has a column under the id of one of now with another type: no engine reads its files as that.

    Columns that are gone show empty, which can be read. Raises RebuildNeeded.
    """
    now = _types_now(metadata)
    schema_id = next(s.get("schema-id") for s in metadata["snapshots"] if s["snapshot-id"] == snapshot_id)
    _refuse_without(_columns(metadata, schema_id), lambda id_, type_: now.get(id_, type_) == type_)


def _schemas_of_rows(metadata: Mapping[str, Any]) -> Iterator[int | None]:
    """The ids of the schemas of ``main``'s snapshots, from the newest to the newest of ours.

    Whoever commits on top, if it is but a compaction, does so with the columns of now, and makes no value come back.
    """
    for snapshot in ancestors_of_main(metadata):
        yield snapshot.get("schema-id")
        if WATERMARK in snapshot.get("summary", {}):
            return


def _types_now(metadata: Mapping[str, Any]) -> dict[int, str]:
    return dict(_all_typed(current_schema(metadata)["fields"]))


def _columns(metadata: Mapping[str, Any], schema_id: int | None) -> list[Any]:
    """The columns of attributes in a schema, as Iceberg's JSON."""
    fields = next((schema["fields"] for schema in metadata["schemas"] if schema["schema-id"] == schema_id), ())
    return [raw for raw in fields if is_ours(raw["name"])]


def _refuse_without(columns: Iterable[Any], is_there: Callable[[int, str], bool]) -> None:
    """Refuse a table in which one of these columns, or what is inside, is not there, as its id and type tell."""
    lost = [raw["name"] for raw in columns if not all(is_there(*typed) for typed in _all_typed([raw]))]
    if lost:
        names = ", ".join(lost)
        raise RebuildNeeded(
            f"the table shows rows older than its columns, as after a rollback: it lacks {names}",
            "Replace the table's content by a new full export: no setting is at fault.",
        )


def fields_made_ready(metadata: Mapping[str, Any], made: Set[int]) -> list[str]:
    """Of the columns and nested fields with these ids, those that the newest snapshot does not show, by their paths.

    A job has made them ready, and no row has come to use them. Of nested ones only the outermost.
    """
    shown = shown_schema_id(metadata)
    of_snapshot: Any = next((s["fields"] for s in metadata["schemas"] if s["schema-id"] == shown), [])
    wanted = made - set(_all_ids(of_snapshot))
    found = {path for path, id_ in ids_by_path(current_schema(metadata)["fields"]) if id_ in wanted}
    return sorted(path for path in found if path.rpartition(".")[0] not in found)


def used_by_layout(metadata: Mapping[str, Any]) -> frozenset[str]:
    """The columns that can neither go nor be replaced: those that partitions or the sort order are made of.

    Neither can those that the table was once partitioned by as they are: Iceberg keeps such a partition's name for that column.
    """
    spec_id, order_id = metadata["default-spec-id"], metadata.get("default-sort-order-id")
    partitions = ((spec["spec-id"], field) for spec in metadata["partition-specs"] for field in spec["fields"])
    sources = {field["source-id"] for of, field in partitions if of == spec_id or field["transform"] == "identity"}
    orders = (order for order in metadata.get("sort-orders", []) if order["order-id"] == order_id)
    sources |= {field["source-id"] for order in orders for field in order["fields"]}
    columns = current_schema(metadata)["fields"]
    return frozenset(raw["name"] for raw in columns if not sources.isdisjoint(_all_ids([raw])))


def field_ids(metadata: Mapping[str, Any]) -> frozenset[int]:
    """The ids of all columns that a table has now, and of what is inside them."""
    return frozenset(_all_ids(current_schema(metadata)["fields"]))


def _all_ids(raw: Any) -> Iterator[int]:
    """The ids of all fields, elements, keys and values in Iceberg's JSON of fields or of a type."""
    return (id_ for id_, _ in _all_typed(raw))


def _all_typed(raw: Any) -> Iterator[tuple[int, str]]:
    """The same ids, each with what it is: a scalar's type, else the kind of container."""
    if isinstance(raw, list):
        for one in raw:
            yield from _all_typed(one)
    elif isinstance(raw, Mapping):
        for name, value in raw.items():
            if name == "id" or name.endswith("-id"):
                of = raw["type" if name == "id" else name[: -len("-id")]]
                yield value, of if isinstance(of, str) else of["type"]
            else:
                yield from _all_typed(value)
