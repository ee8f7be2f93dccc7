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
        ({"name": "n", "action": "PutParameter"}, "looks like ssm:PutParameter"),
        ({"name": "n", "action": "ssm:PutParameter", "kind": "crash"}, "kind is 'crash'"),
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
