"""Prices: the arithmetic, against the figures of the manual."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pipeline.execution_input import FULL
from pipeline.prices import estimate_export, export_cost, job_cost, month_of_exports
from tests.pipeline.world import plan


def test_a_gigabyte_exported_costs_ten_cents():
    assert export_cost(1_000_000_000) == pytest.approx(0.10)


def test_a_full_export_is_estimated_by_the_table_s_size():
    assert estimate_export(plan("12:00", FULL), table_bytes=250_000_000_000) == pytest.approx(25.0)


def test_windows_are_estimated_by_the_least_that_each_is_billed():
    assert estimate_export(plan("12:00 13:00 14:00"), table_bytes=250_000_000_000) == pytest.approx(0.002)


@pytest.mark.parametrize(("minutes", "dollars"), [(15, 2.88), (60, 0.72), (1440, 0.03)])
def test_a_quiet_month_costs_what_the_manual_says(minutes, dollars):
    assert month_of_exports(timedelta(minutes=minutes)) == pytest.approx(dollars)


@pytest.mark.parametrize(("minutes", "dollars"), [(15, 28.80), (60, 28.80), (1440, 28.80)])
def test_a_busy_month_costs_the_same_with_windows_of_any_length(minutes, dollars):
    assert month_of_exports(timedelta(minutes=minutes), 400_000_000) == pytest.approx(dollars)


def test_a_job_costs_its_hours_of_vcpu_memory_and_storage():
    assert job_cost({"VCPUHour": 10, "MemoryGBHour": 100, "StorageGBHour": 1000}) == pytest.approx(
        0.42094 + 0.4628 + 0.111
    )
    assert job_cost({}) == 0.0
