"""Maintenance on the deployed state machine: asked for, stopped, finished, and by the schedule; with every row as it was."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.local_aws, pytest.mark.spark, pytest.mark.deployed]

A_WEEK_AND_A_DAY = 8 * 24 * 60


def test_a_table_s_files_are_put_in_order_by_a_person_whose_run_dies_and_by_the_schedule(world):
    world.bootstrap()
    world.work()
    world.succeed()
    watermark, merged = world.watermark(), world.snapshots()

    world.aws.set_faults({"name": "dies", "action": "state:RunSparkJob", "kind": "stopped"})
    assert world.run(mode="maintain")["status"] == "ABORTED"
    world.aws.set_faults()
    assert world.succeed()["reason"] == "UpToDate"
    mail = world.aws.outbox()[-1]
    assert f" OK orders: maintained, at {watermark}" in mail["Subject"]
    assert "Finished what" in mail.get_content()
    assert world.reports()[-1]["outcome"] == "maintained"
    made = world.snapshots()[len(merged) :]
    assert {one["tidemark.job"] for one in made} == {"maintain"}
    assert [one for one in made if "tidemark.watermark" in one] == []
    assert world.differences() == []

    world.work()
    world.set(maintain_days=1)
    assert world.tick(A_WEEK_AND_A_DAY)["status"] == "SUCCEEDED"
    merge, maintained = world.reports()[-2:]
    assert [merge["job"], maintained["job"]] == ["merge", "maintain"]
    assert maintained["watermark"] == world.watermark() > watermark
    # All but the newest that shows the table as it was a week ago, and what has put its files in order since.
    assert maintained["counts"]["snapshots_expired"] == len(merged) - 1
    assert maintained["counts"]["orphans_removed"] == 0
    assert world.differences() == []
    assert world.tick()["status"] == "SUCCEEDED"
    assert world.reports()[-1]["job"] == "merge"
