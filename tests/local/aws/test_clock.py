"""The virtual clock."""

import time

import pytest

from local.aws.clock import Clock


def test_the_clock_runs_with_the_real_one_and_moves_on_at_will():
    clock = Clock()
    assert clock.time() == pytest.approx(time.time(), abs=1)
    clock.advance(86_400)
    assert clock.time() == pytest.approx(time.time() + 86_400, abs=1)
    assert clock.time_ns() / 1e9 == pytest.approx(clock.time(), abs=1)
    assert clock.now().timestamp() == pytest.approx(clock.time(), abs=1)


def test_the_clock_never_goes_back():
    clock = Clock()
    clock.set(time.time() + 100)
    with pytest.raises(ValueError, match="cannot go back"):
        clock.set(time.time())
    with pytest.raises(ValueError, match="cannot go back"):
        clock.advance(-1)


def test_it_stands_in_for_the_module_time():
    assert Clock().strftime is time.strftime
