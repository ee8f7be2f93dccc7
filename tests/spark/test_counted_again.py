"""Counts that are not the manifest's: the file is named by reading each once, and tasks that were done again are no reason."""

from __future__ import annotations

import pytest

import spark.refusals
from pipeline.errors import CountMismatch
from spark.iceberg.commit_properties import counted_so_far
from spark.loading import load, passes
from tests.spark import tampering
from tests.spark.sample_items import N_KEY, N, S, item

pytestmark = pytest.mark.spark


@pytest.fixture
def source(shop):
    """A table of three items, and one in the next window."""
    source = shop()
    source.put(1, *(item(f"k{i}", v=N) for i in range(3)), item("odd", v={"M": {"x": S}}))
    source.load(5)
    source.put(6, *(item(f"k{i}", v={"N": "2"}) for i in range(9)))
    return source


@pytest.fixture
def readings(monkeypatch):
    """What refusals have read: the files of each reading."""
    found, lines = [], spark.refusals.lines

    def counting(session, uris):
        found.append(list(uris))
        return lines(session, uris)

    monkeypatch.setattr(spark.refusals, "lines", counting)
    return found


@pytest.mark.parametrize("job", ["load", "merge"])
def test_the_file_is_found_by_one_reading_of_all(source, readings, job):
    order = source.full(25) if job == "load" else source.windows(5, 25)
    tampering.count_wrong(source, order)
    with pytest.raises(CountMismatch, match=r"\.json\.gz holds \d+ records?, its manifest says \d+"):
        source.run(order)
    ((*uris,),) = readings
    assert len(uris) == len(tampering.full_files(source, order)) > 1


def _doubled(found):
    return {name: 2 * count for name, count in found.items()}


def _counted_twice(monkeypatch):
    """From now on loads count as if each of their tasks had been done twice."""
    found = passes._found
    monkeypatch.setattr(passes, "_found", lambda *of: _doubled(found(*of)))


def test_a_load_of_which_tasks_were_done_twice_reads_nothing_again(source, readings, monkeypatch):
    _counted_twice(monkeypatch)
    report = source.load(25)
    assert (report["counts"]["read"], report["counts"]["misfits"], readings) == (10, 1, [])
    assert source.differences(25) == []


def test_more_records_than_the_manifest_says_are_refused_even_where_tasks_were_done_twice(source, monkeypatch):
    _counted_twice(monkeypatch)
    order = source.full(25)
    tampering.count_wrong(source, order, by=-1)
    before = source.rows()
    with pytest.raises(CountMismatch, match=r"\.json\.gz holds \d+ record"):
        source.run(order)
    assert source.rows() == before


def test_a_table_is_replaced_whole_also_where_tasks_were_done_twice(shop, monkeypatch):
    source = shop(key=N_KEY)
    source.put(1, *(item("a", sk={"N": f"{n}"}, v=N) for n in range(3)))
    source.load(5)
    source.put(6, item("a", sk={"N": "1.5"}, v={"M": {"x": S}}))
    # Of rows that are only counted at first, no branch tells how many there are.
    _counted_twice(monkeypatch)
    monkeypatch.setattr(load, "counted_so_far", lambda *of: _doubled(counted_so_far(*of)))
    counts = source.load(15)["counts"]
    assert (counts["read"], counts["misfits"]) == (4, 1)
    assert source.differences(15) == []


def test_a_load_that_has_met_fewer_items_than_the_manifest_says_is_refused_though_no_file_holds_fewer(
    source, monkeypatch
):
    found, before = passes._found, source.rows()
    monkeypatch.setattr(passes, "_found", lambda *of: {**found(*of), "items": 9})
    with pytest.raises(CountMismatch, match="the manifests say 10 records, read: 9"):
        source.load(25)
    assert source.rows() == before
