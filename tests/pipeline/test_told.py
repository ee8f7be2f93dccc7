"""What still holds of what was told, where a table's parameters were gone for a while."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from pipeline.mails.told import FailureKind, Incident, Told
from pipeline.modes import MAINTAIN
from tests.pipeline.world import at, incident

GONE, OFF = FailureKind("SettingsMissing", "Plan"), FailureKind("PitrOff", "Plan")
WRITTEN = at("20/12:15")
BEFORE = Told(incident("20/12:15", "20/12:00", OFF, GONE), level=50, ended="verify-1")

WENT = Told(incident("20/12:15", "20/12:00", GONE))
CONTROL_WENT = Told(incident("20/12:15", "20/12:00", FailureKind("ControlUnknown", "Plan")))
SETTLED = Told(ended="verify-1", trusted=at("20/12:00"), digested=at("20/00:00"))


@pytest.mark.parametrize(
    ("later", "kept"),
    [
        pytest.param(timedelta(hours=-1), BEFORE, id="they were there when it was written"),
        pytest.param(
            timedelta(hours=1),
            replace(BEFORE, incident=incident("20/12:15", "20/12:00", GONE), level=0, outlived=True),
            id="repaired: that they were gone is over then",
        ),
        pytest.param(
            timedelta(days=90),
            replace(BEFORE, incident=None, level=0, outlived=True),
            id="added again: no all-clear counts the months",
        ),
    ],
)
def test_of_what_was_told_before_the_parameters_were_made_again_little_holds(later, kept):
    assert BEFORE.since_deployed(WRITTEN, WRITTEN + later) == kept


@pytest.mark.parametrize(
    ("told", "later", "kept"),
    [
        pytest.param(Told(level=50), timedelta(hours=1), Told(outlived=True), id="a warning of before"),
        pytest.param(WENT, timedelta(hours=1), WENT, id="nothing but that they were gone, and it is repaired"),
        pytest.param(CONTROL_WENT, timedelta(hours=1), CONTROL_WENT, id="nothing but that the control was gone"),
        pytest.param(WENT, timedelta(days=1), WENT, id="within a day"),
        pytest.param(WENT, timedelta(days=1, seconds=1), Told(outlived=True), id="not within a day"),
        pytest.param(BEFORE, timedelta(0), BEFORE, id="they were made as it was written"),
        pytest.param(SETTLED, timedelta(days=90), SETTLED, id="what is known of wishes and rows is the table's own"),
    ],
)
def test_what_is_dropped_of_it_is_written_over_and_what_all_holds_is_left_alone(told, later, kept):
    assert told.since_deployed(WRITTEN, WRITTEN + later) == kept


def test_of_a_table_that_has_been_there_for_long_all_holds():
    assert BEFORE.since_deployed(WRITTEN, None) == BEFORE


def test_an_incident_is_of_maintenance_and_began_with_it_only_where_nothing_else_has_failed():
    (maintained,) = incident("20/12:15", "20/12:00", FailureKind("JobFailed", "RunSparkJob", MAINTAIN)).failures
    (own,) = incident("21/09:00", "21/08:00", OFF).failures
    (later,) = incident("21/10:00", "21/08:00", GONE).failures
    assert Incident((maintained, own, later)).first == own
    assert not Incident((maintained, own)).is_of_maintenance
    again = replace(maintained, since=at("21/11:00"))
    assert Incident((maintained, again)).first == maintained
    assert Incident((maintained, again)).is_of_maintenance


@pytest.mark.parametrize("word", ["5", "null", "{}", '["x"]'])
@pytest.mark.parametrize("place", ["PitrOff", "Plan"])
def test_an_incident_whose_failures_are_called_by_no_words_counts_as_nothing_told(place, word):
    """It was edited, and what mails would fail at every tick when it writes it again."""
    written = Told(incident("12:15", "12:00", FailureKind("PitrOff", "Plan"))).to_text()
    assert Told.from_text(written.replace(f'"{place}"', word)) == Told()


def test_a_parameter_that_could_not_be_corrected_is_told_from_an_update_that_could_not_be_recorded():
    kinds = [FailureKind("AwsUnavailable", "RecordWatermark", mode) for mode in ("update", "", "full")]
    assert [str(kind).removeprefix("AwsUnavailable in RecordWatermark") for kind in kinds] == [
        "",
        " (last-export-time)",
        " (full)",
    ]
    assert str(FailureKind("AwsUnavailable", "Plan")) == "AwsUnavailable in Plan"
