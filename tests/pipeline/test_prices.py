"""Prices: the arithmetic, against the figures of the manual."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pipeline.exports.windows import SMALLEST_INCREMENTAL
from pipeline.modes import FULL
from pipeline.prices import Estimate, LastRun, estimate, export_cost, exported_bytes, job_cost
from pipeline.settings import SparkSettings
from pipeline.table.marker import Marker
from tests.pipeline.world import ARN, at, plan
from tests.sources import ROOT


def test_a_gigabyte_exported_costs_ten_cents():
    assert export_cost(1_000_000_000) == pytest.approx(0.10)


def test_a_full_export_is_billed_for_local_secondary_indexes_as_well():
    described = {
        "TableSizeBytes": 100,
        "LocalSecondaryIndexes": [{"IndexSizeBytes": 80}, {"IndexSizeBytes": 8}, {"IndexName": "new"}],
        "GlobalSecondaryIndexes": [{"IndexSizeBytes": 50}],
    }
    assert (exported_bytes(described), exported_bytes({})) == (188, 0)


def merged(billed: int | None) -> Marker:
    """The marker of a merge of two hours."""
    return Marker(at("12:00"), at("10:00"), "merge", "update-1", ARN, "id", {}, billed)


def test_a_full_export_is_estimated_by_the_table_s_size():
    assert estimate(plan("12:00", FULL), table_bytes=250_000_000_000).usd == pytest.approx(25.0)


def test_windows_are_estimated_by_the_least_that_each_is_billed():
    assert estimate(plan("12:00 13:00 14:00"), table_bytes=250_000_000_000).usd == pytest.approx(0.002)


@pytest.mark.parametrize(
    ("billed", "dollars"),
    [
        pytest.param(824_691_356, 3 * 0.0412345678, id="as much for each hour as was written in one of the last"),
        pytest.param(20_000_000, 0.002, id="the minimum bill twice says nothing of what was written"),
        pytest.param(None, 0.002, id="merged by a version that did not write it down"),
    ],
)
def test_windows_after_a_merge_are_estimated_by_what_it_was_billed(billed, dollars):
    assert estimate(plan("12:00 13:00 15:00"), 0, merged=merged(billed)).usd == pytest.approx(dollars)


def test_the_job_and_the_time_are_those_of_the_last_run_and_nothing_is_made_up():
    billed = {"VCPUHour": 1.0, "MemoryGBHour": 0, "StorageGBHour": 0}
    found = estimate(plan("12:00 13:00"), 0, LastRun("update-1", timedelta(minutes=7, seconds=33), billed))
    assert found == Estimate(pytest.approx(0.001), 0.042094, 7.5, "update-1")
    assert found.usd == pytest.approx(0.043094)
    assert estimate(plan("12:00 13:00"), 0, LastRun("update-1")) == Estimate(pytest.approx(0.001))


def test_whichever_of_the_two_is_known_it_says_which_run_it_is_of():
    price, vcpu = pytest.approx(0.001), {"VCPUHour": 1.0}
    assert estimate(plan("12:00 13:00"), 0, LastRun("update-1", billed=vcpu)) == Estimate(
        price, 0.042094, None, "update-1"
    )
    assert estimate(plan("12:00 13:00"), 0, LastRun("update-1", timedelta(minutes=9))) == Estimate(
        price, None, 9, "update-1"
    )


@pytest.mark.parametrize(("minutes", "dollars"), [(15, 2.88), (60, 0.72), (1440, 0.03)])
def test_a_quiet_month_costs_what_the_documents_say(minutes, dollars):
    assert export_cost(SMALLEST_INCREMENTAL) * (timedelta(days=30) / timedelta(minutes=minutes)) == pytest.approx(
        dollars
    )
    assert f"{dollars:.2f}" in (ROOT / "docs" / "costs.md").read_text()


def test_a_month_of_a_quiet_table_costs_what_the_documents_say():
    readme, costs = (ROOT / "README.md").read_text(), (ROOT / "docs" / "costs.md").read_text()
    workers = 1 + SparkSettings.max_executors
    hours = {
        "VCPUHour": workers * SparkSettings.worker_vcpus / 60,
        "MemoryGBHour": workers * SparkSettings.worker_memory_gb / 60,
    }
    windows = 30 * 24 * (export_cost(SMALLEST_INCREMENTAL) + job_cost(hours))
    maintained = 30 * job_cost(hours)
    ticks = 30 * 24 * 4 * 4 * 0.025 / 1000  # four transitions, which are 0.025 a thousand
    fixed = 2 * 0.30 + ticks
    assert (round(windows, 1), round(maintained, 1), round(fixed, 1)) == (12.4, 0.5, 0.9)
    assert f"about {windows + maintained + fixed:.0f} US dollars" in readme
    for part in (windows, maintained, fixed):
        assert f"{part:.1f}" in readme
        assert f"{part:.1f}" in costs


def test_a_deployment_costs_what_the_documents_say_also_when_its_key_has_been_rotated_twice():
    readme, costs = (ROOT / "README.md").read_text(), (ROOT / "docs" / "costs.md").read_text()
    first_year = 1 + 4 * 0.10 + 2 * 0.30  # the key, alarms, metrics
    assert (
        f"Each deployment costs about {first_year:.0f} more, about {first_year + 2:.0f} from its third year on"
        in readme
    )
    assert f"about {first_year:.0f} a month: the key of the mails, four alarms, two metrics" in costs
    assert f"from the third year on it is about {first_year + 2:.0f}" in costs


def test_a_job_costs_its_hours_of_vcpu_memory_and_storage():
    assert job_cost({"VCPUHour": 10, "MemoryGBHour": 100, "StorageGBHour": 1000}) == pytest.approx(
        0.42094 + 0.4628 + 0.111
    )
    assert job_cost({}) == 0.0
