"""Names of the product's own columns that others have, and what each column is called before a load looks at the table."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.columns.in_table.own_columns import check_engines_names, names_to_load
from pipeline.errors import RebuildNeeded
from pipeline.identity import KeyAttribute
from pipeline.table.marker import NAMES

MAP = {"type": "map", "key-id": 30, "key": "string", "value-id": 31, "value": "string"}


def column(id_: int, name: str, type_: Any = "string") -> dict[str, Any]:
    return {"id": id_, "name": name, "type": type_}


PK, TOTAL = column(1, "pk"), column(2, "total", "long")
WRITTEN, MISFITS = column(3, "_write_time", "timestamptz"), column(4, "_misfits", MAP)


def called(column_: dict[str, Any], name: str) -> dict[str, Any]:
    return {**column_, "name": name}


def named(*schemas: list[dict[str, Any]], partition: str = "pk_bucket") -> dict[str, str]:
    """The names that columns get, of a table that has had these columns, and has the last now."""
    metadata = {
        "schemas": [{"schema-id": number, "fields": fields} for number, fields in enumerate(schemas)],
        "current-schema-id": len(schemas) - 1,
        "properties": {NAMES: json.dumps({"1": "pk", "2": "total"})},
        "partition-specs": [{"spec-id": 0, "fields": [{"name": partition, "source-id": 1}]}],
    }
    return names_to_load(metadata, (KeyAttribute("pk", "S"),))


@pytest.mark.parametrize(
    ("now", "names"),
    [
        pytest.param([PK, TOTAL, WRITTEN, MISFITS], {}, id="nothing"),
        pytest.param(
            [PK, called(MISFITS, "total"), called(TOTAL, "_misfits"), WRITTEN],
            {"total": "_misfits", "_misfits": "total"},
            id="exchanged with an attribute's",
        ),
        pytest.param(
            [PK, TOTAL, called(MISFITS, "_write_time"), called(WRITTEN, "_misfits")],
            {"_write_time": "_misfits", "_misfits": "_write_time"},
            id="exchanged with each other",
        ),
        pytest.param(
            [called(PK, "_misfits"), called(MISFITS, "pk"), TOTAL, WRITTEN],
            {"pk": "_misfits", "_misfits": "pk"},
            id="exchanged with the key's",
        ),
        pytest.param(
            [PK, TOTAL, WRITTEN, column(5, "_misfits"), column(6, "_misfits_2")],
            {"_misfits": "_misfits_3"},
            id="made anew of another type",
        ),
        pytest.param(
            [PK, column(5, "_misfits", {**MAP, "value": "long"}), column(6, "_write_time", "timestamp")],
            {"_misfits": "_misfits_2", "_write_time": "_write_time_2"},
            id="made anew of types that are nearly theirs",
        ),
        pytest.param(
            [PK, WRITTEN, column(5, "_misfits", {**MAP, "key": "int"})],
            {"_misfits": "_misfits_2"},
            id="made anew by numbers",
        ),
        pytest.param([PK, WRITTEN, column(5, "_misfits", MAP)], {}, id="made anew"),
        pytest.param(
            [PK, called(TOTAL, "_write_time"), MISFITS], {"_write_time": "total"}, id="an attribute's instead"
        ),
        pytest.param([called(PK, "pk#new"), TOTAL, WRITTEN, MISFITS], {"pk#new": "pk"}, id="the key as a replacement"),
        pytest.param(
            [PK, WRITTEN, MISFITS, {**column(5, "pk#new"), "doc": "pk"}], {}, id="a replacement beside the key"
        ),
        pytest.param(
            [called(PK, "_pos"), called(TOTAL, "__row_id"), WRITTEN, MISFITS],
            {"_pos": "pk", "__row_id": "total"},
            id="attributes' as engines' own",
        ),
        pytest.param(
            [PK, TOTAL, WRITTEN, MISFITS, {**column(5, "_file", "date"), "doc": "total"}, column(6, "_deleted")],
            {"_file": "_file_2", "_deleted": "_deleted_2"},
            id="somebody's own as engines' own",
        ),
        pytest.param(
            [PK, called(TOTAL, "_pos"), WRITTEN, MISFITS, {**column(5, "_file"), "doc": "_pos"}, column(6, "total")],
            {"_pos": "total_2", "_file": "_pos_2"},
            id="an attribute's that is called as engines' own",
        ),
        pytest.param([PK, called(TOTAL, "total#new"), WRITTEN, MISFITS], {}, id="an attribute as a replacement"),
    ],
)
def test_before_a_load_what_has_others_names_gives_them_up(now, names):
    assert named([PK, TOTAL, WRITTEN, MISFITS], now) == names


def test_what_gives_a_name_up_gets_none_that_is_a_partitions():
    now = [PK, called(TOTAL, "_write_time"), MISFITS]
    assert named([PK, TOTAL, WRITTEN, MISFITS], now, partition="total") == {"_write_time": "total_2"}


def test_of_several_columns_that_had_a_name_of_the_products_own_the_last_gets_it_back():
    then = [PK, WRITTEN, MISFITS]
    between = [PK, WRITTEN, called(MISFITS, "a"), column(5, "_misfits", MAP)]
    assert named(then, between, [PK, WRITTEN, called(MISFITS, "a"), column(5, "b", MAP)]) == {"b": "_misfits"}


def test_a_table_with_a_column_that_is_called_as_engines_call_theirs_is_refused():
    metadata = {"schemas": [{"schema-id": 0, "fields": [PK, WRITTEN, MISFITS]}], "current-schema-id": 0}
    check_engines_names(metadata)
    metadata["schemas"][0]["fields"].append(column(5, "_pos"))
    with pytest.raises(RebuildNeeded, match="somebody has called a column '_pos', as engines call one of their own"):
        check_engines_names(metadata)
