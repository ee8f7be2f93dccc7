"""Backfills: a stretch that is repeated puts right what somebody has made of its rows meanwhile."""

from __future__ import annotations

import pytest

from tests.spark.sample_items import N, S, item
from tests.spark.shop import BOTH_IMAGES, NEW_ONLY, minute

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("view", [BOTH_IMAGES, NEW_ONLY])
def test_rows_that_somebody_has_changed_by_hand_are_put_right(shop, view):
    source = shop(view=view)
    source.put(1, item("a", v=N), item("b", v=N))
    source.load(5)
    source.put(6, item("a", v={"N": "2"}), item("odd", v=S), item("c", v={"N": "3"}))
    source.delete(7, item("b"))
    source.merge(5, 25)
    # Their _write_time stays what it was.
    source.change("UPDATE TABLE SET v = 7, _misfits = NULL WHERE pk IN ('a', 'odd')")
    assert len(source.differences(25)) == 2
    report = source.merge(5, 25, job="backfill")
    assert source.differences(25) == []
    counts = report["counts"]
    told = {name: counts[name] for name in ("read", "updated", "already_there", "unknown_deletes", "misfits")}
    assert told == {"read": 4, "updated": 3, "already_there": 0, "unknown_deletes": 1, "misfits": 1}
    assert (source.state.watermark, report["continuity"]) == (minute(25), "")
