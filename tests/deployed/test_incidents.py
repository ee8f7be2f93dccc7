"""Mails of a schedule that fails, on the deployed state machine: one when it begins or changes, one when it is over."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.local_aws, pytest.mark.deployed]


def subjects(world):
    return [mail["Subject"].removeprefix("[Tidemark] ") for mail in world.aws.outbox()]


def told(world):
    """The parameter's version counts how often it was written."""
    found = world.aws.client("ssm").get_parameters(Names=[world.path("told")])["Parameters"]
    return found[0]["Version"] if found else 0


@pytest.mark.spark
def test_a_failure_is_mailed_once_its_change_once_and_its_end_once(world):
    watermark = world.bootstrap()
    mails, writes = len(world.aws.outbox()), told(world)

    world.write("control", "pause")
    assert [world.tick()["error"] for _ in range(3)] == ["ControlUnknown"] * 3
    assert subjects(world)[mails:] == ["FAILED orders: ControlUnknown"]
    assert told(world) == writes + 1

    # The other table's run asks as well, and perhaps first.
    denied = {"code": "AccessDeniedException", "status": 400, "times": 100}
    world.aws.set_faults({"name": "glue", "action": "glue:GetTable", **denied})
    assert world.tick()["error"] == "PermissionMissing"
    world.aws.set_faults()
    text = world.aws.outbox()[-1].get_content()
    assert "Told before: ControlUnknown in Plan." in text
    assert "History would be lost in 34 days" in text, "a run without a plan looks for itself"

    world.write("control", "RUN")
    world.work()
    world.aws.set_knobs(export_failure_code="UNKNOWN")
    assert world.tick()["error"] == "ExportFailed"
    assert subjects(world)[mails + 1 :] == ["FAILED orders: PermissionMissing", "FAILED orders: ExportFailed"]

    assert world.tick()["status"] == "SUCCEEDED"
    # What had failed, the all-clear, and the window that has closed since.
    _, over, _ = ends = world.aws.outbox()[mails + 3 :]
    assert [mail["Subject"].split(":")[0] for mail in ends] == [
        "[Tidemark] OK orders",
        "[Tidemark] ALL CLEAR orders",
        "[Tidemark] OK orders",
    ]
    text = over.get_content()
    assert "ControlUnknown in Plan" in text
    assert f"of history, from {watermark} to " in text
    assert told(world) == writes + 5, "three failures, and the all-clear before and after its mail"
    assert world.differences() == []


def test_a_person_s_failing_run_is_mailed_each_time(world):
    world.write("control", "pause")
    for _ in range(2):
        world.fail("ControlUnknown")
    assert told(world) == 0


@pytest.mark.spark
def test_history_that_runs_out_is_warned_of_while_paused_until_caught_up_and_the_days_are_summed_up(world):
    # From some time after noon, so that the day ends while the table is paused.
    world.pass_minutes((12 - world.aws.now().hour) % 24 * 60)
    world.set(success_mail="daily")
    period = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 1}
    world.aws.client("dynamodb").update_continuous_backups(TableName="orders", PointInTimeRecoverySpecification=period)
    world.load_orders()
    day, mails = world.watermark()[:10], len(world.aws.outbox())
    world.write("control", "PAUSE")

    for hours in (13, 1, 5, 1, 2):  # 54, 58, 79, 83 and 92 % of a day
        assert world.tick(hours * 60)["status"] == "SUCCEEDED"

    warnings = world.aws.outbox()[mails:]
    assert [mail["Subject"].split(":")[0] for mail in warnings] == ["[Tidemark] WARNING orders"] * 3
    assert {mail["To"] for mail in warnings} == {"on-call@example.com"}
    assert "set it to RUN to go on" in warnings[0].get_content()

    world.write("control", "RUN")
    world.remove_reports()  # a digest needs none
    assert world.tick()["status"] == "SUCCEEDED"
    all_clear, digest = subjects(world)[mails + 3 :]
    assert all_clear == "ALL CLEAR orders: history is safe again"
    assert digest == f"OK orders: {day}, 1 run, 60 records", "the load; what has caught up belongs to the day after"
    assert world.differences() == []
