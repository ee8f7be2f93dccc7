"""The copy of the watermark in the table's properties: believed once its commit has expired, never after a rollback past it."""

from __future__ import annotations

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.errors import WatermarkMissing
from pipeline.identity import KeyAttribute
from pipeline.table.marker import WATERMARK, snapshot_at
from pipeline.table.snapshots import newest_summary
from spark.iceberg.table import Table
from tests.spark.sample_items import N_KEY, N, item
from tests.spark.shop import Killed, as_of, killed, minute

pytestmark = pytest.mark.spark


@pytest.fixture
def maintained(shop):
    """A table at minute 20, on top of whose marked commits lies a snapshot of maintenance; and the id of that."""
    source = shop()
    source.put(1, *(item(f"k{i}", v=N) for i in range(8)))
    source.load(5)
    source.put(6, *(item(f"k{i}", v={"N": "2"}) for i in range(8)))
    source.merge(5, 20)
    newest = source.maintain(20)["snapshot_id"]
    assert newest == source.metadata["current-snapshot-id"]
    assert newest_summary(source.metadata)["operation"] == "replace"
    return source, newest


def let_all_but_the_newest_go(source):
    """Somebody expires every snapshot that they can: no commit that carries a watermark is left."""
    source.change("CALL glue.system.expire_snapshots(table => 'TABLE', older_than => TIMESTAMP '2100-01-01 00:00:00')")
    (left,) = source.metadata["snapshots"]
    assert WATERMARK not in left["summary"]


def test_the_copied_watermark_is_believed_once_the_commits_that_carried_it_have_expired(maintained):
    source, newest = maintained
    let_all_but_the_newest_go(source)
    assert source.state.watermark == minute(20)
    assert snapshot_at(source.metadata, minute(20)) == newest
    source.put(21, item("k0", v={"N": "3"}))
    source.merge(20, 40)
    assert source.differences(40) == []


def test_the_copied_watermark_is_not_believed_after_a_rollback_past_it_though_nothing_else_is_left(maintained):
    source, newest = maintained
    source.put(21, item("k0", v={"N": "3"}))
    source.merge(20, 40)
    source.roll_back(newest)
    assert source.state.watermark == minute(20)
    let_all_but_the_newest_go(source)
    assert source.metadata["properties"][WATERMARK] == as_of(minute(40))
    assert source.state.watermark is None
    assert snapshot_at(source.metadata, minute(40)) is None
    # Whoever believed it would go on from minute 40, and the changes before would be lost.
    with pytest.raises(WatermarkMissing):
        source.merge(40, 60)


def test_beside_the_copied_watermark_stands_which_snapshot_was_the_newest(shop):
    source = shop()
    source.put(1, item("a", v=N))
    source.load(5)
    ids = [told_and_true(source)]
    source.put(6, item("b", v=N))
    source.merge(5, 20)
    ids.append(told_and_true(source))
    # The source is created anew with another key, which no branch can bring: the table is replaced by one commit of SQL.
    source.table_id, source.key, source.writes = "another-id", (KeyAttribute("id", "S"),), []
    source.put(21, {"id": {"S": "x"}})
    source.load(25)
    ids.append(told_and_true(source))
    assert [told for told, _ in ids] == [str(true) for _, true in ids]
    assert len(set(ids)) == 3


def told_and_true(source):
    """The id of the newest snapshot: what the properties say, and what it is."""
    metadata = source.metadata
    return metadata["properties"].get("tidemark.snapshot"), metadata["refs"]["main"]["snapshot-id"]


def test_the_copied_watermark_is_not_believed_of_a_table_compacted_after_a_rollback_past_it(maintained):
    source, newest = maintained
    source.put(21, item("k0", v={"N": "3"}))
    source.merge(20, 40)
    source.roll_back(newest)
    source.change("CALL glue.system.rewrite_data_files(table => 'TABLE', options => map('rewrite-all', 'true'))")
    let_all_but_the_newest_go(source)
    assert source.metadata["properties"][WATERMARK] == as_of(minute(40))
    assert source.state.watermark is None


@pytest.mark.parametrize("job", ["merge", "load"])
def test_the_copied_watermark_is_written_anew_by_whoever_finds_a_killed_job_done(shop, monkeypatch, job):
    source = shop(key=N_KEY)
    source.put(1, *({"pk": {"S": f"k{i}"}, "sk": N} for i in range(8)))
    source.load(5)
    source.put(6, {"pk": {"S": "new"}, "sk": {"N": "1.5"}} if job == "load" else {"pk": {"S": "new"}, "sk": N})
    order = source.full(20) if job == "load" else source.windows(5, 20)
    with monkeypatch.context() as patched:
        patched.setattr(Table, "settle", killed)
        with pytest.raises(Killed):
            source.run(order)
    assert source.state.watermark == minute(20)
    assert source.metadata["properties"][WATERMARK] == as_of(minute(5))
    assert source.run(order)["outcome"] == "already_there"
    source.change("CALL glue.system.rewrite_data_files(table => 'TABLE', options => map('rewrite-all', 'true'))")
    let_all_but_the_newest_go(source)
    assert source.state.watermark == minute(20)
    assert source.differences(20) == []


def test_the_copied_watermark_is_made_ready_for_the_snapshot_that_stays_where_former_partitions_go(shop):
    source = shop()
    source.put(1, item("a"))
    source.load(5)
    source.columns = Overrides.parse({"pk": {"name": "id"}})
    source.load(15)
    for _ in range(2):
        source.change("CALL glue.system.rewrite_data_files(table => 'TABLE', options => map('rewrite-all', 'true'))")
    source.put(16, item("b"))
    source.merge(15, 35)
    assert source.differences(35) == []
