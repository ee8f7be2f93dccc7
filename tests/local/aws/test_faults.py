"""Faults on purpose: counted, named, aimed."""

import pytest
from botocore.exceptions import ClientError

from local.aws.faults import Faults, UnknownFault
from local.control import LocalAwsFailed


def test_only_the_call_meant_fails_and_everything_is_counted():
    faults = Faults()
    faults.set([{"name": "second put", "action": "ssm:PutParameter", "on_call": 2, "times": 2}])
    struck = [bool(faults.hit("ssm:PutParameter", None)) for _ in range(5)]
    assert struck == [False, True, True, False, False]
    assert faults.hit("ssm:GetParameter", None) is None
    described = faults.described()[0]
    assert (described["calls"], described["fired"]) == (5, 2)


def test_a_fault_for_one_role_leaves_the_others_alone():
    faults = Faults()
    faults.set([{"name": "planner only", "action": "ssm:GetParameter", "role": "plan"}])
    assert faults.hit("ssm:GetParameter", "notify") is None
    assert faults.hit("ssm:GetParameter", None) is None
    assert faults.hit("ssm:GetParameter", "plan")


@pytest.mark.parametrize(
    ("described", "says"),
    [
        ({"name": "n", "action": "ssm:PutParameter", "nth": 1}, "A fault has no nth"),
        ({"action": "ssm:PutParameter"}, "A fault has a name and an action; .*'name'"),
        ({"name": "n", "action": "PutParameter"}, "looks like ssm:PutParameter"),
        ({"name": "n", "action": "ssm:PutParameter", "kind": "crash"}, "kind is 'crash'"),
        ({"name": "n", "action": "ssm:PutParameter", "kind": "killed", "when": "then"}, "when is 'then'"),
        ({"name": "n", "action": "ssm:PutParameter", "when": "after"}, "is a reply_lost"),
        ({"name": "n", "action": "ssm:PutParameter", "on_call": 0}, "count from 1"),
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(described, says):
    with pytest.raises(UnknownFault, match=says):
        Faults().set([described])


def _put(aws, value):
    return aws.client("ssm").put_parameter(Name="/a", Value=value, Type="String", Overwrite=True)


@pytest.mark.local_aws
def test_an_error_is_answered_instead_of_the_service(aws):
    fault = {"name": "throttled", "action": "ssm:PutParameter", "code": "TooManyUpdates", "status": 400}
    aws.set_faults(fault)
    with pytest.raises(ClientError, match="TooManyUpdates"):
        _put(aws, "lost")
    _put(aws, "kept")
    assert aws.client("ssm").get_parameter(Name="/a")["Parameter"]["Version"] == 1
    assert [(one["name"], one["calls"], one["fired"]) for one in aws.faults()] == [("throttled", 2, 1)]


@pytest.mark.local_aws
def test_a_lost_reply_comes_after_the_side_effect(aws):
    aws.set_faults({"name": "reply lost", "action": "ssm:PutParameter", "kind": "reply_lost"})
    with pytest.raises(ClientError, match="InternalServerError"):
        _put(aws, "written all the same")
    assert aws.client("ssm").get_parameter(Name="/a")["Parameter"]["Value"] == "written all the same"


@pytest.mark.local_aws
@pytest.mark.parametrize(
    ("action", "call", "code"),
    [
        ("s3:CreateBucket", lambda aws: aws.client("s3").create_bucket(Bucket="b-1"), "SlowDown"),
        ("sns:CreateTopic", lambda aws: aws.client("sns").create_topic(Name="t"), "InternalFailure"),
        ("glue:GetDatabases", lambda aws: aws.client("glue").get_databases(), "OperationTimeoutException"),
        ("scheduler:ListSchedules", lambda aws: aws.client("scheduler").list_schedules(), "InternalServerException"),
    ],
)
def test_a_fault_speaks_the_protocol_of_its_service(aws, action, call, code):
    aws.set_faults({"name": "n", "action": action, "code": code})
    with pytest.raises(ClientError) as refused:
        call(aws)
    assert refused.value.response["Error"]["Code"] == code


@pytest.mark.local_aws
def test_a_refused_fault_changes_nothing(aws):
    aws.set_faults({"name": "n", "action": "ssm:PutParameter"})
    with pytest.raises(LocalAwsFailed, match="count from 1"):
        aws.set_faults({"name": "m", "action": "ssm:PutParameter", "times": 0})
    assert [one["name"] for one in aws.faults()] == ["n"]


PUT = """
    import boto3
    def handler(event, context):
        boto3.client("ssm").put_parameter(Name="/a", Value="b", Type="String", Overwrite=True)
        boto3.client("ssm").put_parameter(Name="/went", Value="on", Type="String", Overwrite=True)
        return "done"
"""
MAY_PUT = {"Action": "ssm:PutParameter", "Resource": "*"}
SOON = {"ErrorEquals": ["Runtime.ExitError", "Sandbox.Timedout", "States.Timeout"], "IntervalSeconds": 1}


def _machine(account, code=PUT, **task):
    """A state machine that calls a function and waits."""
    arn = account.function("f", code, account.role("f", "lambda", MAY_PUT))
    call = {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Arguments": {"FunctionName": arn, "Payload": {}},
        "TimeoutSeconds": 60,
        "Next": "Rest",
        **task,
    }
    states = {"Call": call, "Rest": {"Type": "Wait", "Seconds": 1, "Next": "End"}, "End": {"Type": "Succeed"}}
    return account.machine(states, account.role("m", "states", {"Action": "lambda:InvokeFunction", "Resource": arn}))


def _names(aws):
    return {one["Name"]: one["Version"] for one in aws.client("ssm").describe_parameters()["Parameters"]}


@pytest.mark.local_aws
@pytest.mark.parametrize(("when", "left"), [("before", {}), ("after", {"/a": 1})])
def test_a_function_is_killed_at_a_call_and_goes_no_further(aws, account, when, left):
    machine = _machine(account)
    aws.set_faults({"name": "n", "action": "ssm:PutParameter", "kind": "killed", "when": when, "role": "f"})
    ended = account.run(machine)
    assert (ended["status"], ended["error"]) == ("FAILED", "Runtime.ExitError")
    assert "signal: killed" in ended["cause"]
    assert _names(aws) == left


@pytest.mark.local_aws
def test_a_killed_function_is_tried_again_in_another_process(aws, account):
    machine = _machine(account, Retry=[SOON])
    aws.set_knobs(wait_scale=0.01)
    aws.set_faults({"name": "n", "action": "ssm:PutParameter", "kind": "killed", "when": "after"})
    assert account.run(machine)["status"] == "SUCCEEDED"
    assert _names(aws) == {"/a": 2, "/went": 1}


@pytest.mark.local_aws
@pytest.mark.parametrize(("when", "left"), [("before", {}), ("after", {"/a": 1})])
def test_the_execution_is_stopped_with_the_function_that_works_for_it(aws, account, when, left):
    machine = _machine(account, Retry=[SOON])
    aws.set_faults({"name": "n", "action": "ssm:PutParameter", "kind": "stopped", "when": when})
    assert account.run(machine)["status"] == "ABORTED"
    assert _names(aws) == left


@pytest.mark.local_aws
def test_a_call_that_is_held_up_is_answered_late_or_outlasts_its_function(aws, account):
    aws.set_knobs(wait_scale=0.01)
    machine = _machine(account)
    aws.set_faults({"name": "n", "action": "ssm:PutParameter", "kind": "delay", "seconds": 10})
    assert account.run(machine)["status"] == "SUCCEEDED"
    aws.set_faults({"name": "n", "action": "ssm:PutParameter", "kind": "delay", "seconds": 25})
    ended = account.run(machine)
    assert (ended["status"], ended["error"]) == ("FAILED", "Sandbox.Timedout")
    assert "Task timed out after 20.00 seconds" in ended["cause"]


@pytest.mark.local_aws
def test_only_calls_on_the_resource_meant_count(aws):
    aws.set_faults({"name": "n", "action": "ssm:PutParameter", "resource": "arn:aws:ssm:*:parameter/b*"})
    _put(aws, "kept")
    with pytest.raises(ClientError, match="InternalServerError"):
        aws.client("ssm").put_parameter(Name="/b", Value="lost", Type="String")
    assert [(one["calls"], one["fired"]) for one in aws.faults()] == [(1, 1)]


@pytest.mark.local_aws
def test_a_resource_that_a_form_names_counts_too(aws):
    sns = aws.client("sns")
    topics = [sns.create_topic(Name=name)["TopicArn"] for name in ("a", "b")]
    aws.set_faults({"name": "n", "action": "sns:Publish", "resource": topics[1], "code": "InternalError"})
    sns.publish(TopicArn=topics[0], Message="heard")
    with pytest.raises(ClientError, match="InternalError"):
        sns.publish(TopicArn=topics[1], Message="lost")


@pytest.mark.local_aws
@pytest.mark.parametrize(
    ("fault", "status", "versions"),
    [
        ({"action": "state:Call", "kind": "killed"}, "ABORTED", {}),
        ({"action": "state:Call", "kind": "stopped", "when": "after"}, "ABORTED", {"/a": 1, "/went": 1}),
        ({"action": "state:Rest", "kind": "killed"}, "ABORTED", {"/a": 1, "/went": 1}),
        ({"action": "state:Rest", "kind": "killed", "when": "after"}, "ABORTED", {"/a": 1, "/went": 1}),
        ({"action": "state:End", "kind": "killed"}, "ABORTED", {"/a": 1, "/went": 1}),
        ({"action": "state:Call", "code": "Lambda.ServiceException"}, "FAILED", {}),
        ({"action": "lambda:InvokeFunction", "code": "ServiceException"}, "FAILED", {}),
        ({"action": "state:Call", "kind": "delay", "seconds": 10}, "SUCCEEDED", {"/a": 1, "/went": 1}),
        ({"action": "state:Call", "kind": "delay", "seconds": 61}, "SUCCEEDED", {"/a": 1, "/went": 1}),
        ({"action": "state:Call", "kind": "delay", "seconds": 61, "when": "after"}, "SUCCEEDED", {"/a": 2, "/went": 2}),
        ({"action": "state:Rest", "kind": "delay", "seconds": 10}, "SUCCEEDED", {"/a": 1, "/went": 1}),
    ],
    ids=lambda value: " ".join(map(str, value.values())) if isinstance(value, dict) and "action" in value else "",
)
def test_a_state_is_struck_by_its_name(aws, account, fault, status, versions):
    machine = _machine(account, Retry=[SOON])
    aws.set_knobs(wait_scale=0.01)
    aws.set_faults({"name": "n", **fault})
    ended = account.run(machine)
    assert (ended["status"], _names(aws)) == (status, versions)
    assert [one["fired"] for one in aws.faults()] == [1]
    assert ended.get("error", "Lambda.ServiceException") == "Lambda.ServiceException"
