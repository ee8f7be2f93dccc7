"""A table that somebody rolls back at the last moment of a job: it has lost a race, and the next run goes on from there."""

from __future__ import annotations

import pytest

import spark.merging.merge
from pipeline.errors import TableContended
from tests.spark.sample_items import item
from tests.spark.shop import minute, with_changes

pytestmark = pytest.mark.spark


def test_a_merge_whose_table_is_rolled_back_right_before_its_commit_has_lost_a_race(shop, monkeypatch):
    source = with_changes(shop())
    loaded = source.metadata["current-snapshot-id"]
    source.merge(5, 20)
    source.put(21, item("a", v={"N": "3"}))

    def rolled_back(_table, _order, say):
        return lambda: (say(), source.roll_back(loaded))[0]

    with monkeypatch.context() as patched:
        patched.setattr(spark.merging.merge, "unless_overtaken", rolled_back)
        with pytest.raises(TableContended, match="is not an ancestor of"):
            source.merge(20, 35)
    assert source.state.watermark == minute(5)
    source.merge(5, 35)
    assert source.differences(35) == []
