"""Maintenance between the functions: planned by the schedule when it is due, done by its report, and in nobody's way."""

from __future__ import annotations

from datetime import timedelta

import pytest

from lambdas.record_watermark import handler as record_handler
from pipeline.instants import format_instant
from pipeline.settings import TableSettings
from pipeline.table.maintenance import COUNTED
from tests.lambdas.account import Account, call
from tests.lambdas.ticks import plan

pytestmark = pytest.mark.local_aws
COUNTS = dict.fromkeys(COUNTED, 3)


def up_to_date(account: Account, maintained: timedelta) -> str:
    """A table that shows everything, and was maintained so long ago; returns its watermark."""
    watermark = account.grid(0)
    account.carry_out(watermark, maintained=watermark - maintained)
    return format_instant(watermark)


def test_the_schedule_plans_it_once_a_day_and_it_is_done_by_its_report(account: Account):
    watermark = up_to_date(account, timedelta(days=1))
    account.put_parameter("orders", "settings", TableSettings("orders", "orders", snapshot_days=30).to_json())
    me = account.execution()
    planned = plan(me)
    assert (planned["kind"], planned["mode"], planned["exports"], planned["snapshot_days"]) == (
        "Maintain",
        "maintain",
        [],
        30,
    )
    assert (planned["start"], planned["end"], planned["attempt"]) == (watermark, watermark, 1)
    assert plan(me)["job_id"] == planned["job_id"]

    done = {
        "job": "maintain",
        "job_id": planned["job_id"],
        "start": watermark,
        "watermark": watermark,
        "counts": COUNTS,
    }
    account.write_report(planned["job_id"], outcome="maintained", **done)
    before = account.parameters()
    told = call(record_handler, plan=planned)

    assert {name: told[name] for name in done} == done
    idle = plan(me)
    assert (idle["reason"], idle["maintained"]) == ("UpToDate", True)
    assert account.parameters() == before

    account.stop(me)
    estimates = {
        mode: plan(account.execution(), dry_run=True, mode=mode)["estimate"] for mode in ("maintain", "verify")
    }
    assert {mode: estimate["like"] for mode, estimate in estimates.items()} == {
        "maintain": planned["job_id"],
        "verify": "",
    }


def test_less_than_a_day_after_it_was_begun_it_is_not_due(account: Account):
    up_to_date(account, timedelta(hours=23))
    assert plan(account.execution())["reason"] == "UpToDate"


def test_a_dry_run_tells_that_it_is_due_and_begins_nothing(account: Account):
    up_to_date(account, timedelta(days=2))
    before = account.parameters()
    told = plan(account.execution(), dry_run=True)
    assert (told["planned"], told["kind"], told["estimated_usd"]) == ("Maintain", "DryRun", 0)
    assert account.parameters() == before


def test_one_that_was_refused_is_not_begun_again_at_the_same_watermark(account: Account):
    up_to_date(account, timedelta(days=2))
    first = account.execution()
    begun = plan(first)
    account.write_report(begun["job_id"], outcome="refused", error="TableContended")
    account.stop(first)
    assert plan(account.execution())["reason"] == "UpToDate"
    asked = plan(account.execution(), mode="maintain")
    assert asked["job_id"] != begun["job_id"]
    assert (asked["kind"], asked["attempt"]) == ("Maintain", 2)
