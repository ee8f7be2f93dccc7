"""The exports of a job run from one instant to another, each from where the one before it ends."""

from __future__ import annotations

import pytest

from pipeline.errors import Gap, Overlap
from pipeline.exports.manifests import ExportManifest, check_touch
from pipeline.exports.windows import windows_between
from tests.pipeline.world import ARN, SOURCE, at, bounds


def exports(*stretches: str) -> list[ExportManifest]:
    """Incremental exports of these stretches, each of the windows between its instants."""
    windows = (window for stretch in stretches for window in windows_between(bounds(stretch)))
    return [ExportManifest(f"{ARN}/export/1", ARN, SOURCE.id, "b", 0, 0, None, window, "k") for window in windows]


def test_exports_that_touch_from_start_to_end_pass():
    assert check_touch(exports("10:20 10:35 11:00"), at("10:20"), at("11:00")) is None


@pytest.mark.parametrize(
    ("found", "stretch", "error", "told"),
    [
        pytest.param(exports("10:20 10:35", "10:36 11:00"), "10:20 11:00", Gap, "are missing", id="a gap between two"),
        pytest.param(exports("10:20 10:35", "10:34 11:00"), "10:20 11:00", Overlap, "applied twice", id="an overlap"),
        pytest.param(exports("10:20 11:00"), "10:10 11:00", Gap, "are missing", id="they begin too late"),
        pytest.param(exports("10:20 11:00"), "10:30 11:00", Overlap, "applied twice", id="they begin too early"),
        pytest.param(exports("10:20 11:00"), "10:20 11:10", Gap, "the exports end at", id="they stop short"),
        pytest.param(exports("10:20 11:00"), "10:20 10:50", Overlap, "the exports end at", id="they go too far"),
        pytest.param([], "10:20 10:50", Gap, "the exports end at", id="there are none"),
    ],
)
def test_exports_that_leave_a_gap_or_overlap_are_refused(found, stretch, error, told):
    with pytest.raises(error, match=told):
        check_touch(found, *bounds(stretch))
