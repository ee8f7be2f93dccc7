"""Every record of an export is read once to be parsed, and every file once for its checksum, whatever becomes of them."""

from __future__ import annotations

import pytest

from tests.spark.reads import given_to_readers, records_read, times
from tests.spark.sample_items import N, S, item

pytestmark = pytest.mark.spark

#: Many beside the files, the batches of kept rows and the rows of the table that are read as well.
RECORDS = 300


def test_a_load_reads_its_items_once(shop, spark, monkeypatch):
    source, given = shop(), given_to_readers(monkeypatch)
    source.put(1, *(item(f"k{i}", v=N) for i in range(RECORDS)))
    order = source.full(5)
    assert RECORDS <= records_read(spark, lambda: source.run(order)) < 2 * RECORDS
    assert times(given) == {"binaryFile": {1}, "json": {1}}
    assert len(source.rows()) == RECORDS


def test_a_merge_reads_its_changes_once_although_it_looks_through_them_before_it_commits(shop, monkeypatch):
    source, given = shop(), given_to_readers(monkeypatch)
    source.put(1, item("old", v=N))
    source.load(5)
    source.put(6, *(item(f"k{i}", v=N) for i in range(RECORDS - 1)), item("odd", v=S))
    order = source.windows(5, 25)
    given.clear()
    source.run(order)
    assert times(given) == {"binaryFile": {1}, "text": {1}}
    counts = source.report(order)["counts"]
    assert (counts["read"], counts["misfits"]) == (RECORDS, 1)
