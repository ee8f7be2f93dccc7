"""Knobs: typed, named, all or none."""

import pytest

from local.aws.knobs import Knobs, UnknownKnob


def test_knobs_are_turned_by_name_and_reset_to_their_defaults():
    knobs = Knobs()
    turned = knobs.turn({"export_seconds": 90, "export_failure_code": "S3AccessDenied", "oddities": ["empty_file"]})
    assert turned["export_seconds"] == 90
    assert knobs.export_failure_code == "S3AccessDenied"
    knobs.reset()
    assert knobs == Knobs()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        pytest.param({"export_second": 1}, "no knob export_second; there are: .*export_seconds", id="unknown name"),
        pytest.param({"export_seconds": "1"}, "export_seconds does not take '1'", id="text for a number"),
        pytest.param({"export_seconds": -1}, "export_seconds does not take -1", id="negative time"),
        pytest.param({"export_seconds": True}, "export_seconds does not take True", id="yes for a number"),
        pytest.param({"oddities": "x"}, "oddities does not take 'x'", id="text for a list"),
    ],
)
def test_a_wrong_knob_is_refused_and_nothing_is_turned(changes, says):
    knobs = Knobs()
    with pytest.raises(UnknownKnob, match=says):
        knobs.turn({"wait_scale": 0, **changes})
    assert knobs == Knobs()
