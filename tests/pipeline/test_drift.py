"""What is handed on of a report, and the lines that tell it."""

from __future__ import annotations

import json

import pytest

from pipeline.table.drift import drift_of, summed, told_drift

MISFIT = {"path": "/price", "type": "S", "count": 2, "example": '{"id":"a"}'}
COLUMN = {"column": "size", "path": "/size", "type": "bigint", "count": 1, "example": '{"id":"b"}'}
REMOVED = {"path": "/note", "count": 3, "example": '{"id":"d"}'}
CHANGED = {
    "column": "amount",
    "path": "/Amount",
    "before": "bigint",
    "after": "decimal(38,1)",
    "count": 2,
    "example": '{"id":"c"}',
}


def test_where_nothing_was_found_nothing_is_told():
    assert told_drift(drift_of({}), 0) == []


def test_everything_is_told_with_what_how_many_and_a_key():
    found = {
        "misfits": [MISFIT],
        "new_columns": [COLUMN],
        "removed_attributes": [REMOVED, {**REMOVED, "path": "/a", "count": 1}],
        "continuity": "Of the old images, 2 differ from the table's row.",
    }
    assert told_drift(drift_of(found), 2) == [
        "2 values fit no column and are kept in _misfits:",
        '  /price: 2 of type S, such as that of {"id":"a"}',
        "New columns:",
        '  size: bigint, 1 value, such as that of {"id":"b"}',
        "Attributes that items no longer have:",
        '  /note: 3 items, such as that of {"id":"d"}',
        '  /a: 1 item, such as that of {"id":"d"}',
        "Warning: Of the old images, 2 differ from the table's row.",
    ]


def test_what_several_reports_say_of_one_place_is_told_once():
    later = {"misfits": [{**MISFIT, "count": 3, "example": '{"id":"z"}'}], "new_columns": [COLUMN], "continuity": "?"}
    later["removed_attributes"] = [REMOVED]
    flags = {**MISFIT, "type": "BOOL", "count": 9}
    earlier = {"misfits": [flags, MISFIT], "new_columns": [COLUMN], "changed_columns": [CHANGED]}
    earlier["removed_attributes"] = [{**REMOVED, "path": "/b"}, REMOVED]
    assert summed([later, {}, earlier]) == {
        "misfits": [flags, {**MISFIT, "count": 5, "example": '{"id":"z"}'}],
        "new_columns": [COLUMN],
        "changed_columns": [CHANGED],
        "removed_attributes": [{**REMOVED, "count": 6}, {**REMOVED, "path": "/b"}],
        "continuity": "",
    }
    assert summed([]) == drift_of({})
    once_more = [{"new_columns": [COLUMN]}, {"new_columns": [{**COLUMN, "type": "string"}]}]
    assert summed(once_more)["new_columns"] == [COLUMN], "the newest report tells what it is"


def test_places_whose_long_paths_begin_alike_are_summed_apart_and_so_are_columns_of_one_path():
    one, other = (f"/{'inside/' * 20}{name}" for name in "ab")
    report = {
        "misfits": [{**MISFIT, "path": one}, {**MISFIT, "path": other}],
        "new_columns": [COLUMN, {**COLUMN, "path": one}, {**COLUMN, "path": other}, {**COLUMN, "column": "mine"}],
        "changed_columns": [{**CHANGED, "path": one}, {**CHANGED, "path": other}],
        "removed_attributes": [{**REMOVED, "path": one}, {**REMOVED, "path": other}],
    }
    assert summed([report]) == drift_of(report)


def test_what_each_of_several_reports_has_too_late_to_be_told_is_summed_before_it_is_cut():
    report = {"misfits": [{**MISFIT, "path": f"/p{i}", "count": 9} for i in range(30)]}
    others = [
        {"misfits": [{**MISFIT, "path": f"/{job}-{i}", "count": 2} for i in range(29)] + [MISFIT]} for job in "abcdef"
    ]
    assert summed([report, *others])["misfits"][0] == {**MISFIT, "count": 12}


def test_of_a_column_whose_values_were_not_counted_the_attribute_and_the_type_are_told():
    column = {"column": "order_state", "path": "/order state", "type": "string"}
    assert told_drift(drift_of({"new_columns": [column]}), 0) == [
        "New columns:",
        "  order_state (/order state): string",
    ]


def test_a_changed_column_is_told_with_both_types_or_that_it_is_gone():
    gone = {"column": "nick", "path": "/nick", "before": "string"}
    assert told_drift(drift_of({"changed_columns": [CHANGED, gone]}), 0) == [
        "Changed columns:",
        '  amount (/Amount): bigint before, decimal(38,1) now, 2 values, such as that of {"id":"c"}',
        "  nick: string before, there no more",
    ]


@pytest.mark.parametrize(("count", "lines"), [(20, 20), (21, 21)])
def test_a_list_that_was_cut_says_so(count, lines):
    found = {"misfits": [MISFIT] * count, "new_columns": [COLUMN] * count, "changed_columns": [CHANGED] * count}
    told = told_drift(drift_of(found), count)
    assert len(told) == 3 * (1 + lines)
    is_cut = count > 20
    assert told.count("  and more, which the report lists") == 2 * is_cut
    assert told.count("  and more: the report lists fifty, the column _misfits has all") == is_cut


@pytest.mark.parametrize(("length", "is_cut"), [(120, False), (121, True)])
def test_a_key_that_was_cut_says_so(length, is_cut):
    key = '{"id":"'.ljust(length, "a")
    told = told_drift(drift_of({"misfits": [{**MISFIT, "example": key}]}), 2)[1]
    assert told.endswith(key[:119] + "…" if is_cut else key)


@pytest.mark.parametrize("length", [119, 120, 121, 255])
def test_a_long_column_that_is_called_like_its_attribute_is_told_once(length):
    name = "c" * length
    told = told_drift(drift_of({"new_columns": [{"column": name, "path": f"/{name}", "type": "string"}]}), 0)[1]
    assert told == f"  {name[:119] + '…' if length > 120 else name}: string"


def test_what_is_handed_on_fits_between_states_however_long_the_names_are():
    long = "\U0001f600" * 65_536
    misfits = [{**MISFIT, "path": long, "example": long}] * 200
    columns = [{"column": "c" * 255, "path": long, "type": "map<string," * 90, "example": long}] * 200
    changed = [{**CHANGED, "column": "c" * 255, "path": long, "before": "map<string," * 90, "example": long}] * 200
    found = {"misfits": misfits, "new_columns": columns, "changed_columns": changed, "continuity": long}
    handed_on = drift_of(found)
    assert len(json.dumps(handed_on)) < 200 * 1024


@pytest.mark.parametrize(
    "odd", [None, 5, "x", {"a": 1}, [None], ["x"], [{"path": ["/price"], "type": "S", "count": 2}]]
)
def test_what_somebody_has_written_into_a_report_is_left_out(odd):
    lists = ("misfits", "new_columns", "changed_columns", "removed_attributes")
    edited = {**dict.fromkeys(lists, odd), "continuity": odd if odd != "x" else None}
    assert summed([edited, {"misfits": [MISFIT]}]) == {**drift_of({}), "misfits": [MISFIT]}
    assert drift_of(edited) == drift_of({})


def test_where_no_misfit_can_be_told_their_number_is():
    assert told_drift(drift_of({}), 3) == ["3 values fit no column and are kept in _misfits."]


def test_each_attribute_that_is_told_takes_one_line():
    told = told_drift(drift_of({"removed_attributes": [{"path": "/a\nb", "count": 1}]}), 0)
    assert told[1:] == ["  /a\\nb: 1 item"]
