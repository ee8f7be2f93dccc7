"""A table's fields by their ids: a snapshot is shown by the columns of now only if those are its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.columns.in_table.field_ids import check_readable, check_shown, columns_at, columns_then, shown_columns
from pipeline.columns.in_table.own_columns import names_to_load
from pipeline.columns.names import doc_of
from pipeline.errors import RebuildNeeded
from pipeline.identity import KeyAttribute
from pipeline.table.marker import NAMES, WATERMARK


def field(id_: int, name: str, type_: Any, **doc: str) -> dict[str, Any]:
    return {"id": id_, "name": name, "type": type_, **doc}


KEY = (KeyAttribute("pk", "S"),)
PK, TOTAL = field(1, "pk", "string"), field(2, "total", "decimal(38, 1)")
MAP = {"type": "struct", "fields": [field(4, "x", "string")]}
LINES = {"type": "list", "element-id": 6, "element": {"type": "struct", "fields": [field(7, "y", "long")]}}
NAMED = {"type": "map", "key-id": 9, "key": "string", "value-id": 10, "value": "long"}
SHOWN = [PK, TOTAL, field(3, "m", MAP), field(5, "lines", LINES), field(8, "named", NAMED)]


def rolled_back(now: list[dict[str, Any]]) -> dict[str, Any]:
    """A table with these columns that shows a snapshot of before."""
    return {
        "schemas": [{"schema-id": 0, "fields": SHOWN}, {"schema-id": 1, "fields": now}],
        "current-schema-id": 1,
        "snapshots": [{"snapshot-id": 1, "schema-id": 0}],
        "current-snapshot-id": 1,
    }


def with_commits(metadata: dict[str, Any], *summaries: dict[str, str]) -> dict[str, Any]:
    """The same table after commits on top, each with the columns of now."""
    snapshots = list(metadata["snapshots"])
    for number, summary in enumerate(summaries, start=2):
        snapshots.append({"snapshot-id": number, "parent-snapshot-id": number - 1, "schema-id": 1, "summary": summary})
    return {**metadata, "snapshots": snapshots, "current-snapshot-id": len(snapshots)}


@pytest.mark.parametrize(
    "now",
    [
        pytest.param(SHOWN, id="the same"),
        pytest.param([*SHOWN, field(11, "new", "string")], id="one more"),
        pytest.param([field(1, "id", "string"), *SHOWN[1:]], id="one with another name"),
        pytest.param(
            [*SHOWN[:2], field(3, "m", {**MAP, "fields": [*MAP["fields"], field(11, "z", "long")]}), *SHOWN[3:]],
            id="one more inside",
        ),
    ],
)
def test_columns_that_are_those_of_the_snapshot_and_more_show_it(now):
    assert check_shown(rolled_back(now)) is None


OTHER_TYPES = [
    pytest.param("pk", [field(1, "pk", "long"), *SHOWN[1:]], id="a key of another type under the same id"),
    pytest.param("total", [PK, field(2, "total", "decimal(38, 2)"), *SHOWN[2:]], id="a decimal of another scale"),
    pytest.param("m", [*SHOWN[:2], field(3, "m", "string"), *SHOWN[3:]], id="text in the place of a struct"),
    pytest.param(
        "m",
        [*SHOWN[:2], field(3, "m", {**MAP, "fields": [field(4, "x", "long")]}), *SHOWN[3:]],
        id="another type inside a struct",
    ),
    pytest.param("lines", [*SHOWN[:3], field(5, "lines", {**LINES, "element": "long"}), SHOWN[4]], id="other elements"),
    pytest.param("named", [*SHOWN[:4], field(8, "named", {**NAMED, "value": "string"})], id="other values"),
]


GONE = pytest.param("total", [PK, *SHOWN[2:]], id="a column that is gone")


@pytest.mark.parametrize(("lost", "now"), [GONE, *OTHER_TYPES])
def test_columns_that_lack_one_of_the_snapshot_or_have_it_with_another_type_ask_for_a_new_table(lost, now):
    with pytest.raises(RebuildNeeded, match=f"as after a rollback: it lacks {lost}\n") as refused:
        check_shown(rolled_back(now))
    assert refused.value.remedy == "Replace the table's content by a new full export: no setting is at fault."


@pytest.mark.parametrize(("lost", "now"), [GONE, *OTHER_TYPES])
def test_what_is_lost_does_not_come_back_by_what_others_commit_on_top(lost, now):
    with pytest.raises(RebuildNeeded, match=f"it lacks {lost}\n"):
        check_shown(with_commits(rolled_back(now), {"operation": "delete"}, {"operation": "replace"}))


@pytest.mark.parametrize("summary", [{}, {WATERMARK: "2026-11-21T11:00:00Z"}])
def test_of_what_is_beneath_the_newest_watermark_nothing_is_shown_any_more(summary):
    table = rolled_back([PK])
    table["snapshots"][0]["summary"] = summary
    assert check_shown(with_commits(table, {WATERMARK: "2026-11-21T12:00:00Z"}, {})) is None


def test_a_column_of_somebodys_own_that_came_after_the_newest_watermark_and_is_gone_has_held_nothing_of_the_source():
    own = {"schema-id": 2, "fields": [*SHOWN, field(11, "remark", "string")]}
    table = with_commits(rolled_back(SHOWN), {WATERMARK: "2026-11-21T12:00:00Z"}, {"operation": "overwrite"})
    table["snapshots"][-1]["schema-id"] = 2
    assert check_shown({**table, "schemas": [*table["schemas"], own]}) is None


LONG_NAMES = ("x" * 300, "y" * 300)


def struct(*docs: str) -> list[dict[str, Any]]:
    """A column with a list of structs of two fields, which hold these attributes."""
    fields = [field(id_, f"f{id_}", "string", doc=doc) for id_, doc in enumerate(docs, start=7)]
    return [PK, field(5, "lines", {**LINES, "element": {"type": "struct", "fields": fields}}, doc="Lines")]


def pair(*docs: str) -> list[dict[str, Any]]:
    return [field(id_, f"f{id_}", "string", doc=doc) for id_, doc in enumerate(docs, start=1)]


def of_then_and_now(then: list[dict[str, Any]], now: list[dict[str, Any]], names: str = "{}") -> dict[str, Any]:
    """A table that shows a snapshot of these columns, and has those now."""
    schemas = [{"schema-id": 0, "fields": then}, {"schema-id": 1, "fields": now}]
    return {**rolled_back(now), "schemas": schemas, "properties": {NAMES: names}}


@pytest.mark.parametrize(
    ("then", "now", "names", "moved"),
    [
        pytest.param(pair("pk", "sk"), pair("sk", "pk"), "{}", "/pk, /sk", id="two columns"),
        pytest.param(pair("a", "b", "c"), pair("b", "c", "a"), "{}", "/a, /b, /c", id="three columns"),
        pytest.param(pair("pk", "a"), pair("new", "pk"), "{}", "/pk", id="of which one is new"),
        pytest.param(struct("X", "Y"), struct("Y", "X"), "{}", "/Lines/X, /Lines/Y", id="inside"),
        pytest.param(
            pair(*map(doc_of, LONG_NAMES)),
            pair(*map(doc_of, reversed(LONG_NAMES))),
            json.dumps({"1": LONG_NAMES[1], "2": LONG_NAMES[0]}),
            f"/{doc_of(LONG_NAMES[0])}, /{doc_of(LONG_NAMES[1])}",
            id="names that no comment can hold",
        ),
    ],
)
def test_columns_that_have_exchanged_their_attributes_ask_for_a_new_table(then, now, names, moved):
    with pytest.raises(RebuildNeeded, match=f"as after a rollback: other columns held {moved} then\n"):
        check_shown(of_then_and_now(then, now, names))


@pytest.mark.parametrize(
    ("then", "now", "names"),
    [
        pytest.param(pair("a", "b"), pair("the first", "b"), "{}", id="by a person"),
        pytest.param(pair("the first", "b"), pair("a", "b"), "{}", id="by a person, and back"),
        pytest.param(
            pair("the first", "b"), pair("the first", "b"), '{"1":"a"}', id="who did not rename the attribute"
        ),
        pytest.param(pair("b", "b"), pair("a", "b"), "{}", id="to what is another's"),
        pytest.param(pair("a", "b"), pair("b", "a"), '{"1":"a","2":"b"}', id="with another's, as the property tells"),
        pytest.param(
            pair("b", "full b"),
            pair("b", "full b", "new"),
            '{"1":"a","2":"b"}',
            id="to what is another's, and it stayed",
        ),
    ],
)
def test_a_changed_comment_alone_asks_for_nothing(then, now, names):
    assert check_shown(of_then_and_now(then, now, names)) is None


@pytest.mark.parametrize(("lost", "now"), OTHER_TYPES)
def test_a_snapshot_that_has_a_column_with_another_type_cannot_be_read(lost, now):
    with pytest.raises(RebuildNeeded, match=f"as after a rollback: it lacks {lost}\n"):
        check_readable(rolled_back(now), 1)


def test_a_snapshot_of_which_a_column_or_a_field_is_gone_can_be_read():
    inside = {**MAP, "fields": [field(11, "z", "long")]}
    assert check_readable(rolled_back([PK, field(3, "m", inside)]), 1) is None


def test_the_columns_of_a_snapshot_are_those_that_it_was_written_with_and_not_the_first_ones():
    table = with_commits(rolled_back([*SHOWN, field(11, "new", "string")]), {})
    first, second = ({one.name for one in columns_at(table, id_, KEY).all} for id_ in (1, 2))
    assert second - first == {"new"}


def test_columns_of_an_earlier_schema_have_the_names_of_now_where_they_are_there_now():
    def named(key: str, inside: str) -> list[dict[str, Any]]:
        struct = {"type": "struct", "fields": [field(4, inside, "string", doc="X")]}
        return [field(1, key, "string", doc="pk"), field(3, "m", struct)]

    then = [*named("pk", "x"), field(11, "gone", "string"), field(12, "v#new", "long")]
    metadata, key = of_then_and_now(then, [*named("id", "renamed"), field(12, "v", "long")]), (KeyAttribute("pk", "S"),)
    columns = columns_then(metadata, 0, key)
    assert [column.name for column in columns.all] == ["id", "m", "gone"]
    assert [inside.name for inside in columns.types["m"].fields] == ["renamed"]
    assert shown_columns(metadata, key) == columns


MISFITS_TYPE = {"type": "map", "key-id": 30, "key": "string", "value-id": 31, "value": "string"}
MISFITS_THEN = field(20, "_misfits", MISFITS_TYPE)


@pytest.mark.parametrize(
    ("now", "renamed"),
    [
        pytest.param([], {}, id="dropped"),
        pytest.param([field(20, "misfits", MISFITS_TYPE)], {"misfits": "_misfits"}, id="renamed"),
        pytest.param([field(21, "_misfits", MISFITS_TYPE)], {}, id="made anew"),
        pytest.param(
            [field(20, "x", MISFITS_TYPE), field(21, "_misfits", MISFITS_TYPE)], {}, id="renamed and made anew"
        ),
    ],
)
def test_a_column_of_the_products_own_that_is_another_now_shows_no_rows_of_then(now, renamed):
    table = of_then_and_now([PK, MISFITS_THEN], [PK, *now])
    with pytest.raises(RebuildNeeded, match="lacks _misfits"):
        check_shown(table)
    assert names_to_load(table, KEY) == renamed


def test_a_column_of_the_products_own_that_has_stayed_has_not_been_renamed():
    table = of_then_and_now([PK, MISFITS_THEN], [PK, MISFITS_THEN, TOTAL])
    assert check_shown(table) is None
    assert names_to_load(table, KEY) == {}


def test_what_the_product_has_lost_is_missed_also_where_nothing_of_then_is_left_among_the_snapshots():
    table = of_then_and_now([PK, MISFITS_THEN], [PK, field(20, "misfits", MISFITS_TYPE)])
    for snapshot in table["snapshots"]:  # as after a compaction, and an expiry of the others
        snapshot["schema-id"] = table["current-schema-id"]
    with pytest.raises(RebuildNeeded, match="lacks _misfits"):
        check_shown(table)
    assert names_to_load(table, KEY) == {"misfits": "_misfits"}


def test_a_column_that_somebody_has_called_as_replacements_are_is_lost():
    with pytest.raises(RebuildNeeded, match="lacks total"):
        check_shown(of_then_and_now([PK, TOTAL], [PK, {**TOTAL, "name": "total#new"}]))


def test_a_snapshot_is_not_compared_by_columns_without_the_products_own():
    table = of_then_and_now([PK, MISFITS_THEN], [PK])
    with pytest.raises(RebuildNeeded, match="lacks _misfits"):
        check_readable(table, 1)
