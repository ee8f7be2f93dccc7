"""What is refused before it is committed: lost rows, work that is not in the table, files that are not the export's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.errors import ITEM_WITHOUT_KEY, CountMismatch, KeyMismatch, ManifestUnreadable, WatermarkNotCommitted
from spark import files, job
from spark.exports.reading import read_exports
from spark.loading import load, passes
from spark.report import Committed
from spark.rows.table_rows import unpacked
from tests.spark.sample_items import N_KEY, S
from tests.spark.shop import with_changes
from tests.spark.tampering import count_wrong, listed, relist, resum, rewrite, summaries

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def source(shop):
    return with_changes(shop())


def test_a_load_that_lost_a_row_while_it_wrote_is_not_published(source, monkeypatch):
    write, order = passes._write, source.full(30)
    monkeypatch.setattr(passes, "_write", lambda *of: write(*of[:-1], of[-1].where("pk <> 'b'")))
    before = (source.rows(), source.state)
    with pytest.raises(CountMismatch, match="read: 3 items, written: 2 rows"):
        source.run(order)
    assert (source.rows(), source.state) == before
    assert set(source.metadata["refs"]) == {"main"}
    assert source.report(order)["error"] == "CountMismatch"


@pytest.fixture(scope="module")
def of_another_key(shop):
    """A table whose key is to get another type, which takes a new table."""
    source = shop(key=N_KEY)
    source.put(1, {"pk": S, "sk": {"N": "1"}})
    source.load(5)
    source.put(6, {"pk": S, "sk": {"N": "1.5"}}, {"pk": S, "sk": {"N": "2.5"}})
    return source


def test_a_table_is_not_replaced_by_fewer_rows_than_were_counted(of_another_key, monkeypatch):
    source, before = of_another_key, of_another_key.metadata
    monkeypatch.setattr(load, "unpacked", lambda rows, columns: unpacked(rows, columns).where("sk <> 1.5"))
    with pytest.raises(CountMismatch, match="read: 3 items, written: 2 rows"):
        source.load(15)
    assert source.metadata == before


@pytest.mark.parametrize(
    ("key", "other", "said"),
    [
        pytest.param('"2.5"', '"none"', "with a key that is no number", id="no number"),
        pytest.param('"sk":{"N":"2.5"}', '"tk":{"N":"2.5"}', r"without the key .*, line \d", id="a part of it"),
    ],
)
def test_a_table_is_not_replaced_by_items_of_which_one_has_no_key(of_another_key, key, other, said):
    source, before = of_another_key, of_another_key.metadata
    order = source.full(15)
    rewrite(source, order, lambda lines: [line.replace(key, other) for line in lines])
    with pytest.raises(KeyMismatch, match=f"1 item of .* {said}") as refused:
        source.run(order)
    assert refused.value.remedy == ITEM_WITHOUT_KEY
    assert source.metadata == before


@pytest.mark.parametrize("kind", ["merge", "load"])
def test_work_that_did_not_come_into_the_table_is_no_success(source, monkeypatch, kind):
    # The load is of the instant that the table is at already: its watermark alone does not tell.
    order = source.windows(5, 25) if kind == "merge" else source.full(5)
    monkeypatch.setitem(job._WORK, kind, lambda *_: Committed(counts={}))
    before = source.metadata
    with pytest.raises(WatermarkNotCommitted, match=f"after {order.job_id} committed"):
        source.run(order)
    assert source.metadata == before
    assert source.report(order)["error"] == "WatermarkNotCommitted"


@pytest.mark.parametrize("kind", ["merge", "load"])
def test_a_file_that_is_said_to_hold_nothing_is_read_all_the_same(source, kind):
    order = source.windows(5, 25) if kind == "merge" else source.full(5)
    count_wrong(source, order, by=-99)
    before = (source.rows(), source.state)
    with pytest.raises(CountMismatch, match=r"\.json\.gz holds \d record"):
        source.run(order)
    assert (source.rows(), source.state) == before


def test_a_file_that_two_manifests_name_is_not_applied_twice(source):
    order = source.windows(5, 25, 45)
    first, second = summaries(order)
    files_of_first = listed(source, first)
    relist(source, second, files_of_first)
    resum(second, itemCount=sum(file["itemCount"] for file in files_of_first))
    before = source.metadata
    with pytest.raises(ManifestUnreadable, match="is named by two manifests"):
        source.run(order)
    assert source.metadata == before


def test_an_export_that_lies_in_another_bucket_than_it_was_written_to_is_refused(source, monkeypatch):
    order, folder, read = source.windows(5, 25, bucket="ours"), source.folder.as_uri(), files.read
    before = source.metadata

    def lies_in(bucket):
        """The order, whose small files S3 would have under these URIs."""
        there = f"s3://{bucket}"
        monkeypatch.setattr(files, "read", lambda spark, uri: read(spark, uri.replace(there, folder)))
        return replace(order, exports=tuple(uri.replace(folder, there) for uri in order.exports))

    assert [export.root for export in read_exports(source.spark, lies_in("ours"))] == ["s3://ours/"]
    with pytest.raises(ManifestUnreadable, match="was written to the bucket ours"):
        source.run(lies_in("theirs"))
    assert source.metadata == before
