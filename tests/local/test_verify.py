"""``python -m local verify``: the full export at the table's watermark against the table on disk."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from local.aws.pitr.offline import FullExport, IncrementalExport, Put, journal_of, write_exports
from pipeline.exports.windows import ExportWindow
from pipeline.identity import KeyAttribute, SourceTable
from tests.local_command import Run

pytestmark = pytest.mark.spark

SOURCE = SourceTable(
    "arn:aws:dynamodb:eu-west-1:111122223333:table/orders",
    "0b9ff8a2-0000-4000-8000-000000000001",
    (KeyAttribute("customer", "S"),),
)
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


def minutes(count: int) -> datetime:
    return NOON + timedelta(minutes=count)


def journal(*totals: str, source: SourceTable = SOURCE):
    writes = [Put(minutes(20 + n), {"customer": {"S": f"c{n}"}, "total": {"N": t}}) for n, t in enumerate(totals)]
    return journal_of(source, enabled_at=NOON, writes=[Put(minutes(1), {"customer": {"S": "c0"}}), *writes])


@pytest.fixture
def local(verbs: Run):
    def run(verb: str, exports: Path, warehouse: Path, *options: str):
        arguments = [str(exports), "--table", "shop.orders", "--warehouse", str(warehouse), "--key", "customer:S"]
        return verbs(verb, *arguments, *options)

    return run


def report_told(stdout: str) -> dict[str, object]:
    """The last report that a verb has told of."""
    return json.loads(Path(re.findall("^Report: (.*)$", stdout, flags=re.MULTILINE)[-1]).read_text())


def test_a_table_is_compared_with_the_full_export_at_its_watermark_and_a_difference_ends_with_one(tmp_path, local):
    exports, warehouse, others = tmp_path / "bucket", tmp_path / "warehouse", tmp_path / "others"
    window = IncrementalExport(ExportWindow(minutes(10), minutes(30)))
    write_exports(exports, SOURCE, journal("7", "8"), [FullExport(minutes(10)), window])
    nothing = local("verify", exports, warehouse)
    assert (nothing.returncode, "To do: Make it by a replay first." in nothing.stderr) == (1, True)
    assert local("replay", exports, warehouse).returncode == 0

    none = local("verify", exports, warehouse)
    told = "watermark 2026-11-01T12:30:00Z; there are full exports at: 2026-11-01T12:10:00Z" in none.stderr
    assert (none.returncode, told) == (1, True)

    write_exports(exports, SOURCE, journal("7", "8"), [FullExport(minutes(30))])
    equal = local("verify", exports, warehouse)
    assert equal.returncode == 0, equal.stderr
    assert "0 differences at 2026-11-01T12:30:00Z. Compared 2 items with 2 rows: 2 equal" in equal.stdout
    assert report_told(equal.stdout)["counts"]["equal"] == 2

    write_exports(others, SOURCE, journal("7", "9", "1"), [FullExport(minutes(30))])
    different = local("verify", others, warehouse)
    assert different.returncode == 1
    assert "VerificationFailed: 2 differences at 2026-11-01T12:30:00Z." in different.stderr
    assert '{"customer":"c1"} different: /total' in different.stderr
    (place,) = re.findall("with both values, in (.*); then", different.stderr)
    shown = {found["key"]: found["values"] for found in json.loads(Path(place).read_text())["differences"]}
    assert shown['{"customer":"c1"}'] == [{"path": "/total", "source": '{"N":"9"}', "table": "8"}]

    # What the remedy says, done: without it there is nothing new.
    assert "nothing new" in local("replay", others, warehouse).stdout
    (folder,) = re.findall("then remove the table's folder (.*), and replay again: ", different.stderr)
    shutil.rmtree(folder)
    assert local("replay", others, warehouse).returncode == 0
    anew = local("verify", others, warehouse)
    assert (anew.returncode, "Compared 3 items with 3 rows: 3 equal" in anew.stdout) == (0, True), anew.stderr


def test_of_a_folder_with_exports_of_several_tables_replay_and_verify_look_at_those_of_the_table_s_own_source(
    tmp_path, local
):
    exports, warehouse, foreign = tmp_path / "bucket", tmp_path / "warehouse", tmp_path / "others"
    customers = SourceTable(SOURCE.arn.replace("orders", "customers"), "id-2", SOURCE.key)
    anew = replace(SOURCE, id="0b9ff8a2-0000-4000-8000-000000000003")
    # Of its own source one full export, at the instant of one of another's; others reach further.
    for source, ends in ((SOURCE, [30]), (customers, [5, 30, 40]), (anew, [50])):
        written = journal("7", "8", source=source)
        write_exports(exports, source, written, [FullExport(minutes(end)) for end in ends])
        if source is not SOURCE:
            write_exports(foreign, source, written, [FullExport(minutes(end)) for end in ends])

    open_which = local("replay", exports, warehouse)
    assert (open_which.returncode, open_which.stderr.startswith("OtherTable: ")) == (1, True), open_which.stderr
    assert f"  {customers.arn} (table id id-2): 3 exports, up to 2026-11-01T12:40:00Z\n" in open_which.stderr
    assert "one that was created anew has the same ARN and another table id:" in open_which.stderr
    assert not warehouse.exists()

    named = local("replay", exports, warehouse, "--source", SOURCE.id)
    assert named.returncode == 0, named.stderr
    assert f"Left alone, for the table follows {SOURCE.arn} (table id {SOURCE.id}):" in named.stdout
    assert "load: committed, the table is at 2026-11-01T12:30:00Z.\nRead 2 items, wrote 2 rows.\n" in named.stdout
    assert report_told(named.stdout)["outcome"] == "committed"

    again = local("replay", exports, warehouse)
    assert (again.returncode, "nothing new" in again.stdout) == (0, True), again.stderr
    equal = local("verify", exports, warehouse, "--source", SOURCE.arn)
    assert (equal.returncode, "Compared 2 items with 2 rows: 2 equal" in equal.stdout) == (0, True), equal.stderr

    for verb in ("replay", "verify"):
        refused = local(verb, foreign, warehouse)
        assert (refused.returncode, refused.stderr.startswith("OtherTableId: ")) == (1, True), refused.stderr
        other = local(verb, exports, warehouse, "--source", customers.arn)
        assert (other.returncode, "To do: Leave --source out" in other.stderr) == (1, True), other.stderr
