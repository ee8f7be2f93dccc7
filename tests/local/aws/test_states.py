"""Step Functions: how an execution ends, how long it waits, how much it may carry."""

import json
import time

import pytest
from botocore.exceptions import ClientError

from local.aws.states import _only_while_running

pytestmark = pytest.mark.local_aws

_DONE = {"Done": {"Type": "Succeed"}}
_FAILS = {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:ssm:getParameter", "Arguments": {"Name": "/none"}}


def _wait(seconds: int) -> dict:
    return {"Wait": {"Type": "Wait", "Seconds": seconds, "Next": "Done"}, **_DONE}


@pytest.fixture
def role(account):
    return account.role("states", "states", {"Action": "ssm:GetParameter", "Resource": "*"})


def _history(aws, execution: str) -> list[str]:
    events = aws.client("stepfunctions").get_execution_history(executionArn=execution, maxResults=1000)["events"]
    return [event["type"] for event in events]


def test_a_wait_ends_when_the_clock_is_moved_past_it(aws, account, role):
    execution = account.start(account.machine(_wait(3600), role))
    time.sleep(0.5)
    assert account.described(execution)["status"] == "RUNNING"
    aws.advance(3600)
    assert account.ended(execution, within=30)["status"] == "SUCCEEDED"


def test_waits_and_retries_are_scaled_by_the_knob(aws, account, role):
    aws.set_knobs(wait_scale=0.0)
    retry = {"Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 60, "MaxAttempts": 3}]}
    machine = account.machine(
        {"Wait": {"Type": "Wait", "Seconds": 600, "Next": "Ask"}, "Ask": {**_FAILS, **retry, "End": True}}, role
    )
    began = time.monotonic()
    assert account.run(machine)["error"] == "Ssm.ParameterNotFound"
    assert time.monotonic() - began < 300


def test_a_stopped_execution_stays_aborted_and_asks_nothing_more(aws, account, role):
    retry = {"Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "BackoffRate": 1, "MaxAttempts": 100}]}
    execution = account.start(account.machine({"Ask": {**_FAILS, **retry, "Next": "Done"}, **_DONE}, role))
    account.until(lambda: _history(aws, execution), lambda events: "TaskFailed" in events)
    aws.client("stepfunctions").stop_execution(executionArn=execution, error="Killed", cause="by a test")
    asked = len(account.checks(role))
    time.sleep(1.5)
    described = account.described(execution)
    assert (described["status"], described["error"]) == ("ABORTED", "Killed")
    assert _history(aws, execution)[-1] == "ExecutionAborted"
    assert len(account.checks(role)) == asked


def test_a_state_machine_times_out_by_the_virtual_clock(aws, account, role):
    execution = account.start(account.machine(_wait(100_000), role, TimeoutSeconds=7200))
    aws.advance(7100)
    time.sleep(0.3)
    assert account.described(execution)["status"] == "RUNNING"
    aws.advance(101)
    assert account.ended(execution, within=30)["status"] == "TIMED_OUT"


@pytest.mark.parametrize(
    ("retrier", "seconds"),
    [
        pytest.param(
            {"IntervalSeconds": 1, "BackoffRate": 10, "MaxDelaySeconds": 2, "MaxAttempts": 3}, (4.5, 60), id="capped"
        ),
        pytest.param(
            {"IntervalSeconds": 3, "BackoffRate": 1, "JitterStrategy": "FULL", "MaxAttempts": 3},
            (0, 60),  # from nothing to nine seconds, as the dice fall
            id="jittered",
        ),
        pytest.param(
            {"IntervalSeconds": 1, "BackoffRate": 2, "MaxAttempts": 2, "JitterStrategy": "NONE"},
            (2.5, 60),
            id="growing",
        ),
    ],
)
def test_retries_wait_as_long_as_on_aws(aws, account, role, retrier, seconds):
    states = {"Ask": {**_FAILS, "Retry": [{"ErrorEquals": ["States.ALL"], **retrier}], "End": True}}
    machine = account.machine(states, role)
    began = time.monotonic()
    assert account.run(machine)["status"] == "FAILED"
    assert seconds[0] <= time.monotonic() - began <= seconds[1]


def test_the_same_name_and_input_of_a_running_execution_is_that_execution(account, role):
    machine = account.machine(_wait(60), role)
    first = account.start(machine, {"a": 1}, name="one")
    assert account.start(machine, {"a": 1}, name="one") == first
    with pytest.raises(ClientError, match="ExecutionAlreadyExists"):
        account.start(machine, {"a": 2}, name="one")


def test_the_name_of_an_ended_execution_is_taken(account, role):
    machine = account.machine(_DONE, role)
    account.ended(account.start(machine, name="one"))
    with pytest.raises(ClientError, match="ExecutionAlreadyExists"):
        account.start(machine, name="one")


_DOUBLE = {"Type": "Pass", "Output": "{% $states.input.text & $states.input.text %}"}


def test_a_payload_of_256_kib_is_too_much_and_states_all_does_not_catch_it(account, role):
    inner = {"StartAt": "Double", "States": {"Double": {**_DOUBLE, "End": True}}}
    caught = {"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Done"}]}
    mapped = {"Type": "Map", "Items": "{% [$states.input] %}", "ItemProcessor": inner, "Next": "Done", **caught}
    machine = account.machine({"Map": mapped, **_DONE}, role)
    # The quotes of the text and the brackets of the list count too.
    assert account.run(machine, {"text": "x" * 131_070})["status"] == "SUCCEEDED"
    assert account.run(machine, {"text": "x" * 131_072})["error"] == "States.DataLimitExceeded"


def test_a_loop_without_end_meets_the_limit_of_events(account, role):
    machine = account.machine(
        {"Again": {"Type": "Pass", "Next": "And"}, "And": {"Type": "Pass", "Next": "Again"}}, role
    )
    described = account.ended(account.start(machine), within=60)
    assert (described["status"], described["error"]) == ("FAILED", "States.Runtime")
    assert "25000" in described["cause"]


def test_states_inside_a_map_count_as_events(aws, account, role):
    inner = {"StartAt": "Pass", "States": {"Pass": {"Type": "Pass", "End": True}}}
    machine = account.machine({"Map": {"Type": "Map", "Items": [1, 2], "ItemProcessor": inner, "End": True}}, role)
    execution = account.start(machine)
    assert account.ended(execution)["output"] == "[1, 2]"
    assert _history(aws, execution).count("PassStateEntered") == 2


def test_a_runtime_error_cannot_be_caught(account, role):
    unknown = {"Type": "Task", "Resource": "arn:aws:states:::nothing:atAll", "Arguments": {}, "Next": "Done"}
    caught = {"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Done"}]}
    assert account.run(account.machine({"Ask": {**unknown, **caught}, **_DONE}, role))["error"] == "States.Runtime"


def test_times_in_an_execution_are_virtual(aws, account, role):
    now = aws.advance(86_400 * 30)
    described = account.run(
        account.machine(
            {"Say": {"Type": "Pass", "Output": "{% $states.context.Execution.StartTime %}", "End": True}}, role
        )
    )
    assert abs((described["startDate"] - now).total_seconds()) < 5
    assert json.loads(described["output"]).startswith(now.strftime("%Y-%m-%d"))


def test_a_failure_that_comes_after_the_end_changes_nothing():
    execution = {"status": "ABORTED"}
    _only_while_running(lambda execution, error, cause: execution.update(status="FAILED"))(execution, "Late", "")
    assert execution["status"] == "ABORTED"
