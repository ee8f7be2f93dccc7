"""Step Functions: how an execution ends, how long it waits, how much it may carry."""

import json
import random
from datetime import timedelta

import pytest
from botocore.exceptions import ClientError

from local.aws import states
from local.aws.states import _only_while_running

pytestmark = pytest.mark.local_aws

_DONE = {"Done": {"Type": "Succeed"}}
_ASKS = {"Action": "ssm:GetParameter", "Resource": "*"}
_FAILS = {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:ssm:getParameter", "Arguments": {"Name": "/none"}}
_A_LONG_TIME = 10**7
#: Instants are written in whole milliseconds.
_ROUNDED = timedelta(milliseconds=1)


def _wait(seconds: int) -> dict:
    return {"Wait": {"Type": "Wait", "Seconds": seconds, "Next": "Done"}, **_DONE}


def _asks_again(seconds: int, **retrier: int) -> dict:
    """A task that fails each time, and so many seconds after it tries again."""
    retry = {"ErrorEquals": ["States.ALL"], "IntervalSeconds": seconds, "BackoffRate": 1, "MaxAttempts": 100}
    return {"Ask": {**_FAILS, "Retry": [{**retry, **retrier}], "Next": "Done"}, **_DONE}


@pytest.fixture
def role(account):
    return account.role("states", "states", _ASKS)


def _events(aws, execution: str) -> list[dict]:
    return aws.client("stepfunctions").get_execution_history(executionArn=execution, maxResults=1000)["events"]


def _history(aws, execution: str) -> list[str]:
    return [event["type"] for event in _events(aws, execution)]


def _ended_while_time_passes(aws, account, execution: str, step: int) -> dict:
    """The execution once it has ended; so many virtual seconds pass from look to look."""

    def look() -> dict:
        aws.advance(step)
        return account.described(execution)

    return account.until(look, lambda found: found["status"] != "RUNNING", within=30)


def test_a_wait_ends_when_the_clock_is_moved_past_it_and_not_before(aws, account, role):
    execution = account.start(account.machine(_wait(36_000), role))
    assert _ended_while_time_passes(aws, account, execution, step=3600)["status"] == "SUCCEEDED"
    at = {event["type"]: event["timestamp"] for event in _events(aws, execution)}
    assert at["WaitStateExited"] - at["WaitStateEntered"] >= timedelta(seconds=36_000) - _ROUNDED


def test_waits_and_retries_are_scaled_by_the_knob(aws, account, role):
    aws.set_knobs(wait_scale=0.0)
    wait = {"Wait": {"Type": "Wait", "Seconds": _A_LONG_TIME, "Next": "Ask"}}
    machine = account.machine({**wait, **_asks_again(_A_LONG_TIME, MaxAttempts=3)}, role)
    # It ends at all.
    assert account.run(machine)["error"] == "Ssm.ParameterNotFound"


def test_a_stopped_execution_stays_aborted_and_asks_nothing_more(aws, account, role):
    execution = account.start(account.machine(_asks_again(600), role))
    account.until(lambda: _history(aws, execution), lambda events: "TaskFailed" in events)
    aws.client("stepfunctions").stop_execution(executionArn=execution, error="Killed", cause="by a test")
    asked = len(account.checks(role))

    def meanwhile() -> int:
        aws.advance(600)
        return _history(aws, another).count("TaskFailed")

    another = account.start(account.machine(_asks_again(600), account.role("other", "states", _ASKS), name="other"))
    account.until(meanwhile, lambda failed: failed >= 3)
    described = account.described(execution)
    assert (described["status"], described["error"]) == ("ABORTED", "Killed")
    assert _history(aws, execution)[-1] == "ExecutionAborted"
    assert len(account.checks(role)) == asked


def test_a_state_machine_times_out_by_the_virtual_clock_and_not_before(aws, account, role):
    execution = account.start(account.machine(_wait(_A_LONG_TIME), role, TimeoutSeconds=72_000))
    described = _ended_while_time_passes(aws, account, execution, step=7200)
    assert described["status"] == "TIMED_OUT"
    assert described["stopDate"] - described["startDate"] >= timedelta(seconds=72_000) - _ROUNDED


@pytest.fixture
def waits(monkeypatch):
    """What an execution waits for from try to try, in virtual seconds, by what takes MiniStack's place there."""
    slept = []
    monkeypatch.setattr(states, "sleep_virtually", slept.append)
    find = states._exact_delay(lambda retriers, _error, _tries: (retriers[0], 0))
    sleep = states._virtual_sleep(lambda _seconds: None)

    def waited(retrier: dict, times: int = 3) -> list[float]:
        for tried in range(times):
            find([retrier], "Wrong", {0: tried})
            sleep(60)  # what MiniStack would wait
        return slept

    return waited


@pytest.mark.parametrize(
    ("retrier", "seconds"),
    [
        pytest.param({}, [1, 2, 4], id="as AWS has it where nothing is said"),
        pytest.param({"IntervalSeconds": 40, "BackoffRate": 3}, [40, 120, 360], id="growing"),
        pytest.param({"IntervalSeconds": 40, "BackoffRate": 1, "JitterStrategy": "NONE"}, [40, 40, 40], id="even"),
        pytest.param({"IntervalSeconds": 1, "BackoffRate": 10, "MaxDelaySeconds": 20}, [1, 10, 20], id="capped"),
    ],
)
def test_retries_wait_as_long_as_on_aws(waits, retrier, seconds):
    assert waits(retrier) == seconds


def test_jittered_retries_wait_from_nothing_to_as_long(waits, monkeypatch):
    monkeypatch.setattr(states, "_jitter", random.Random(1))  # noqa: S311 - dice of a test
    found = waits({"IntervalSeconds": 3, "BackoffRate": 1, "JitterStrategy": "FULL"}, times=400)
    assert 0 <= min(found) < 0.1
    assert 2.9 < max(found) <= 3
    assert 1.4 < sum(found) / len(found) < 1.6


def test_a_wait_that_is_no_retry_s_is_as_long_as_it_says(waits):
    assert waits({"IntervalSeconds": 7}, times=1) == [7]
    states._virtual_sleep(lambda _seconds: None)(60)
    assert waits({}, times=0) == [7, 60]


def test_a_retry_waits_by_the_virtual_clock(aws, account, role):
    execution = account.start(account.machine(_asks_again(36_000, MaxAttempts=1), role))
    assert _ended_while_time_passes(aws, account, execution, step=3600)["status"] == "FAILED"
    first, second = (event["timestamp"] for event in _events(aws, execution) if event["type"] == "TaskFailed")
    assert second - first >= timedelta(seconds=36_000) - _ROUNDED


def test_the_same_name_and_input_of_a_running_execution_is_that_execution(account, role):
    machine = account.machine(_wait(_A_LONG_TIME), role)
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
    assert now - _ROUNDED <= described["startDate"] <= aws.now()
    assert json.loads(described["output"]).startswith(now.strftime("%Y-%m-%d"))


def test_a_failure_that_comes_after_the_end_changes_nothing():
    execution = {"status": "ABORTED"}
    _only_while_running(lambda execution, error, cause: execution.update(status="FAILED"))(execution, "Late", "")
    assert execution["status"] == "ABORTED"
