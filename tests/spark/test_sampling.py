"""Which items decide the types of a first load."""

from __future__ import annotations

import gzip

import pytest

from pipeline.columns.profile import Observed
from pipeline.exports.manifests import ExportManifest
from spark import files
from spark.exports.reading import read_exports
from spark.loading.sampling import LEAST_ITEMS, MOST_BYTES, MOST_ITEMS, often_null, sample_size, sampled_lines
from tests.spark.sample_items import N_KEY, S, item

MIB = 1_048_576


@pytest.mark.parametrize(
    ("items", "billed_bytes", "size"),
    [
        (0, 0, 0),
        (10, 3_000, 10),
        (10, 10 * MIB, 10),
        (MOST_ITEMS, MOST_ITEMS * 700, MOST_ITEMS),
        (MOST_ITEMS + 1, MOST_ITEMS * 700, MOST_ITEMS),
        (1_000_000, 700_000_000, MOST_ITEMS),
        (1_000_000, 0, MOST_ITEMS),
        (MOST_ITEMS, MOST_ITEMS * 40_000, MOST_BYTES // 40_000),
        (MOST_ITEMS, MOST_ITEMS * 400_000, LEAST_ITEMS),
        (LEAST_ITEMS, LEAST_ITEMS * 400_000, LEAST_ITEMS),
    ],
)
def test_a_sample_is_bounded_in_items_and_in_bytes(items, billed_bytes, size):
    export = ExportManifest("arn", "arn", "id", "bucket", items, billed_bytes, None, None, "files")
    assert sample_size(export) == size


def test_often_null_are_attributes_and_nothing_inside_them_each_once_and_not_too_many():
    export = ExportManifest("arn", "arn", "id", "bucket", 80, 0, None, None, "files")
    seen = [Observed((".text",), "S", 80), Observed((".often",), "NULL", 10), Observed((".rare",), "NULL", 9)]
    # Its NULL would be counted for each of the two, and hide a value that did not go to any cell.
    seen += [Observed((".map", f".{name}"), "NULL", 80) for name in "xy"]
    assert often_null(export, seen) == ["often"]
    assert len(often_null(export, [Observed((f".n{i}",), "NULL", 80) for i in range(30)])) == 20


@pytest.mark.spark
@pytest.mark.parametrize(("most", "size"), [(1_000, 40), (40, 40), (7, 7), (0, 0)])
def test_so_many_lines_are_read_of_few_files(spark, shop, monkeypatch, most, size):
    source = shop()
    source.put(1, *(item(f"k{i}") for i in range(40)))
    (export,) = read_exports(spark, source.full(5, partitions=60))
    read, first_lines = [], files.first_lines
    monkeypatch.setattr(
        files, "first_lines", lambda spark, uri, most: read.append(uri) or first_lines(spark, uri, most)
    )
    monkeypatch.setattr("spark.loading.sampling.MOST_ITEMS", most)
    found = sampled_lines(spark, export)
    assert len(found) == len(set(found)) == size
    assert all(line.startswith(b'{"Item":{') and line.endswith(b"}") for line in found)
    needed, held = 0, 0
    for file in export.manifest.files:
        needed, held = needed + (held < size and file.item_count > 0), held + file.item_count
    assert len(read) == needed
    assert 1 < len(export.files_with_records) < len(export.manifest.files)


@pytest.mark.spark
@pytest.mark.parametrize("name", ["packed.json.gz", "plain.json"])
def test_the_first_lines_of_a_file(spark, tmp_path, name):
    content = [f"line {i}: ".encode() + b"x" * 30_000 for i in range(100)]
    halves = [b"".join(line + b"\n" for line in half) for half in (content[:50], content[50:])]
    # A file may be packed in several pieces, one after the other.
    packed = [gzip.compress(half) if name.endswith(".gz") else half for half in halves]
    file = tmp_path / name
    file.write_bytes(b"".join(packed))
    for most in (0, 1, 49, 51, 100, 1_000):
        assert files.first_lines(spark, file.as_uri(), most) == content[:most]


@pytest.mark.spark
def test_a_last_line_may_end_with_the_file(spark, tmp_path):
    file = tmp_path / "plain.json"
    file.write_bytes(b"a\nb")
    assert files.first_lines(spark, file.as_uri(), 5) == [b"a", b"b"]


@pytest.mark.spark
def test_a_key_of_which_the_sample_had_only_integers_gets_room_for_decimals_by_a_second_pass(shop, monkeypatch):
    monkeypatch.setattr("spark.loading.sampling.MOST_ITEMS", 1)
    source = shop(key=N_KEY)
    source.put(1, *({"pk": S, "sk": {"N": number}} for number in ("1", "2", "3.25")))
    assert source.load(5)["passes"] == 2
    assert source.differences(5) == []


@pytest.mark.spark
def test_fields_in_the_maps_of_a_list_that_the_sample_did_not_have_come_by_a_second_pass(shop, monkeypatch):
    monkeypatch.setattr("spark.loading.sampling.MOST_ITEMS", 1)
    source = shop()
    source.put(1, *(item(f"k{n}", l={"L": [{"M": {f"x{n}": S}}]}) for n in range(3)))
    report = source.load(5)
    assert (report["passes"], report["counts"]["misfits"]) == (2, 0)
    assert source.differences(5) == []
