"""What a dry run says of price and time is taken from a run like the one it rehearses, or said of none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from lambdas.plan import handler
from pipeline.instants import parse_instant
from pipeline.table.maintenance import COUNTED
from pipeline.table.marker import Marker
from tests.lambdas.account import MACHINE, WINDOW, Account, call
from tests.lambdas.ticks import plan, times

pytestmark = pytest.mark.local_aws
WELL = f"{__name__}:ends_well"


def ends_well(_arguments: Sequence[str], _credentials: Mapping[str, str]) -> int:
    """Be a job that does its work; an exit code."""
    return 0


def estimate(account: Account, mode: str) -> dict[str, Any]:
    """What a dry run says that a run of this mode takes."""
    told: dict[str, Any] = plan(account.execution(), dry_run=True, mode=mode)["estimate"]
    return told


def maintain(account: Account) -> str:
    """Claim maintenance, and leave its report; returns its job id."""
    me = account.execution()
    planned = plan(me, mode="maintain")
    told = {name: planned[name] for name in ("job", "job_id", "start")}
    counts = dict.fromkeys(COUNTED, 3)
    account.write_report(planned["job_id"], outcome="maintained", watermark=planned["end"], counts=counts, **told)
    account.stop(me)
    return str(planned["job_id"])


def test_a_run_that_failed_says_nothing_of_how_long_the_next_one_takes(account: Account):
    account.carry_out(account.grid(3))
    dead = account.execution()
    assert plan(dead)["kind"] == "Export"
    account.stop(dead)
    told = estimate(account, "update")
    assert (told["minutes"], told["job_usd"], told["like"]) == (None, None, "")


def test_after_maintenance_a_full_export_is_priced_by_the_last_merge_and_a_verification_by_none(account: Account):
    account.carry_out(account.grid(0), job_id="update-1")
    account.stand_in_for_jobs(WELL)
    account.run_job("update-1", "update-1-0", "SUCCESS")
    maintained = maintain(account)

    full, verification, again = (estimate(account, mode) for mode in ("full", "verify", "maintain"))
    assert (full["job_usd"] > 0, full["minutes"], full["like"]) == (True, None, "update-1")
    assert (verification["job_usd"], verification["minutes"], verification["like"]) == (None, None, "")
    assert again["like"] == maintained


def test_after_a_load_and_maintenance_there_is_nothing_to_price_the_first_merge_by(account: Account):
    watermark = account.grid(0)
    account.carry_out(watermark)
    arn = plan(account.execution())["source"]["arn"]
    loaded = Marker(watermark, watermark - WINDOW, "load", "full-1", arn, account.source_id(), {}, None)
    summary = {**loaded.to_properties(), "operation": "overwrite"}
    account.write_metadata({"snapshots": [{"snapshot-id": 1, "summary": summary}], "current-snapshot-id": 1})
    maintain(account)
    told = estimate(account, "full")
    assert (told["job_usd"], told["minutes"], told["like"]) == (None, None, "")


def test_a_full_export_takes_about_as_long_as_the_last_update(account: Account):
    account.carry_out(account.grid(3))
    me = account.execution()
    done = plan(me)
    account.stop(me)
    account.carry_out(parse_instant(done["end"]), job_id=done["job_id"])
    told = estimate(account, "full")
    assert (told["minutes"] >= 0, told["job_usd"], told["like"]) == (True, None, done["job_id"])


def test_a_run_that_step_functions_has_forgotten_and_a_job_run_that_died_say_nothing(account: Account):
    account.carry_out(account.grid(3))
    done = plan(f"{MACHINE.replace('stateMachine', 'execution')}:ended-90-days-ago")
    account.run_job(done["job_id"], "died")
    account.carry_out(parse_instant(done["end"]), job_id=done["job_id"])
    asked = {"table": "orders", "mode": "full", "dry_run": True}
    told = call(handler, input=asked, execution=account.execution(), **times(account, minutes=3))["estimate"]
    assert (told["minutes"], told["job_usd"], told["like"]) == (None, None, "")


def test_where_only_last_export_time_is_to_be_corrected_a_dry_run_says_so_and_costs_nothing(
    account: Account, up_to_date: str
):
    account.put_parameter("orders", "last-export-time", *account.instants(1))
    told = plan(account.execution(), dry_run=True)
    assert (told["kind"], told["planned"], told["estimated_usd"], "estimate" in told) == ("DryRun", "Record", 0, False)
    assert [account.parameters()["last-export-time"]] == account.instants(1)
