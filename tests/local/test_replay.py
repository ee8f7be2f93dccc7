"""``python -m local replay``: exports from a folder into a table on disk, read back with PyIceberg."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from local.aws.pitr.offline import Delete, FullExport, IncrementalExport, Put, journal_of, write_exports
from local.reader import compare, read_folder, rows
from pipeline.exports.windows import ExportWindow
from pipeline.identity import KeyAttribute, SourceTable
from tests.local_command import Run, run_local
from tests.sources import ROOT

pytestmark = pytest.mark.spark

SOURCE = SourceTable(
    "arn:aws:dynamodb:eu-west-1:111122223333:table/orders",
    "0b9ff8a2-0000-4000-8000-000000000001",
    (KeyAttribute("customer", "S"), KeyAttribute("order", "N")),
)
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


def minutes(count: int) -> datetime:
    return NOON + timedelta(minutes=count)


def order(number: str, **attributes):
    return {"customer": {"S": "c1"}, "order": {"N": number}, **attributes}


def window(start: int, end: int) -> IncrementalExport:
    return IncrementalExport(ExportWindow(minutes(start), minutes(end)))


WRITES = [
    Put(minutes(1), order("1", total={"N": "12.50"}, note={"S": "first"})),
    Put(minutes(2), order("2", total={"N": "7"}, tags={"SS": ["b", "a"]})),
    Put(minutes(3), order("3")),
    Put(minutes(20), order("1", total={"N": "13"})),
    Delete(minutes(21), {"customer": {"S": "c1"}, "order": {"N": "2"}}),
    Put(minutes(40), order("4", total={"N": "0.001"}, gift={"M": {"wrap": {"BOOL": True}}})),
    Delete(minutes(41), {"customer": {"S": "c1"}, "order": {"N": "3"}}),
]
AT_THE_END = [
    order("1", total={"N": "13"}),
    order("4", total={"N": "0.001"}, gift={"M": {"wrap": {"BOOL": True}}}),
]


@pytest.fixture
def journal():
    return journal_of(SOURCE, enabled_at=NOON, writes=WRITES)


def replay(run: Run, exports: Path, warehouse: Path, *options: str, key: tuple[str, ...] = ("customer:S", "order:N")):
    arguments = [str(exports), "--table", "shop.orders", "--warehouse", str(warehouse), *options]
    for part in key:
        arguments += ["--key", part]
    return run("replay", *arguments)


def maintain(run: Run, warehouse: Path, *options: str):
    return run("maintain", "--table", "shop.orders", "--warehouse", str(warehouse), *options)


def differences(warehouse: Path, items):
    return [str(d) for d in compare(items, read_folder(warehouse / "shop" / "orders"), ("customer", "order"))]


def key_in_schema(warehouse: Path) -> set[tuple[str, bool]]:
    """The columns that identify a row by the table's own schema, and whether they are required."""
    schema = read_folder(warehouse / "shop" / "orders").schema()
    return {(field.name, field.required) for field in map(schema.find_field, schema.identifier_field_ids)}


def test_a_folder_of_exports_becomes_the_table_and_replaying_it_again_changes_nothing(
    tmp_path, journal, verbs, monkeypatch
):
    # To Spark a path is a pattern: by this one, files of the other folder, or of none. And a name may be of two lines.
    exports, warehouse = tmp_path / "a bucket [2]{6,7}\\*?\nof José", tmp_path / "a wärehouse"
    # By it Java takes all names of files for ASCII.
    monkeypatch.setenv("LC_ALL", "C")
    write_exports(tmp_path / "a bucket 26", SOURCE, journal, [FullExport(minutes(10))], prefix="other")
    write_exports(
        exports,
        SOURCE,
        journal,
        [window(30, 50), FullExport(minutes(10)), window(10, 30)],
        prefix="env=test/orders of shop #1",
    )

    first = replay(run_local, exports, warehouse, "--compare-old-images")
    # Java tells of what the tests say to it.
    assert (first.returncode, [line for line in first.stderr.splitlines() if not line.startswith("NOTE: ")]) == (0, [])
    assert differences(warehouse, AT_THE_END) == []
    assert "Old images equal to the table's row: 3." in first.stdout
    new = '  gift: struct, 1 value, such as that of {"customer":"c1","order":4}'
    removed = '  /note: 1 item, such as that of {"customer":"c1","order":1}'
    told = ["New columns:", new, "Attributes that items no longer have:", removed]
    assert first.stdout.splitlines()[-4:] == told

    before = sorted(file.name for file in (warehouse / "shop" / "orders" / "metadata").iterdir())
    again = replay(verbs, exports, warehouse)
    assert (again.returncode, "nothing new" in again.stdout) == (0, True), again.stderr
    assert sorted(file.name for file in (warehouse / "shop" / "orders" / "metadata").iterdir()) == before

    left = warehouse / "shop" / "orders" / "data" / "left by a job that died.parquet"
    left.write_bytes(b"some of its rows")
    os.utime(left, (0, 0))
    maintained = maintain(verbs, warehouse, "--snapshot-days", "3")
    assert maintained.returncode == 0, maintained.stderr
    assert "Orphan files, of jobs that died: 1." in maintained.stdout
    assert f"\nReport: {warehouse / '.reports' / 'shop' / 'orders' / 'maintain-'}" in maintained.stdout
    assert not left.exists()
    assert differences(warehouse, AT_THE_END) == []
    assert key_in_schema(warehouse) == {("customer", True), ("order", True)}


def test_a_gap_is_refused_with_the_table_as_it_was_and_once_it_is_filled_only_what_is_new_is_applied(
    tmp_path, journal, verbs
):
    exports, warehouse = tmp_path / "bucket", tmp_path / "warehouse"
    write_exports(exports, SOURCE, journal, [FullExport(minutes(10))])
    assert replay(verbs, exports, warehouse).returncode == 0
    assert len(rows(read_folder(warehouse / "shop" / "orders"))) == 3
    before = sorted(str(file) for file in (warehouse / "shop").rglob("*"))
    write_exports(exports, SOURCE, journal, [window(30, 50)])

    wrong = replay(verbs, exports, warehouse, key=("customer:S",))
    assert (wrong.returncode, wrong.stderr.startswith("KeyMismatch: ")) == (1, True)
    assert "To do: Check --key: every attribute" in wrong.stderr

    refused = replay(verbs, exports, warehouse)

    assert refused.returncode == 1
    assert refused.stderr.startswith("Gap: ")
    assert "\nTo do: Put the export of the missing stretch into the folder." in refused.stderr
    assert sorted(str(file) for file in (warehouse / "shop").rglob("*")) == before

    write_exports(exports, SOURCE, journal, [window(10, 30)])
    later = replay(verbs, exports, warehouse)

    assert later.returncode == 0, later.stderr
    assert "load" not in later.stdout
    assert differences(warehouse, AT_THE_END) == []


def test_what_was_applied_before_a_refusal_is_printed_and_stays(tmp_path, journal, verbs):
    exports, warehouse = tmp_path / "bucket", tmp_path / "warehouse"
    _, damaged = write_exports(exports, SOURCE, journal, [FullExport(minutes(10)), window(10, 30)])
    for file in damaged.summary.parent.parent.joinpath("data").glob("*.json.gz"):
        file.write_bytes(file.read_bytes()[:-1])
    refused = replay(verbs, exports, warehouse)
    assert refused.returncode == 1
    assert refused.stdout.startswith(
        "load: committed, the table is at 2026-11-01T12:10:00Z.\nRead 3 items, wrote 3 rows.\n"
    )
    assert "ChecksumMismatch: " in refused.stderr
    assert "\nTo do: Mirror the export bucket into the folder again" in refused.stderr
    (report,) = re.findall("^Report: (.*)$", refused.stderr, flags=re.MULTILINE)
    assert json.loads(Path(report).read_text())["error"] == "ChecksumMismatch"
    assert len(rows(read_folder(warehouse / "shop" / "orders"))) == 3


def test_ctrl_c_between_two_commits_ends_it_without_a_page_of_python_s_and_the_next_replay_goes_on(
    tmp_path, journal, verbs
):
    exports, warehouse = tmp_path / "bucket", tmp_path / "warehouse"
    write_exports(exports, SOURCE, journal, [FullExport(minutes(10)), window(10, 50)])
    asked = ["--table", "shop.orders", "--warehouse", str(warehouse), "--key", "customer:S", "--key", "order:N"]
    command = [sys.executable, "-m", "local", "replay", str(exports), *asked]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline().startswith("load: committed")
    process.send_signal(signal.SIGINT)
    # Java may tell which of its tasks that has ended.
    assert "Traceback" not in process.communicate(timeout=60)[1]
    assert process.returncode == -signal.SIGINT

    again = replay(verbs, exports, warehouse)
    assert again.returncode == 0, again.stderr
    assert differences(warehouse, AT_THE_END) == []


def test_a_table_that_is_not_there_is_not_maintained(tmp_path, verbs):
    refused = maintain(verbs, tmp_path)
    assert (refused.returncode, "To do: Make it by a replay first." in refused.stderr) == (1, True)


def test_a_file_that_says_a_column_twice_is_refused(tmp_path, verbs):
    (tmp_path / "columns.json").write_text('{"email": {"hash": true}, "email": "S"}')
    refused = replay(verbs, tmp_path, tmp_path / "warehouse", "--columns", str(tmp_path / "columns.json"))
    assert (refused.returncode, "it says 'email' more than once" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere", "--table", "shop.orders", "--key", "pk:S", "--warehouse", "w"], "'nowhere' is not a folder"),
        ([".", "--table", "orders", "--key", "pk:S", "--warehouse", "w"], "NAMESPACE.NAME"),
        ([".", "--table", "shop.orders", "--key", "pk:X", "--warehouse", "w"], "S, N, B"),
        ([".", "--table", "shop.orders", "--key", "pk", "--warehouse", "w"], "its name is '', its type 'pk'"),
    ],
)
def test_wrong_usage_is_refused_by_name(arguments, says):
    refused = run_local("replay", *arguments, timeout=60)
    assert refused.returncode == 2
    assert says in refused.stderr
