"""Files of a table that somebody removes: told by name, with the way on that is left."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError

from pipeline.errors import RebuildNeeded, TableFilesMissing
from spark.iceberg.missing_files import missing_file
from spark.iceberg.table import Table
from tests.spark.rivals import beside
from tests.spark.sample_items import S, item
from tests.spark.shop import minute
from tests.spark.verifying import verify_order

pytestmark = pytest.mark.spark

DAY = 24 * 60
#: Nine days after the load: more than maintenance keeps.
OLD = 5 + 9 * DAY


@pytest.fixture
def followed(shop):
    """A table that was loaded at minute 5, and an order to change a row that it has."""
    source = shop()
    source.put(1, *(item(f"k{i}", v=S) for i in range(8)))
    source.load(5)
    source.put(6, item("k1", v={"S": "new"}))
    return source, source.windows(5, 20)


def remove(source, table: str, column: str, *only: str) -> list[str]:
    """Somebody removes the files that a table of metadata lists, all or `only` some; their paths."""
    listed = [row[column] for row in source.spark.table(f"glue.shop.{source.name}.{table}").collect()]
    for path in only or listed:
        Path(path.removeprefix("file:")).unlink()
    return listed


def test_a_table_that_lacks_data_files_asks_for_a_full_export_which_helps(followed):
    source, merge = followed
    gone = remove(source, "data_files", "file_path")
    for order in (merge, verify_order(source, 5)):
        with pytest.raises(RebuildNeeded, match=r"somebody has removed a file that glue\.shop\.\w+ needs: ") as refused:
            source.run(order)
        assert refused.value.message.rpartition(": file:")[2] in {path.removeprefix("file:") for path in gone}
        assert source.report(order)["error"] == "RebuildNeeded"
    assert source.state.watermark == minute(5)
    source.load(20)
    source.put(21, item("k2", v={"S": "newer"}))
    source.merge(20, 35)
    assert source.differences(35) == []


@pytest.mark.parametrize("job", ["merge", "load", "verify", "maintain"])
def test_a_table_that_lacks_what_says_what_it_holds_is_to_be_deleted_as_a_full_export_cannot_help(followed, job):
    source, merge = followed
    orders = {"merge": merge, "load": source.full(20), "verify": verify_order(source, 5)}
    orders["maintain"] = source.maintenance(5)
    remove(source, "manifests", "path")
    with pytest.raises(TableFilesMissing, match=r"needs: file:.*\.avro, which says what the table holds"):
        source.run(orders[job])
    assert source.state.watermark == minute(5)
    source.change("DROP table TABLE")
    source.load(20)
    assert source.differences(20) == []


def test_what_a_table_does_not_need_any_more_is_not_missing(followed):
    source, merge = followed
    source.run(merge)
    before = source.metadata["current-snapshot-id"]
    former = [row.file_path for row in source.spark.table(f"glue.shop.{source.name}.data_files").collect()]
    # Somebody's maintenance, which this session does not see come.
    there = beside(source, merge).table
    source.spark.sql(f"CALL rival.system.rewrite_data_files(table => '{there}', options => map('rewrite-all', 'true'))")
    remove(source, "data_files", "file_path", former[0])
    table = Table(source.spark, merge)
    with pytest.raises(Py4JJavaError) as met:
        table.rows_at(before).collect()
    assert missing_file(source.spark, table, met.value) is None


@pytest.fixture
def aged(shop):
    """A table that was loaded at minute 5 and has followed its source for nine days."""
    source = shop()
    source.put(1, *(item(f"k{i}", v=S) for i in range(8)))
    source.load(5)
    for start in range(5, OLD, 3 * DAY):
        source.put(start + 1, item("k1", v={"S": f"of {start}"}))
        source.merge(*range(start, start + 3 * DAY + 1, DAY))
    return source


def goes_on(source) -> None:
    """Verifications and merges need nothing of earlier snapshots."""
    assert source.run(verify_order(source, OLD))["outcome"] == "verified"
    source.put(OLD + 1, item("k2", v={"S": "newer"}))
    source.merge(OLD, OLD + 15)
    assert source.differences(OLD + 15) == []


@pytest.mark.parametrize("of", ["manifest list", "manifest"])
def test_what_only_an_earlier_snapshot_needs_holds_up_nothing_but_maintenance_which_says_what_to_let_go(aged, of):
    former = aged.metadata["snapshots"][-1]
    gone = former["manifest-list"]
    if of == "manifest":
        gone = aged.spark.table(f"glue.shop.{aged.name}.manifests").collect()[-1]["path"]
    aged.change("CALL glue.system.rewrite_data_files(table => 'TABLE', options => map('rewrite-all', 'true'))")
    aged.change("CALL glue.system.rewrite_manifests(table => 'TABLE')")
    Path(gone.removeprefix("file:")).unlink()
    for _ in range(2):
        with pytest.raises(
            TableFilesMissing, match=r"somebody has removed a file that earlier snapshots of "
        ) as refused:
            aged.maintain(OLD)
        assert refused.value.message.endswith(f" need: {gone}")
    assert str(former["snapshot-id"]) in refused.value.remedy
    # Without backticks Spark would take a name such as 2024 for a number.
    assert f"CALL `glue`.system.expire_snapshots(table => '`shop`.`{aged.name}`', " in refused.value.remedy
    goes_on(aged)
    call = re.search(r"CALL .*'\)", refused.value.remedy)[0]
    with contextlib.suppress(Py4JJavaError):
        aged.spark.sql(call)
    assert aged.maintain(OLD + 15)["outcome"] == "maintained"
    assert aged.differences(OLD + 15) == []


def test_a_file_that_listed_those_of_an_expired_snapshot_is_not_missed(aged):
    gone = aged.metadata["snapshots"][0]["manifest-list"]
    Path(gone.removeprefix("file:")).unlink()
    counts = aged.maintain(OLD)["counts"]
    assert (counts["snapshots_expired"] > 0, counts["files_rewritten"] > 0) == (True, True)
    goes_on(aged)
