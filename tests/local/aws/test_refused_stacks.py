"""Stacks that AWS would refuse."""

import pytest

from tests.local.aws.stacks import deploy, reasons

pytestmark = pytest.mark.local_aws


def _policy(resources: int) -> dict:
    """A policy of some 80 characters for each resource."""
    named = [f"arn:aws:s3:::{'b' * 50}/{n:010}" for n in range(resources)]
    return {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": named}],
    }


def _role(**more: object) -> tuple[str, dict]:
    return "AWS::IAM::Role", {"RoleName": "r", "AssumeRolePolicyDocument": _TRUST, **more}


def _mail_to(endpoint: str) -> dict:
    subscription = {"TopicArn": {"Ref": "T"}, "Protocol": "email", "Endpoint": endpoint}
    return {"T": ("AWS::SNS::Topic", {}), "S": ("AWS::SNS::Subscription", subscription)}


def _managed(count: int, size: int = 1, **more: object) -> dict:
    """So many managed policies, with so many resources each, and a role that has them."""
    policies = {f"P{n}": ("AWS::IAM::ManagedPolicy", {"PolicyDocument": _policy(size)}) for n in range(count)}
    return {**policies, "R": _role(ManagedPolicyArns=[{"Ref": name} for name in policies], **more)}


_TRUST = {
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}]
}


@pytest.mark.parametrize(
    ("resources", "says"),
    [
        pytest.param(
            {"P": ("AWS::SSM::Parameter", {"Type": "String", "Value": "v" * 4097})},
            "4096 characters",
            id="a long parameter",
        ),
        pytest.param(
            {"P": ("AWS::SSM::Parameter", {"Type": "String", "Value": "{{x}}"})},
            "nest another",
            id="braces in a parameter",
        ),
        pytest.param(
            {"S": ("AWS::Scheduler::Schedule", {"Name": "n" * 65, "ScheduleExpression": "rate(1 hour)"})},
            "at 'name'",
            id="a long schedule name",
        ),
        pytest.param(
            {"D": ("AWS::Glue::Database", {"DatabaseInput": {"Name": ""}})},
            "at 'databaseInput.name'",
            id="a database without name",
        ),
        pytest.param(
            {
                "R": _role(),
                "P": ("AWS::IAM::Policy", {"PolicyName": "p", "Roles": [{"Ref": "R"}], "PolicyDocument": _policy(140)}),
            },
            "Maximum policy size of 10240",
            id="a large inline policy beside its role",
        ),
        pytest.param(
            {"R": _role(Policies=[{"PolicyName": name, "PolicyDocument": _policy(70)} for name in ("a", "b")])},
            "Maximum policy size of 10240",
            id="inline policies of a role, too large together",
        ),
        pytest.param(_managed(1, size=80), "PolicySize: 6144", id="a large managed policy"),
        pytest.param(_managed(11), "PoliciesPerRole: 10", id="a role of many managed policies"),
        pytest.param(_mail_to("no address"), "Invalid parameter: Email address", id="mail to no address"),
    ],
)
def test_what_aws_would_refuse_fails_the_stack(aws, account, resources, says):
    assert deploy(aws, account, resources)["StackStatus"].startswith("ROLLBACK")
    assert says in reasons(aws)


def test_as_much_as_aws_takes_is_taken(aws, account):
    inline = [{"PolicyName": name, "PolicyDocument": _policy(60)} for name in ("a", "b")]
    large = ("AWS::IAM::ManagedPolicy", {"PolicyDocument": _policy(70)})
    resources = {**_managed(10, Policies=inline), "L": large, **_mail_to("a@example.com")}
    assert deploy(aws, account, resources)["StackStatus"] == "CREATE_COMPLETE", reasons(aws)
