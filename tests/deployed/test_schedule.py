"""The schedule: it starts the runs, and what it could not deliver is kept for whoever looks into it."""

from __future__ import annotations

import json

import pytest

pytestmark = [pytest.mark.local_aws, pytest.mark.spark, pytest.mark.deployed]


def test_a_tick_that_cannot_be_delivered_is_kept_and_the_next_one_does_its_work(world):
    world.shop.open_orders(20)
    world.pass_minutes(40)
    world.aws.set_faults(
        {
            "name": "gone",
            "action": "states:StartExecution",
            "code": "StateMachineDoesNotExist",
            "status": 400,
            "times": 2,
        }
    )
    world.aws.tick()
    assert world.deployed.executions() == []
    kept = dead_letters(world)
    assert sorted(json.loads(letter["Body"])["table"] for letter in kept) == ["ledger", "orders"]
    assert {letter["MessageAttributes"]["ERROR_CODE"]["StringValue"] for letter in kept} == {"StateMachineDoesNotExist"}

    world.pass_minutes(15)
    world.aws.tick()

    started = [world.deployed.wait(execution) for execution in world.deployed.executions()]
    (orders,) = [run for run in started if json.loads(run["input"])["table"] == "orders"]
    assert orders["status"] == "SUCCEEDED"
    assert world.differences() == []


def dead_letters(world):
    """What lies in the queue of ticks that could not be delivered."""
    resources = world.aws.client("cloudformation").describe_stack_resources(StackName=world.deployed.stack_name)
    (name,) = [r["PhysicalResourceId"] for r in resources["StackResources"] if r["ResourceType"] == "AWS::SQS::Queue"]
    sqs = world.aws.client("sqs")
    url = name if name.startswith("http") else sqs.get_queue_url(QueueName=name)["QueueUrl"]
    return sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"])["Messages"]
