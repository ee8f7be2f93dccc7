"""The benchmark's data is what DynamoDB would write, and the same every time."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from local.bench import exports, wide
from local.bench.exports import WrittenExport, window, write_changes, write_full
from local.bench.orders import KEY, order
from pipeline.exports.manifests import check_totals, parse_files, parse_summary


def lines_of(folder: Path, export: WrittenExport) -> list[dict]:
    """The records of an export, found through its manifests, which are checked."""
    summary = export.summary
    manifest = parse_summary(str(summary), summary.read_bytes())
    listed = parse_files("files", (summary.parent / "manifest-files.json").read_bytes())
    check_totals(manifest.with_files(listed))
    files = [gzip.decompress((folder / file.key).read_bytes()) for file in listed]
    assert sum(map(len, files)) == export.raw_bytes
    return [json.loads(line) for content in files for line in content.decode().splitlines()]


def test_a_full_export_holds_every_order_once(tmp_path, monkeypatch):
    monkeypatch.setattr(exports, "_BYTES_A_FILE", 40 * len(order(0)))
    items = [line["Item"] for line in lines_of(tmp_path, write_full(tmp_path, 100))]
    assert sorted(int(item["order"]["N"]) for item in items) == list(range(100))


def test_changes_insert_update_and_delete_orders_that_are_there(tmp_path):
    changes = lines_of(tmp_path, write_changes(tmp_path, 1000, 0, 100, 1))
    kinds = [("OldImage" in change, "NewImage" in change) for change in changes]
    assert [kinds.count(kind) for kind in ((False, True), (True, True), (True, False))] == [10, 80, 10]
    known = [int(change["Keys"]["order"]["N"]) for change in changes if "OldImage" in change]
    assert len(set(known)) == 90 and max(known) < 1000
    assert all(
        change["Keys"] == {k.name: change["OldImage"][k.name] for k in KEY}
        for change in changes
        if "OldImage" in change
    )


def test_windows_touch_and_change_different_orders(tmp_path):
    first, second = (
        {
            change["Keys"]["order"]["N"]
            for change in lines_of(tmp_path, write_changes(tmp_path, 1000, first, 100, index))
        }
        for index, first in enumerate((0, 100))
    )
    assert window(0).end == window(1).start
    assert first & second == set()


def test_an_order_is_made_of_its_number_and_version_alone():
    assert order(7) == order(7) != order(7, 1)


def test_changes_are_spread_over_the_whole_table(tmp_path):
    changes = lines_of(tmp_path, write_changes(tmp_path, 1000, 0, 100, 0))
    tenths = {int(change["Keys"]["order"]["N"]) // 100 for change in changes if "OldImage" in change}
    assert tenths == set(range(10))


@pytest.mark.parametrize("attributes", [wide.NARROW, wide.WIDE])
def test_a_wide_item_has_its_attributes_besides_its_key(attributes):
    item = json.loads(wide.item(attributes, 3))
    assert len(item) == attributes + len(KEY)
    assert {tag for value in item.values() for tag in value} == {"S", "N"}


def test_all_ten_types_occur():
    text = order(50)
    assert [tag for tag in ("S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "M", "L") if f'"{tag}":' not in text] == []


@pytest.mark.parametrize("number", [0, 1, 50, 999_999])
def test_an_order_is_as_long_as_orders_are(number):
    assert 500 < len(order(number)) < 1000
