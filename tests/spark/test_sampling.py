"""How many items decide the types of a first load."""

from __future__ import annotations

import pytest

from pipeline.manifests import ExportManifest
from spark.sampling import LEAST_ITEMS, MOST_BYTES, MOST_ITEMS, sample_size

MIB = 1_048_576


@pytest.mark.parametrize(
    ("items", "billed_bytes", "size"),
    [
        (0, 0, 0),
        (10, 3_000, 10),
        (10, 10 * MIB, 10),
        (MOST_ITEMS, MOST_ITEMS * 700, MOST_ITEMS),
        (MOST_ITEMS + 1, MOST_ITEMS * 700, MOST_ITEMS),
        (1_000_000, 700_000_000, MOST_ITEMS),
        (1_000_000, 0, MOST_ITEMS),
        (MOST_ITEMS, MOST_ITEMS * 40_000, MOST_BYTES // 40_000),
        (MOST_ITEMS, MOST_ITEMS * 400_000, LEAST_ITEMS),
        (LEAST_ITEMS, LEAST_ITEMS * 400_000, LEAST_ITEMS),
    ],
)
def test_a_sample_is_bounded_in_items_and_in_bytes(items, billed_bytes, size):
    export = ExportManifest("arn", "arn", "id", "bucket", items, billed_bytes, None, None, "files")
    assert sample_size(export) == size
