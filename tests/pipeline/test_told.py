"""What still holds of what was told, where a table's parameters were gone for a while."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from pipeline.mails.told import Kind, Told
from tests.pipeline.world import at, incident

GONE, OFF = Kind("SettingsMissing", "Plan"), Kind("PitrOff", "Plan")
WRITTEN = at("20/12:15")
BEFORE = Told(incident("20/12:15", "20/12:00", OFF, GONE), level=50, ended="verify-1")


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


def test_of_a_table_that_has_been_there_for_long_all_holds():
    assert BEFORE.since_deployed(WRITTEN, None) == BEFORE


@pytest.mark.parametrize("word", ["5", "null", "{}", '["x"]'])
@pytest.mark.parametrize("place", ["PitrOff", "Plan"])
def test_an_incident_whose_failures_are_called_by_no_words_counts_as_nothing_told(place, word):
    """It was edited, and what mails would fail at every tick when it writes it again."""
    written = Told(incident("12:15", "12:00", Kind("PitrOff", "Plan"))).to_text()
    assert Told.from_text(written.replace(f'"{place}"', word)) == Told()
