"""Which exports of a folder are taken, and what is said of one whose manifests are damaged."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from local.aws.pitr.offline import FullExport, IncrementalExport, Put, journal_of, write_exports
from local.found_exports import find_exports, full_export_at
from local.remedies import told
from pipeline.errors import ChecksumMismatch
from pipeline.exports.windows import ExportWindow
from pipeline.identity import KeyAttribute, SourceTable

SOURCE = SourceTable("arn:aws:dynamodb:eu-west-1:111122223333:table/orders", "id-1", (KeyAttribute("pk", "S"),))
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
FULL = FullExport(NOON + timedelta(minutes=10))
WINDOW = IncrementalExport(ExportWindow(FULL.at, FULL.at + timedelta(minutes=20)))
JOURNAL = journal_of(
    SOURCE, enabled_at=NOON, writes=[Put(NOON + timedelta(minutes=n), {"pk": {"S": str(n)}}) for n in (5, 15)]
)


def test_of_exports_of_the_same_stretch_the_newest_is_taken(tmp_path):
    write_exports(tmp_path, SOURCE, JOURNAL, [FULL, WINDOW], prefix="z")
    # Each starts after those before it: these are later, though their folder comes first.
    later = write_exports(tmp_path, SOURCE, JOURNAL, [WINDOW, FULL, WINDOW], prefix="a")[1:]
    found = find_exports(tmp_path)
    assert {export.uri for export in found} == {export.summary.as_uri() for export in later}
    assert full_export_at("2026-11-01T12:10:00Z", found, tmp_path).manifest.export_arn == later[0].arn


@pytest.mark.parametrize("oddities", [(), ("checksum_names",)])
def test_a_damaged_manifest_is_refused_with_the_folder_to_take_away_and_without_it_the_newer_export_is_taken(
    tmp_path, oddities
):
    damaged, newer = write_exports(tmp_path, SOURCE, JOURNAL, [FULL, FULL], oddities=oddities)
    damaged.summary.write_bytes(damaged.summary.read_bytes() + b" ")
    with pytest.raises(ChecksumMismatch) as refused:
        find_exports(tmp_path)
    assert f"take {damaged.summary.parent} out of the folder" in told(refused.value)
    damaged.summary.rename(tmp_path / "taken away")
    assert [export.manifest.export_arn for export in find_exports(tmp_path)] == [newer.arn]
