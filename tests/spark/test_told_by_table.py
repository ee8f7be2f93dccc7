"""Where images do not tell what changes will do, the rows that are there do; what is there already stays as it is."""

from __future__ import annotations

import pytest

from local.aws.pitr.offline import IncrementalExport
from tests.spark.sample_items import N, item
from tests.spark.shop import BOTH_IMAGES, NEW_ONLY, as_of, minute, window

pytestmark = pytest.mark.spark


@pytest.fixture
def source(shop):
    """A table with the items a, b, c, of which a and b are about to be changed."""
    s = shop(view=NEW_ONLY)
    s.put(1, *(item(name, v=N) for name in "abc"))
    s.load(5)
    s.put(6, *(item(name, v={"N": "2"}) for name in "ab"))
    return s


def test_a_row_that_has_a_change_s_write_time_holds_it_already_and_is_left_alone(source):
    source.change("UPDATE TABLE SET _write_time = TIMESTAMP 'MOMENT', v = 7 WHERE pk = 'a'", MOMENT=as_of(minute(6)))
    report = source.merge(5, 25)
    assert [report["counts"][name] for name in ("read", "already_there", "updated")] == [2, 1, 1]
    assert report["continuity"] == ""
    assert {pk: row["v"] for pk, row in source.rows().items()} == {"a": 7, "b": 2, "c": 1}


def test_of_two_windows_of_which_one_has_no_old_images_the_table_tells(source):
    source.put(7, item("brief"))
    source.put(26, item("a", v={"N": "3"}), item("new"))
    source.delete(27, item("c"))
    source.delete(28, item("brief"))
    asked = (IncrementalExport(window(5, 25), BOTH_IMAGES), IncrementalExport(window(25, 45), NEW_ONLY))
    report = source.run(source.order("merge", source.export(*asked), minute(5), minute(45)))
    names = ("read", "inserted", "updated", "deleted", "unknown_deletes", "transient", "folded")
    assert [report["counts"][name] for name in names] == [7, 1, 2, 1, 0, 1, 2]
    assert report["continuity"] == ""
    assert source.differences(45) == []
