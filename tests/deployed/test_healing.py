"""Runs that collide or die: nothing is lost, nothing is done twice, the next run finishes what was begun."""

from __future__ import annotations

import json
import time

import pytest

from local.reader import read_through_glue

pytestmark = [pytest.mark.local_aws, pytest.mark.spark, pytest.mark.deployed]


def wait_for_the_job(world, execution):
    """Wait until an execution has entered the state that runs the job."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        entered = [e.get("stateEnteredEventDetails", {}).get("name") for e in world.deployed.history(execution)]
        if "RunSparkJob" in entered:
            return
        assert world.deployed.describe(execution)["status"] == "RUNNING", entered
        time.sleep(0.05)
    raise AssertionError(f"the job was not reached: {entered}")


def stop(world, execution):
    world.aws.client("stepfunctions").stop_execution(executionArn=execution, cause="a test pulled the plug")
    assert world.deployed.wait(execution)["status"] == "ABORTED"


def test_of_three_starters_one_works_and_the_others_end_well(world):
    world.shop.open_orders(30)
    world.pass_minutes(30)

    ended = [world.deployed.wait(run) for run in [world.deployed.start(table="orders") for _ in range(3)]]

    assert [run["status"] for run in ended] == ["SUCCEEDED"] * 3
    reasons = sorted(json.loads(run["output"])["reason"] for run in ended)
    assert reasons == ["AnotherRun", "AnotherRun", "UpToDate"]
    assert len(world.exports()) == 1
    assert len(world.windows()) == 1
    assert world.differences() == []


def test_a_run_stopped_while_the_spark_job_runs_is_finished_by_the_next(world):
    world.bootstrap()
    world.work()
    execution = world.deployed.start(table="orders")
    wait_for_the_job(world, execution)
    running_jobs(world)
    exports = world.exports()
    stop(world, execution)

    assert world.succeed()["reason"] == "UpToDate"

    assert world.exports() == exports
    assert len(world.windows()) == 2
    assert world.differences() == []
    assert "Finished what" in world.aws.outbox()[-1].get_content()


def test_a_job_that_somebody_cancels_is_told_of_and_done_by_the_next_run(world):
    world.shop.open_orders(20)
    world.pass_minutes(30)
    execution = world.deployed.start(table="orders")
    wait_for_the_job(world, execution)
    cancel_jobs(world)

    ended = world.deployed.wait(execution)

    assert (ended["status"], ended["error"]) == ("FAILED", "JobFailed"), ended["cause"]
    assert "JobFailed" in world.aws.outbox()[-1]["Subject"]
    assert world.succeed()["reason"] == "UpToDate"
    assert len(world.exports()) == 1
    assert world.differences() == []


def running_jobs(world):
    """The job runs under way; waits until there is one."""
    emr, application = world.aws.client("emr-serverless"), world.deployed.outputs["ApplicationId"]
    while not (runs := emr.list_job_runs(applicationId=application, states=["RUNNING"])["jobRuns"]):
        time.sleep(0.05)
    return runs


def cancel_jobs(world):
    """Cancel every job run under way, as a person would in the console."""
    for run in running_jobs(world):
        world.aws.client("emr-serverless").cancel_job_run(applicationId=run["applicationId"], jobRunId=run["id"])


def test_a_failed_export_is_asked_for_anew_by_the_next_run(world):
    first = world.bootstrap()
    world.work()
    world.aws.set_knobs(export_failure_code="UNKNOWN")

    text = world.fail("ExportFailed")

    assert "tries again by itself" in text
    assert world.watermark() == first
    assert world.succeed()["reason"] == "UpToDate"
    assert world.differences() == []


def test_a_table_rolled_back_is_brought_forward_by_the_next_run(world):
    older = world.bootstrap()
    loaded = read_through_glue(world.aws, "tidemark", "orders").current_snapshot().snapshot_id
    world.work()
    world.succeed()
    table = read_through_glue(world.aws, "tidemark", "orders")
    table.manage_snapshots().rollback_to_snapshot(loaded).commit()
    assert world.differences() != []

    assert world.tick()["status"] == "SUCCEEDED"

    assert world.differences() == []
    assert world.watermark() > older


def test_a_table_that_may_rebuild_itself_makes_lost_history_good(world):
    world.bootstrap()
    world.set(on_lost_history="rebuild")
    for on in (False, True):
        world.aws.client("dynamodb").update_continuous_backups(
            TableName="orders", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": on}
        )
    world.work()
    mails = len(world.aws.outbox())

    ended = world.tick()

    assert ended["status"] == "SUCCEEDED", ended
    told = [mail for mail in world.aws.outbox()[mails:] if "OK" in mail["Subject"]]
    assert "Rebuilt by itself, because history was lost: the watermark is" in told[0].get_content()
    assert "Estimated cost" in told[0].get_content()
    assert world.differences() == []


def test_a_wrong_last_export_time_is_corrected_from_the_table(world):
    watermark = world.bootstrap()
    world.write("last-export-time", "2031-01-01T00:00:00Z")
    world.remove_reports()  # as the bucket's lifecycle does with old ones

    world.succeed()

    assert world.watermark() == watermark
    assert "2031-01-01T00:00:00Z" in world.aws.outbox()[-1].get_content()
    assert len(world.windows()) == 1


def test_a_backfill_tells_beforehand_what_it_takes_and_leaves_the_watermark_and_what_is_right(world):
    start = world.bootstrap()
    world.work()
    world.succeed()
    exports, watermark = world.exports(), world.watermark()

    plan = world.succeed(mode="backfill", **{"from": start}, dry_run=True)

    told = plan["estimate"]
    assert (plan["planned"], plan["mode"], plan["exports"][-1]["to"]) == ("Export", "backfill", watermark)
    assert (told["job_usd"] > 0, told["minutes"] > 0) == (True, True)
    assert told["like"].startswith("update-")
    assert plan["estimated_usd"] == told["export_usd"] + told["job_usd"]
    assert world.exports() == exports

    assert world.succeed(mode="backfill", **{"from": start})["reason"] == "WishFulfilled"

    assert world.watermark() == watermark
    assert world.differences() == []


def test_a_dry_run_does_nothing(world):
    world.shop.open_orders(5)
    world.pass_minutes(30)

    plan = world.succeed(dry_run=True)

    assert (plan["kind"], plan["planned"]) == ("DryRun", "Export")
    assert plan["estimate"] == {"export_usd": plan["estimated_usd"], "job_usd": None, "minutes": None, "like": ""}
    assert world.exports() == []
    assert world.watermark() == ""
