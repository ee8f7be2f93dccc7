"""Exports without a server: read back by the product's own manifest reader, and by nothing but JSON."""

import gzip
import json
from datetime import UTC, datetime, timedelta

import pytest

from local.aws.pitr.offline import Delete, FullExport, IncrementalExport, Put, journal_of, write_exports
from local.found_exports import find_exports
from pipeline.exports.manifests import check_totals, parse_files, parse_summary, verify_md5
from pipeline.exports.windows import ExportWindow
from pipeline.identity import KeyAttribute, SourceTable

NOON = datetime(2026, 1, 14, 12, tzinfo=UTC)
TABLE = SourceTable(
    "arn:aws:dynamodb:us-east-1:000000000000:table/orders",
    "0b9f2a46-0000-4000-8000-000000000000",
    (KeyAttribute("pk", "S"), KeyAttribute("sk", "N")),
)


def minute(number):
    return NOON + timedelta(minutes=number)


def item(pk, total="1"):
    return {"pk": {"S": pk}, "sk": {"N": "1.0"}, "total": {"N": total}}


def key(pk):
    return {"pk": {"S": pk}, "sk": {"N": "1"}}


def window(start, end):
    return IncrementalExport(ExportWindow(minute(start), minute(end)))


WRITES = [
    Put(minute(1), item("a", "1e2")),
    Put(minute(2), item("b")),
    Put(minute(10), item("b", "2.50")),
    Put(minute(12), item("c")),
    Delete(minute(14), key("c")),
    Delete(minute(30), key("a")),
]


def records(folder, export):
    summary = parse_summary("summary", export.summary.read_bytes())
    files = parse_files("files", (folder / summary.files_key).read_bytes())
    lines = [line for file in files for line in gzip.decompress((folder / file.key).read_bytes()).splitlines()]
    return [json.loads(line) for line in lines]


def test_a_full_export_and_the_windows_behind_it(tmp_path):
    journal = journal_of(TABLE, enabled_at=NOON, writes=WRITES)
    full, first, second = write_exports(
        tmp_path, TABLE, journal, [FullExport(minute(5)), window(5, 20), window(20, 35)], prefix="exports/orders"
    )
    items = [record["Item"] for record in records(tmp_path, full)]
    assert sorted(i["pk"]["S"] + i["sk"]["N"] + "=" + i["total"]["N"] for i in items) == ["a1=100", "b1=1"]
    (changed,) = records(tmp_path, first)
    assert (changed["OldImage"]["total"], changed["NewImage"]["total"]) == ({"N": "1"}, {"N": "2.5"})
    (deleted,) = records(tmp_path, second)
    assert deleted["Keys"] == key("a")
    assert "NewImage" not in deleted
    assert (full.item_count, first.item_count, second.item_count) == (2, 1, 1)


def test_overlapping_windows_set_the_ghost_row_trap(tmp_path):
    journal = journal_of(
        TABLE, enabled_at=NOON, writes=[Put(minute(17), item("ghost")), Delete(minute(25), key("ghost"))]
    )
    first, second = write_exports(tmp_path, TABLE, journal, [window(0, 20), window(15, 35)])
    assert [record["Keys"] for record in records(tmp_path, first)] == [key("ghost")]
    assert records(tmp_path, second) == []


def test_what_is_written_passes_the_checks_of_the_product(tmp_path):
    journal = journal_of(TABLE, enabled_at=NOON, writes=WRITES)
    for export in write_exports(tmp_path, TABLE, journal, [FullExport(minute(5)), window(5, 20)], prefix="p/"):
        content = export.summary.read_bytes()
        verify_md5("summary", content, export.summary.with_suffix(".md5").read_text())
        manifest = parse_summary("summary", content)
        listed = (tmp_path / manifest.files_key).read_bytes()
        verify_md5("files", listed, (tmp_path / manifest.files_key).with_suffix(".md5").read_text())
        check_totals(manifest.with_files(parse_files("files", listed)))
        assert (manifest.export_arn, manifest.source_id) == (export.arn, TABLE.id)
    assert len(find_exports(tmp_path).complete) == 2


def test_the_same_arguments_give_the_same_files(tmp_path):
    journal = journal_of(TABLE, enabled_at=NOON, writes=WRITES)
    trees = []
    for name in ("one", "two"):
        write_exports(tmp_path / name, TABLE, journal, [FullExport(minute(5)), window(5, 20)])
        files = (tmp_path / name).rglob("*.*")
        trees.append({str(file.relative_to(tmp_path / name)): file.read_bytes() for file in files if file.is_file()})
    assert trees[0] == trees[1]
    assert len(trees[0]) == 2 * 4 + 2 * 4


def test_a_value_that_dynamodb_does_not_take_is_refused():
    with pytest.raises(ValueError, match="names one type"):
        journal_of(TABLE, enabled_at=NOON, writes=[Put(NOON, {**key("a"), "x": {"S": "a", "N": "1"}})])
