"""Peculiarities of real exports, documented or only seen: all of them at once change nothing in what the table shows."""

from __future__ import annotations

import pytest

from local.aws.pitr.oddities import ODDITIES
from spark.exports.reading import read_exports
from tests.spark.sample_items import item
from tests.spark.tampering import listed, relist, rewrite, summaries

pytestmark = pytest.mark.spark


# Together the two would make a record without images the newest of its key.
@pytest.mark.parametrize("left_out", ["duplicate_key", "timestamp_outside_window"])
def test_every_peculiarity_of_real_exports_is_borne(shop, left_out):
    source = shop(oddities=tuple(name for name in ODDITIES if name != left_out))
    source.put(1, item("a", v={"S": "x"}), item("b"))
    source.load(5)
    source.put(6, item("a", v={"S": "y"}), item("c"))
    source.delete(7, item("b"))
    report = source.merge(5, 20, 40)  # the second window without any record
    assert source.differences(40) == []
    # A key that comes twice is told by the newer record.
    told = {name: report["counts"][name] for name in ("inserted", "updated", "deleted", "unknown_deletes", "transient")}
    assert told == {"inserted": 1, "updated": 1, "deleted": 1, "unknown_deletes": 0, "transient": 0}
    assert report["continuity"] == ""


def test_data_files_without_records_before_all_others_hide_nothing(shop):
    source = shop()
    source.put(1, item("a"))
    load = source.full(5)
    source.put(6, item("b"))
    for order in (load, source.windows(5, 25)):
        (summary,) = summaries(order)
        relist(source, summary, sorted(listed(source, summary), key=lambda file: file["itemCount"]))
        (export,) = read_exports(source.spark, order)
        counts = [file.item_count for file in export.manifest.files]
        assert (counts[0], counts[-1], sum(counts)) == (0, 1, 1)
        assert source.run(order)["counts"]["read"] == 1
    assert source.differences(25) == []


@pytest.mark.parametrize("image", ["{}", "null"])
def test_an_image_with_nothing_in_it_is_that_of_a_deletion(shop, image):
    source = shop()
    source.put(1, item("a", v={"S": "x"}), item("b"))
    source.load(5)
    source.delete(6, item("a"))
    order = source.windows(5, 20)
    rewrite(source, order, lambda lines: [f'{line[:-1]},"NewImage":{image}}}' for line in lines])
    counts = source.run(order)["counts"]
    assert (counts["read"], counts["deleted"]) == (1, 1)
    assert source.differences(20) == []
