"""The whole account, kept and put back."""

import time

import pytest

from local.control import LocalAws

pytestmark = pytest.mark.local_aws


def _seen(aws) -> dict:
    s3 = aws.client("s3")
    buckets = [one["Name"] for one in s3.list_buckets()["Buckets"]]
    return {
        "parameters": [one["Name"] for one in aws.client("ssm").describe_parameters()["Parameters"]],
        "objects": {name: s3.get_object(Bucket=name, Key="k")["Body"].read() for name in buckets},
        "mails": [mail["Subject"] for mail in aws.outbox()],
        "roles": len(aws.client("iam").list_roles()["Roles"]),
        "tables": aws.client("dynamodb").list_tables()["TableNames"],
    }


def _change(aws, account, name: str) -> None:
    aws.client("ssm").put_parameter(Name=f"/{name}", Value="v", Type="String")
    aws.client("s3").create_bucket(Bucket=name)
    aws.client("s3").put_object(Bucket=name, Key="k", Body=name.encode())
    topic = aws.client("sns").create_topic(Name=name)["TopicArn"]
    aws.client("sns").subscribe(TopicArn=topic, Protocol="email", Endpoint="a@example.com")
    aws.client("sns").publish(TopicArn=topic, Subject=name, Message="m")
    account.role(name, "lambda")
    aws.client("dynamodb").create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )


@pytest.fixture
def own(tmp_path):
    """A process of this test's own: it takes snapshots, which would replace the session's."""
    aws = LocalAws.start(tmp_path)
    yield aws
    aws.stop()


def test_everything_is_as_it_was_as_often_as_one_likes(own, make_account):
    account = make_account(own)
    _change(own, account, "kept")
    own.set_knobs(export_seconds=5.0)
    before, now = _seen(own), own.now()
    own.snapshot()
    for name in ("lost-1", "lost-2"):
        _change(own, account, name)
        own.advance(10_000)
        own.set_knobs(export_seconds=9.0)
        own.set_faults({"name": "n", "action": "ssm:PutParameter"})
        own.restore()
        assert _seen(own) == before
        assert own.set_knobs()["export_seconds"] == 5.0
        assert own.faults() == []
        assert (own.now() - now).total_seconds() < 60


def test_what_runs_is_stopped_before(own, make_account):
    account = make_account(own)
    machine = account.machine(
        {"Wait": {"Type": "Wait", "Seconds": 9999, "End": True}}, account.role("machine", "states")
    )
    own.snapshot()
    account.start(machine)
    began = time.monotonic()
    own.restore()
    assert time.monotonic() - began < 300
    assert own.client("stepfunctions").list_executions(stateMachineArn=machine)["executions"] == []
