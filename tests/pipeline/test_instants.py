"""Instants: one way to write them, and what is not one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.instants import EPOCH, floor_to, format_instant, parse_instant, whole_second
from tests.pipeline.world import HOUR, at

instants = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2026-11-21T12:00:00Z", id="as the product writes it"),
        pytest.param("2026-11-21T12:00:00.000Z", id="as manifests write it"),
        pytest.param("2026-11-21T12:00:00+00:00", id="as other tools write UTC"),
    ],
)
def test_these_are_the_same_instant(text):
    assert parse_instant(text) == at("12:00")


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21T12:00:00",
        "2026-11-21T12:00:00.5Z",
        "2026-11-21T12:00:00+01:00",
        "2026-11-21",
        "2026-02-30T12:00:00Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21 12:00:00Z",
        " 2026-11-21T12:00:00Z",
        "12:00",
        "",
        None,
        1764936000,
    ],
)
def test_what_is_no_instant_is_refused_by_what_it_is(text):
    with pytest.raises(ValueError, match="is not an instant") as refused:
        parse_instant(text)
    assert repr(text) in str(refused.value)


@given(instants)
def test_what_is_written_can_be_read_back_to_the_second(instant):
    assert parse_instant(format_instant(instant)) == instant.replace(microsecond=0)


@given(instants, st.integers(15, 1440))
def test_the_grid_counts_from_1970(instant, minutes):
    length = timedelta(minutes=minutes)
    floor = floor_to(instant, length)
    assert floor <= instant < floor + length
    assert (floor - EPOCH) % length == timedelta()


def test_other_time_zones_are_brought_to_utc():
    assert format_instant(at("12:00").astimezone(timezone(5 * HOUR))) == "2026-11-21T12:00:00Z"


def test_an_instant_without_a_time_zone_is_refused():
    with pytest.raises(ValueError, match="no time zone"):
        whole_second(at("12:00").replace(tzinfo=None))
