"""The configuration: what is read, what is filled in, and what is refused by name."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.columns.declared.overrides import NO_OVERRIDES, Overrides
from pipeline.errors import SettingRefused
from pipeline.exports.window_bounds import WindowBounds, WindowLengths
from pipeline.settings import TICKS, MailLists, Settings, SparkSettings, TableSettings, is_table_name

ORDERS = {"name": "orders"}


def parsed(**table: object) -> TableSettings:
    return Settings.parse({"tables": [{**ORDERS, **table}]}).tables[0]


def test_a_name_is_enough():
    assert Settings.parse({"tables": [ORDERS]}) == Settings(tables=(TableSettings("orders", "orders"),))


def test_everything_can_be_set():
    mail = {"success": ["a@example.com"], "failure": ["b@example.com", "c@example.com"]}
    names, columns = {"name": "Orders.2", "iceberg_table": "o"}, {"total": "N"}
    said = {"window_minutes": 15, "tick_minutes": 5, "buckets": 1, "success_mail": "daily", "hash_secret": "shop/pii"}
    said |= {"on_lost_history": "rebuild", "compare_old_images": True, "maintain_days": 0, "snapshot_days": 3}
    raw = {
        "tables": [{**names, **said, "mail": mail, "columns": columns, "paused": True}],
        "stack_name": "Tides-2",
        "database": "lake",
        "export_days": 8,
        "log_days": 7,
        "spark": {"worker_vcpus": 1, "worker_memory_gb": 2, "worker_disk_gb": 30, "max_executors": 1},
    }
    lists = MailLists(("a@example.com",), ("b@example.com", "c@example.com"))
    table = TableSettings(**names, **said, mail=lists, columns=Overrides.parse(columns), paused=True)
    assert Settings.parse(raw) == Settings((table,), "Tides-2", "lake", 8, 7, SparkSettings(1, 2, 30, 1))
    assert [setting.name for setting in fields(table) if getattr(table, setting.name) == setting.default] == []


def test_a_table_takes_the_defaults_it_does_not_set_itself():
    raw = {"defaults": {"window_minutes": 120, "buckets": 4}, "tables": [ORDERS, {"name": "carts", "buckets": 2}]}
    assert [(t.window_minutes, t.buckets) for t in Settings.parse(raw).tables] == [(120, 4), (120, 2)]


@pytest.mark.parametrize(
    ("name", "readable"),
    [("Orders", "orders"), ("my-orders.v2", "my_orders_v2"), ("A--B", "a_b"), ("x_1", "x_1"), ("___", "___")],
)
def test_the_iceberg_table_is_called_like_the_source_in_letters_that_athena_takes(name, readable):
    assert parsed(name=name).iceberg_table == readable


@pytest.mark.parametrize(("window", "tick"), [(15, 15), (60, 15), (1440, 15)])
def test_the_schedule_looks_every_quarter_of_an_hour(window, tick):
    assert parsed(window_minutes=window).tick_minutes == tick


@pytest.mark.parametrize(
    ("setting", "bounds", "tick"),
    [
        ("auto", WindowBounds(15, 240), 15),
        ({}, WindowBounds(15, 240), 15),
        ({"shortest": 30, "longest": 1440}, WindowBounds(30, 1440), 15),
        ({"shortest": 60, "longest": 60}, WindowBounds(60, 60), 15),
    ],
)
def test_windows_may_follow_the_changes_within_bounds(setting, bounds, tick):
    table = parsed(window_minutes=setting)
    assert (table.window_minutes, table.tick_minutes) == (bounds, tick)
    assert table.windows == WindowLengths.of(bounds)


def test_the_only_table_need_not_be_named():
    assert Settings.parse({"tables": [ORDERS]}).default_table == "orders"
    assert Settings.parse({"tables": [ORDERS, {"name": "carts"}]}).default_table == ""


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (
            {"window_minutes": 14},
            r"tables\[0\].window_minutes is 14; allowed is a whole number from 15 to 1440, .auto., or",
        ),
        ({"window_minutes": 1441}, "window_minutes is 1441"),
        ({"window_minutes": "60"}, "window_minutes is '60'"),
        ({"window_minutes": 60.0}, "window_minutes is 60.0"),
        ({"window_minutes": True}, "window_minutes is True"),
        ({"window_minutes": None}, "window_minutes is None"),
        ({"window_minutes": "automatic"}, "window_minutes is 'automatic'; allowed is a whole number from 15 to 1440"),
        ({"window_minutes": {"least": 15}}, "window_minutes has the unknown setting 'least'; allowed are longest, sho"),
        ({"window_minutes": {"shortest": 14}}, r"window_minutes\.shortest is 14; allowed is a whole number from 15"),
        ({"window_minutes": {"longest": 1441}}, r"window_minutes\.longest is 1441"),
        ({"window_minutes": {"shortest": 30, "longest": 100}}, "longest is 100; allowed is a multiple of shortest, wh"),
        ({"window_minutes": {"shortest": 60, "longest": 30}}, "longest is 30; allowed is a multiple of shortest, whi"),
        (
            {"tick_minutes": 0},
            "tick_minutes is 0; allowed is one of 1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24, 30,",
        ),
        ({"tick_minutes": 50}, "tick_minutes is 50; allowed is one of 1,"),
        ({"buckets": 3}, "buckets is 3; allowed is one of 1, 2, 4"),
        ({"buckets": 8192}, "buckets is 8192"),
        ({"success_mail": "weekly"}, "success_mail is 'weekly'; allowed is one of every_run, daily, never"),
        ({"success_mail": True}, "success_mail is True"),
        ({"name": "ab"}, "name is 'ab'; allowed is a DynamoDB table name"),
        ({"name": "a" * 256}, "name is 'aaa"),
        ({"name": "or ders"}, "name is 'or ders'"),
        ({"name": "orders\n"}, "name is "),
        ({"name": 7}, "name is 7"),
        ({"iceberg_table": "Orders"}, "iceberg_table is 'Orders'; allowed is 1-255 of a-z, 0-9 and _"),
        ({"iceberg_table": ""}, "iceberg_table is ''"),
        ({"windowminutes": 60}, "unknown setting 'windowminutes'; allowed are buckets"),
        ({"mail": []}, r"mail is \[\]; allowed is an object"),
        ({"mail": {"sucess": []}}, "unknown setting 'sucess'; allowed are failure, success"),
        ({"mail": {"success": "a@example.com"}}, "mail.success is 'a@example.com'; allowed is a list"),
        ({"mail": {"failure": ["nobody"]}}, "mail.failure is 'nobody'; allowed is mail addresses"),
        ({"mail": {"failure": [7]}}, "mail.failure is 7"),
        ({"mail": {"failure": [f"somebody-{n}@example.com" for n in range(200)]}}, "allowed is 4096; shorten its mail"),
    ],
)
def test_a_wrong_setting_of_a_table_is_refused_by_name_with_what_is_allowed(table, told):
    with pytest.raises(SettingRefused, match=told):
        parsed(**table)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (None, "tidemark is None; allowed is an object"),
        ([], r"tidemark is \[\]"),
        ({}, "tables is None; allowed is a list with at least one table"),
        ({"tables": []}, r"tables is \[\]"),
        ({"tables": {"orders": {}}}, "tables is "),
        ({"tables": ["orders"]}, r"tables\[0\] is 'orders'; allowed is an object with a name"),
        ({"tables": [{}]}, r"tables\[0\].name is ''"),
        ({"tables": [ORDERS], "tabels": []}, "unknown setting 'tabels'"),
        ({"tables": [ORDERS], "defaults": 5}, "defaults is 5"),
        ({"tables": [ORDERS], "defaults": {"name": "x"}}, "defaults has the unknown setting 'name'"),
        ({"tables": [{**ORDERS, "buckets": 2}], "defaults": {"buckets": 3}}, "defaults.buckets is 3"),
        ({"tables": [{**ORDERS, "buckets": 3}], "defaults": {"buckets": 2}}, r"tables\[0\].buckets is 3"),
        ({"tables": [ORDERS, ORDERS]}, "name 'orders' more than once"),
        ({"tables": [ORDERS, {"name": "ORDERS"}]}, "iceberg_table 'orders' more than once"),
        ({"tables": [ORDERS], "stack_name": "1st"}, "stack_name is '1st'"),
        ({"tables": [ORDERS], "stack_name": "s" * 61}, "stack_name is 'sss"),
        ({"tables": [ORDERS], "database": "Lake"}, "database is 'Lake'"),
        ({"tables": [ORDERS], "database": "d" * 253}, "allowed is 1-252 of a-z, 0-9 and _"),
        ({"tables": [ORDERS], "export_days": 7}, "export_days is 7; allowed is a whole number from 8 to 3650"),
        ({"tables": [ORDERS], "log_days": 8}, "log_days is 8; allowed is one of 7, 14"),
        ({"tables": [ORDERS], "spark": {"worker_vcpus": 3}}, "spark.worker_vcpus is 3; allowed is one of 1, 2, 4"),
        ({"tables": [ORDERS], "spark": {"worker_memory_gb": 31}}, "spark.worker_memory_gb is 31"),
        ({"tables": [ORDERS], "spark": {"worker_vcpus": 1, "worker_memory_gb": 16}}, "spark.worker_memory_gb is 16"),
        ({"tables": [ORDERS], "spark": {"worker_vcpus": 8, "worker_memory_gb": 30}}, "spark.worker_memory_gb is 30"),
        (
            {"tables": [ORDERS], "spark": {"worker_disk_gb": 19}},
            "spark.worker_disk_gb is 19; allowed is a whole number from 20",
        ),
        ({"tables": [ORDERS], "spark": {"max_executors": 0}}, "spark.max_executors is 0"),
        ({"tables": [ORDERS], "spark": {"workers": 0}}, "spark has the unknown setting 'workers'"),
        ({"tables": [ORDERS], "spark": []}, r"spark is \[\]"),
    ],
)
def test_a_wrong_setting_is_refused_by_name_with_what_is_allowed(raw, told):
    with pytest.raises(SettingRefused, match=told):
        Settings.parse(raw)


addresses = st.lists(st.from_regex(r"[a-z]{1,9}@[a-z]{1,9}\.com", fullmatch=True), max_size=5).map(tuple)
tables = st.builds(
    TableSettings,
    name=st.from_regex(r"[A-Za-z0-9_.-]{3,255}", fullmatch=True),
    iceberg_table=st.from_regex(r"[a-z0-9_]{1,255}", fullmatch=True),
    window_minutes=st.one_of(
        st.integers(15, 1440),
        st.tuples(st.integers(15, 60), st.integers(1, 24)).map(
            lambda found: WindowBounds(found[0], found[0] * found[1])
        ),
    ),
    tick_minutes=st.sampled_from(TICKS),
    buckets=st.sampled_from([2**n for n in range(13)]),
    mail=st.builds(MailLists, success=addresses, failure=addresses),
    success_mail=st.sampled_from(["every_run", "daily", "never"]),
    on_lost_history=st.sampled_from(["halt", "rebuild"]),
    hash_secret=st.from_regex(r"[A-Za-z0-9/_+=.@-]{0,512}", fullmatch=True),
    compare_old_images=st.booleans(),
    maintain_days=st.integers(0, 365),
    snapshot_days=st.integers(3, 3650),
)


@given(tables)
def test_a_table_goes_through_its_parameter_unchanged(table):
    assert TableSettings.from_json(table.to_json(), table.columns) == table
    assert len(table.to_json()) <= 4096


def test_a_parameter_that_somebody_has_edited_is_refused_like_a_setting():
    edited = json.loads(TableSettings("orders", "orders").to_json()) | {"window_minutes": 5}
    with pytest.raises(SettingRefused, match=r"the settings parameter\.window_minutes is 5"):
        TableSettings.from_json(json.dumps(edited), NO_OVERRIDES)


def test_the_project_as_it_is_cloned_can_be_synthesised():
    context = json.loads((Path(__file__).parents[2] / "cdk.json").read_text())["context"]["tidemark"]
    assert Settings.parse(context).default_table == "orders"


def test_dynamodb_s_rule_for_names():
    assert is_table_name("a.b-c_D9")
    assert not any(map(is_table_name, ["", "ab", "a" * 256, "a b c", "orders\n", "ördrar"]))


def test_what_is_said_of_columns_belongs_to_the_table_and_reads_back():
    said = {"columns": {"email": {"hash": True}, "total": "N"}, "hash_secret": "shop/pii", "compare_old_images": True}
    (table,) = Settings.parse({"tables": [{**ORDERS, **said}]}).tables
    assert "columns" not in json.loads(table.to_json())
    assert TableSettings.from_json(table.to_json(), table.columns) == table
    assert (table.columns.hashes, table.compare_old_images) == (True, True)


def test_the_types_of_1500_attributes_are_no_burden_to_the_parameter():
    table = parsed(columns={f"attribute {n}": "S" for n in range(1_500)})
    assert len(table.columns.rules) == 1_500
    assert len(table.to_json()) == len(parsed().to_json())


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"tables": [{**ORDERS, "columns": {"a": {"hash": True}}}]}, "tables[0].hash_secret is ''"),
        ({"tables": [{**ORDERS, "columns": {"a": "X"}}]}, "tables[0].columns['a'].type is 'X'"),
        ({"tables": [{**ORDERS, "hash_secret": "a b"}]}, "tables[0].hash_secret is 'a b'"),
        ({"tables": [{**ORDERS, "iceberg_table": "tidemark_runs"}]}, "tables[0].iceberg_table is 'tidemark_runs'"),
        ({"tables": [{**ORDERS, "compare_old_images": "yes"}]}, "tables[0].compare_old_images is 'yes'"),
        ({"tables": [ORDERS], "defaults": {"columns": {}}}, "unknown setting 'columns'"),
        ({"tables": [{**ORDERS, "maintain_days": 366}]}, "tables[0].maintain_days is 366"),
        ({"tables": [{**ORDERS, "snapshot_days": 2}]}, "tables[0].snapshot_days is 2"),
    ],
)
def test_what_cannot_be_said_of_columns_is_refused(raw, words):
    with pytest.raises(SettingRefused) as refused:
        Settings.parse(raw)
    assert words in refused.value.message
