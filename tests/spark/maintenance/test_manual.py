"""What the manual has a person do in a Spark shell: its statements as they stand there, on real tables."""

from __future__ import annotations

import pytest

from pipeline.columns.declared.overrides import Overrides
from pipeline.errors import PartitionsKept
from pipeline.table.marker import WATERMARK
from tests.documents import statement
from tests.spark.sample_items import item
from tests.spark.shop import Shop, minute

pytestmark = pytest.mark.spark

STATUS = Overrides.parse({"state": {"name": "status"}})
LET_ONE_GO = "CALL glue.system.expire_snapshots(table => 'tidemark.orders', snapshot_ids"
LET_ALL_GO = "CALL glue.system.expire_snapshots(table => 'tidemark.orders', older_than"
REWRITE = "CALL glue.system.rewrite_data_files("
DROP_FIELD = "ALTER TABLE glue.tidemark.orders DROP PARTITION FIELD"
UNORDERED = "ALTER TABLE glue.tidemark.orders WRITE UNORDERED"


def carry_out(source: Shop, beginning: str, **parts: str) -> None:
    """Run the one statement of the manual that begins so, on this table; `parts` are its places to fill in."""
    source.spark.sql(statement(beginning, **parts).replace("tidemark.orders", f"shop.{source.name}"))


def alter(source: Shop, how: str) -> None:
    """Somebody alters the table."""
    source.spark.sql(f"ALTER TABLE glue.shop.{source.name} {how}")


def change(source: Shop, start: int) -> None:
    """Change items within a window of fifteen minutes, and merge it: some rows are hidden by delete files then."""
    source.put(start + 1, *(item(f"k{n}", state={"S": str(start)}) for n in range(8)))
    source.merge(start, start + 15)


@pytest.fixture
def followed(shop):
    """A table that was loaded at minute 5."""
    source = shop()
    source.put(1, *(item(f"k{n}", state={"S": "first"}) for n in range(20)))
    source.load(5)
    return source


def test_of_the_snapshots_only_the_one_that_must_go_goes(followed):
    # What is older than this goes along with whatever is named; five days, where the table says nothing.
    alter(followed, "SET TBLPROPERTIES ('history.expire.max-snapshot-age-ms' = '1')")
    for start in (5, 20, 35):
        change(followed, start)
    before = [snapshot["snapshot-id"] for snapshot in followed.metadata["snapshots"]]
    carry_out(followed, LET_ONE_GO, snapshot_id=str(before[1]))
    assert [snapshot["snapshot-id"] for snapshot in followed.metadata["snapshots"]] == [before[0], *before[2:]]
    change(followed, 50)
    assert followed.differences(65) == []
    # The one that says where the table is may go as well, from below those of maintenance.
    followed.maintain(65)
    marked = [s["snapshot-id"] for s in followed.metadata["snapshots"] if WATERMARK in s["summary"]]
    carry_out(followed, LET_ONE_GO, snapshot_id=str(marked[-1]))
    assert marked[-1] not in {snapshot["snapshot-id"] for snapshot in followed.metadata["snapshots"]}
    assert followed.state.watermark == minute(65)


def test_a_column_that_partitions_were_made_of_can_be_changed_once_they_have_gone(followed):
    alter(followed, "ADD PARTITION FIELD state")
    change(followed, 5)
    change(followed, 20)
    carry_out(followed, DROP_FIELD, column="state")
    carry_out(followed, REWRITE)
    followed.merge(35, 50)
    carry_out(followed, LET_ALL_GO)
    assert (len(followed.metadata["snapshots"]), followed.state.watermark) == (1, minute(50))
    assert followed.differences(50) == []
    followed.columns = STATUS
    followed.load(65)
    change(followed, 65)
    assert followed.differences(80) == []


def test_a_column_that_partitions_were_made_of_cannot_be_changed_until_they_have_gone(followed):
    alter(followed, "ADD PARTITION FIELD state")
    carry_out(followed, DROP_FIELD, column="state")
    followed.columns = STATUS
    with pytest.raises(PartitionsKept):
        followed.load(20)


@pytest.mark.parametrize(
    ("made", "beginning"),
    [("ADD PARTITION FIELD bucket(4, state)", DROP_FIELD), ("WRITE ORDERED BY state", UNORDERED)],
)
def test_other_partitions_and_a_sort_order_need_no_more_than_to_be_dropped(followed, made, beginning):
    alter(followed, made)
    change(followed, 5)
    carry_out(followed, beginning, column="bucket(4, state)")
    followed.columns = STATUS
    followed.load(20)
    change(followed, 20)
    assert followed.differences(35) == []


def test_a_tag_that_is_called_like_the_branch_of_a_load_stays_and_is_in_nobodys_way(followed):
    alter(followed, "CREATE TAG tidemark_load_of_november")
    followed.maintain(5)
    followed.load(20)
    assert set(followed.metadata["refs"]) == {"main", "tidemark_load_of_november"}
    assert followed.differences(20) == []
