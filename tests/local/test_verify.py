"""``python -m local verify`` as a person runs it: the full export at the table's watermark against the table on disk."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from local.aws.pitr.offline import FullExport, IncrementalExport, Put, journal_of, write_exports
from pipeline.exports.windows import ExportWindow
from pipeline.identity import KeyAttribute, SourceTable
from tests.local_command import run_local

pytestmark = pytest.mark.spark

SOURCE = SourceTable(
    "arn:aws:dynamodb:eu-west-1:111122223333:table/orders",
    "0b9ff8a2-0000-4000-8000-000000000001",
    (KeyAttribute("customer", "S"),),
)
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


def minutes(count: int) -> datetime:
    return NOON + timedelta(minutes=count)


def journal(*totals: str):
    writes = [Put(minutes(20 + n), {"customer": {"S": f"c{n}"}, "total": {"N": t}}) for n, t in enumerate(totals)]
    return journal_of(SOURCE, enabled_at=NOON, writes=[Put(minutes(1), {"customer": {"S": "c0"}}), *writes])


def local(verb: str, exports: Path, warehouse: Path):
    arguments = [str(exports), "--table", "shop.orders", "--warehouse", str(warehouse), "--key", "customer:S"]
    return run_local(verb, *arguments)


def test_a_table_is_compared_with_the_full_export_at_its_watermark_and_a_difference_ends_with_one(tmp_path):
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

    write_exports(others, SOURCE, journal("7", "9", "1"), [FullExport(minutes(30))])
    different = local("verify", others, warehouse)
    assert different.returncode == 1
    assert "VerificationFailed: 2 differences at 2026-11-01T12:30:00Z." in different.stderr
    assert '{"customer":"c1"} different: /total' in different.stderr
    (place,) = re.findall("with both values, in (.*); then", different.stderr)
    shown = {found["key"]: found["values"] for found in json.loads(Path(place).read_text())["differences"]}
    assert shown['{"customer":"c1"}'] == [{"path": "/total", "source": '{"N":"9"}', "table": "8"}]
