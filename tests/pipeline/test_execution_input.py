"""What an execution may be asked for, and how everything else is refused."""

from __future__ import annotations

import json

import pytest

from pipeline.errors import InputRefused
from pipeline.planning.execution_input import ExecutionInput, tick_minutes_of, tick_of, wish_text
from tests.pipeline.world import at


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param({"table": "orders"}, ExecutionInput("orders"), id="the schedule's, by hand"),
        pytest.param({}, ExecutionInput("default"), id="nothing, with one table configured"),
        pytest.param(
            {"table": "orders", "scheduled_time": "2026-11-21T12:00:00Z", "tick_minutes": 15},
            ExecutionInput("orders"),
            id="the schedule's",
        ),
        pytest.param(
            {"mode": "backfill", "from": "2026-11-21T10:00:00Z"},
            ExecutionInput("default", "backfill", at("10:00")),
            id="a backfill",
        ),
        pytest.param({"mode": "full"}, ExecutionInput("default", "full"), id="a full export"),
        pytest.param({"mode": "verify"}, ExecutionInput("default", "verify"), id="a verification"),
        pytest.param({"dry_run": True}, ExecutionInput("default", dry_run=True), id="the plan only"),
        pytest.param(
            {"table": "carts", "mode": "backfill", "from": "2026-11-21T10:00:00Z", "dry_run": True},
            ExecutionInput("carts", "backfill", at("10:00"), dry_run=True),
            id="everything at once",
        ),
    ],
)
def test_an_input_is_a_wish(raw, expected):
    assert ExecutionInput.parse(json.loads(json.dumps(raw)), "default") == expected


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        pytest.param({"tabel": "orders"}, '"tabel"; allowed are table, mode, from, dry_run', id="an unknown field"),
        pytest.param({"fom": 1, "b": 2, "a": 3, "d": 4, "c": 5}, 'field "a"', id="the first of several, by name"),
        pytest.param({"mode": "replay"}, '"replay"; allowed are "update", "backfill", "full"', id="an unknown mode"),
        pytest.param({"mode": "FULL"}, 'mode is "FULL"', id="a mode in capitals"),
        pytest.param({"mode": None}, "mode is null", id="no mode"),
        pytest.param({"mode": ["full"]}, r'mode is \["full"\]', id="a list of modes"),
        pytest.param({"mode": True}, "mode is true", id="a truth for a mode"),
        pytest.param({"dry_run": "true"}, 'dry_run is "true"; allowed are true, false', id="a text for a truth"),
        pytest.param({"dry_run": 1}, "dry_run is 1", id="a number for a truth"),
        pytest.param({"table": ""}, 'table is ""', id="an empty table"),
        pytest.param({"table": None}, "table is null", id="no table"),
        pytest.param({"table": ["orders"]}, r'table is \["orders"\]', id="a list of tables"),
        pytest.param(
            {"table": "or ders"}, 'table is "or ders"; allowed is the name of a table, 3-255 of', id="no name"
        ),
        pytest.param({"table": "/"}, 'table is "/"', id="the path of all tables' parameters"),
        pytest.param({"table": "ab"}, 'table is "ab"; .* and .; leave it out for "default"', id="too short a name"),
        pytest.param(
            {"mode": "backfill"},
            '"from" is missing; .* such as "from": "2026-11-01T00:00:00Z"',
            id="a backfill from nowhere",
        ),
        pytest.param({"from": "2026-11-21T10:00:00Z"}, 'the mode is "update"', id="an update from somewhere"),
        pytest.param(
            {"mode": "full", "from": "2026-11-21T10:00:00Z"}, 'the mode is "full"', id="a full one from somewhere"
        ),
        pytest.param(
            {"mode": "verify", "from": "2026-11-21T10:00:00Z"}, 'the mode is "verify"', id="one from somewhere"
        ),
        pytest.param({"mode": "backfill", "from": "yesterday"}, "from: 'yesterday' is not an instant", id="no instant"),
        pytest.param(
            {"mode": "backfill", "from": 1764936000}, "from is 1764936000; allowed is an instant, such as", id="no text"
        ),
        pytest.param({"mode": "backfill", "from": True}, "from is true; allowed", id="a truth for an instant"),
        pytest.param("orders", 'the input is "orders"', id="a text"),
        pytest.param({"table": "Straße"}, 'table is "Straße"', id="a letter of another alphabet"),
        pytest.param(["orders"], r'the input is \["orders"\]', id="a list"),
        pytest.param(None, "the input is null", id="null"),
    ],
)
def test_anything_else_is_refused_by_name_with_what_is_allowed(raw, told):
    with pytest.raises(InputRefused, match=told):
        ExecutionInput.parse(raw, "default")


def test_with_several_tables_configured_one_has_to_be_named():
    with pytest.raises(InputRefused, match=r"table is missing; name one of the tables .*: more than one is configured"):
        ExecutionInput.parse({}, "")
    with pytest.raises(InputRefused, match=r'table is ""; .*\.; name one of those in the settings'):
        ExecutionInput.parse({"table": ""}, "")


@pytest.mark.parametrize("name", [None, ""])
def test_with_one_table_configured_nobody_is_told_that_there_are_more(name):
    with pytest.raises(InputRefused, match='leave it out for "default"') as refused:
        ExecutionInput.parse({"table": name}, "default")
    assert "more than one" not in refused.value.message


def test_the_schedule_s_executions_name_their_tick():
    assert tick_of({"table": "orders", "scheduled_time": "2026-11-21T12:15:00Z"}) == at("12:15")


@pytest.mark.parametrize(
    "asked",
    [{"table": "orders"}, {"scheduled_time": ""}, {"scheduled_time": "now"}, {"scheduled_time": 3}, "orders", None, []],
    ids=repr,
)
def test_every_other_execution_is_a_person_s(asked):
    assert tick_of(asked) is None


@pytest.mark.parametrize(
    "more", [{"mode": "verify"}, {"mode": "update"}, {"dry_run": True}, {"from": None}, {"fom": ""}]
)
def test_what_is_added_to_an_input_of_the_schedule_a_person_has_added(more):
    ours = {"table": "orders", "scheduled_time": "2026-11-21T12:15:00Z", "tick_minutes": 15}
    assert (tick_of(ours), tick_of({**ours, **more})) == (at("12:15"), None)


@pytest.mark.parametrize(
    ("said", "minutes"),
    [
        (1, 1),
        (15, 15),
        (1440, 1440),
        (0, 0),
        (-15, 0),
        (1441, 0),
        (10**400, 0),
        (True, 0),
        ("15", 0),
        (15.0, 0),
        (None, 0),
    ],
)
def test_the_length_of_a_tick_is_one_that_a_schedule_can_have(said, minutes):
    assert tick_minutes_of({"tick_minutes": said}) == minutes


@pytest.mark.parametrize(
    ("more", "text"), [({}, '{"table":"orders","mode":"full"}'), ({"dry_run": True}, ""), ({"mode": "update"}, "")]
)
def test_what_is_to_be_asked_for_again_is_what_was_asked_for_and_no_plan(more, text):
    assert wish_text({"table": "orders", "mode": "full", **more}) == text
