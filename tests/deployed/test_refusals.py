"""Bad input and unfit sources on the deployed state machine: one named error, one mail, the table as it was."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.local_aws, pytest.mark.deployed]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        pytest.param({"tabel": "orders"}, 'unknown field "tabel"', id="an unknown field"),
        pytest.param({"table": "nothing"}, "configured are ledger, orders", id="a table that is not configured"),
    ],
)
def test_a_wrong_input_is_refused_with_what_is_allowed(world, asked, says):
    assert says in world.fail("InputRefused", **asked)


def test_a_control_value_that_is_neither_run_nor_pause_is_refused(world):
    control = "/tidemark/Tidemark/orders/control"
    world.aws.client("ssm").put_parameter(Name=control, Value="pause", Type="String", Overwrite=True)
    text = world.fail("ControlUnknown")
    assert "control is 'pause'; allowed are RUN and PAUSE" in text
    assert f"aws ssm put-parameter --region us-east-1 --overwrite --type String --name {control} --value RUN" in text


def test_a_paused_table_is_left_alone_and_who_asks_for_more_is_told(world):
    control = "/tidemark/Tidemark/orders/control"
    world.aws.client("ssm").put_parameter(Name=control, Value="PAUSE", Type="String", Overwrite=True)
    assert world.succeed()["reason"] == "Paused"
    text = world.fail("TablePaused", mode="full")
    assert f"aws ssm put-parameter --region us-east-1 --overwrite --type String --name {control} --value RUN" in text
    assert """Then ask again for what was not done: aws stepfunctions start-execution""" in text
    assert not world.exports()


def test_a_source_without_recovery_is_a_halt(world):
    off = {"PointInTimeRecoveryEnabled": False}
    dynamodb = world.aws.client("dynamodb")
    dynamodb.update_continuous_backups(TableName="orders", PointInTimeRecoverySpecification=off)
    text = world.fail("PitrOff")
    assert "aws dynamodb update-continuous-backups --region us-east-1 --table-name orders" in text


def test_a_source_that_is_gone_is_a_halt(world):
    world.aws.client("dynamodb").delete_table(TableName="orders")
    assert "does not exist" in world.fail("TableNotFound")


@pytest.mark.spark
def test_a_source_created_anew_is_a_halt_until_a_person_asks_for_a_full_reload(world):
    from local.workload import Shop, create_table

    watermark = world.bootstrap()
    world.aws.client("dynamodb").delete_table(TableName="orders")
    create_table(world.aws.client("dynamodb"), "orders")
    world.shop = Shop(world.aws.client("dynamodb"), "orders", seed=8)
    world.shop.open_orders(10)
    world.pass_minutes(30)
    assert '"mode":"full"' in world.fail("TableRecreated")
    assert world.watermark() == watermark
    world.succeed(mode="full")
    assert world.differences() == []


def test_an_export_that_dynamodb_gives_up_on_is_named_after_its_code(world):
    world.shop.open_orders(5)
    world.pass_minutes(30)
    world.aws.set_knobs(export_failure_code="S3AccessDenied")
    assert "S3AccessDenied" in world.fail("ExportAccessDenied")
    assert world.watermark() == ""


@pytest.mark.parametrize("table", ["orders", "ledger"])
def test_an_export_that_dynamodb_refuses_is_named_after_a_look_at_the_source(world, table):
    one = world if table == world.table else world.beside(table)
    world.pass_minutes(60)
    refusal = {"code": "InvalidExportTimeException", "status": 400, "message": "no such time", "times": 9}
    world.aws.set_faults({"name": "no", "action": "dynamodb:ExportTableToPointInTime", **refusal})

    ended = one.run()

    assert (ended["status"], ended["error"]) == ("FAILED", "ExportRefused"), ended["cause"]
    assert "no such time" in ended["cause"]
    assert (one.exports(), one.watermark()) == ([], "")
