"""Mail: who gets which text."""

import json

import pytest

pytestmark = pytest.mark.local_aws


@pytest.fixture
def topic(aws) -> str:
    sns = aws.client("sns")
    arn = sns.create_topic(Name="topic")["TopicArn"]
    sns.subscribe(TopicArn=arn, Protocol="email", Endpoint="all@example.com")
    failures = json.dumps({"status": ["FAILED"]})
    sns.subscribe(
        TopicArn=arn, Protocol="email", Endpoint="failures@example.com", Attributes={"FilterPolicy": failures}
    )
    return arn


def _status(value: str) -> dict:
    return {"status": {"DataType": "String", "StringValue": value}}


def test_each_reader_gets_the_text_for_mail_and_filters_are_honoured(aws, topic):
    text = "Alles gut … 3 Zeilen\n" + "and one that is longer than any mail client of the last century liked " * 3
    message = json.dumps({"default": '{"status": "SUCCEEDED"}', "email": text})
    aws.client("sns").publish(
        TopicArn=topic,
        Subject="SUCCEEDED orders",
        Message=message,
        MessageStructure="json",
        MessageAttributes=_status("SUCCEEDED"),
    )
    aws.client("sns").publish(TopicArn=topic, Message="plain", MessageAttributes=_status("FAILED"))
    mails = aws.outbox()
    assert [(mail["To"], mail["Subject"]) for mail in mails] == [
        ("all@example.com", "SUCCEEDED orders"),
        ("all@example.com", "AWS Notification Message"),
        ("failures@example.com", "AWS Notification Message"),
    ]
    assert mails[0].get_content().rstrip() == text.rstrip()
    assert mails[1].get_content().strip() == "plain"


def test_a_mail_lies_there_readable(aws, topic):
    now = aws.advance(3600)
    aws.client("sns").publish(TopicArn=topic, Subject="FAILED orders", Message="Was ist los?\nÄrger.")
    (path,) = (aws.home / "outbox").glob("*.eml")
    assert path.name == "000001-failed-orders.eml"
    assert "Ärger." in path.read_text()
    assert now.strftime("%d %b %Y %H:%M") in path.read_text()


def test_a_task_publishes_with_attributes_and_structure(aws, account, topic):
    role = account.role("machine", "states", {"Action": "sns:Publish", "Resource": topic})
    arguments = {
        "TopicArn": topic,
        "Subject": "FAILED orders",
        "Message": {"default": "d", "email": "to the point"},
        "MessageStructure": "json",
        "MessageAttributes": _status("FAILED"),
    }
    task = {"Type": "Task", "Resource": "arn:aws:states:::sns:publish", "Arguments": arguments, "End": True}
    ended = account.run(account.machine({"Tell": task}, role))
    assert json.loads(ended["output"])["MessageId"]
    assert [mail["To"] for mail in aws.outbox()] == ["all@example.com", "failures@example.com"]
    assert aws.outbox()[1].get_content().strip() == "to the point"


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"Subject": "s" * 101}, "SNS.InvalidParameterException"),
        ({"Subject": "two\nlines"}, "SNS.InvalidParameterException"),
        ({"TopicArn": "arn:aws:sns:us-east-1:000000000000:none"}, "SNS.NotFoundException"),
    ],
)
def test_a_task_that_aws_would_refuse_fails(account, topic, wrong, error):
    role = account.role("machine", "states", {"Action": "sns:Publish", "Resource": "*"})
    arguments = {"TopicArn": topic, "Message": "m", **wrong}
    task = {"Type": "Task", "Resource": "arn:aws:states:::sns:publish", "Arguments": arguments, "End": True}
    assert account.run(account.machine({"Tell": task}, role))["error"] == error
