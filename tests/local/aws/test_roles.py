"""Every role is evaluated, and every check is written down."""

import json

import pytest
from botocore.exceptions import ClientError

pytestmark = pytest.mark.local_aws

_TABLE_ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/source"


def _run_task(account, resource, arguments, *allowed, service="states"):
    role = account.role("machine", service, *allowed)
    states = {"Do": {"Type": "Task", "Resource": resource, "Arguments": arguments, "End": True}}
    return account.run(account.machine(states, role)), account.checks("machine")


def _topic(aws) -> str:
    return aws.client("sns").create_topic(Name="topic")["TopicArn"]


def test_a_function_is_invoked_only_by_a_role_that_may(account):
    arn = account.function("hello", "def handler(event, context): return 'hi'", account.role("f", "lambda"))
    invoke = ("arn:aws:states:::lambda:invoke", {"FunctionName": arn, "Payload": {}})
    ended, checks = _run_task(account, *invoke)
    assert (ended["status"], ended["error"]) == ("FAILED", "Lambda.AWSLambdaException")
    assert "is not authorized to perform: lambda:InvokeFunction on resource: " + arn in ended["cause"]
    assert checks == [("lambda:InvokeFunction", arn, False)]


def test_a_function_is_invoked_by_name_as_by_arn(account):
    arn = account.function("hello", "def handler(event, context): return 'hi'", account.role("f", "lambda"))
    right = {"Action": "lambda:InvokeFunction", "Resource": arn}
    ended, checks = _run_task(account, "arn:aws:states:::lambda:invoke", {"FunctionName": "hello"}, right)
    assert json.loads(ended["output"])["Payload"] == "hi"
    assert checks == [("lambda:InvokeFunction", arn, True)]


def test_publishing_needs_a_right_on_the_topic(aws, account):
    topic = _topic(aws)
    task = ("arn:aws:states:::sns:publish", {"TopicArn": topic, "Message": "m"})
    ended, _ = _run_task(account, *task, {"Action": "sns:Publish", "Resource": topic + "-other"})
    assert ended["error"] == "SNS.AuthorizationErrorException"


@pytest.mark.parametrize("allowed", [True, False])
def test_an_sdk_task_is_evaluated_on_the_right_resource(aws, account, allowed):
    aws.client("dynamodb").create_table(
        TableName="source",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    right = {"Action": "dynamodb:DescribeContinuousBackups", "Resource": _TABLE_ARN if allowed else _TABLE_ARN + "2"}
    resource = "arn:aws:states:::aws-sdk:dynamodb:describeContinuousBackups"
    ended, checks = _run_task(account, resource, {"TableName": "source"}, right)
    assert checks == [("dynamodb:DescribeContinuousBackups", _TABLE_ARN, allowed)]
    assert ended.get("error") == (None if allowed else "DynamoDb.AccessDeniedException")


def test_a_role_that_does_not_trust_step_functions_is_of_no_use(aws, account):
    topic = _topic(aws)
    task = ("arn:aws:states:::sns:publish", {"TopicArn": topic, "Message": "m"})
    ended, _ = _run_task(account, *task, {"Action": "sns:Publish", "Resource": topic}, service="lambda")
    assert "sts:AssumeRole" in ended["cause"]


_MACHINE = "arn:aws:states:us-east-1:000000000000:stateMachine:"


@pytest.mark.parametrize(
    ("only", "trusted"),
    [
        ({"StringEquals": {"aws:SourceAccount": "000000000000"}}, True),
        ({"StringEquals": {"aws:SourceAccount": "111122223333"}}, False),
        ({"ArnLike": {"aws:SourceArn": f"{_MACHINE}*"}}, True),
        ({"ArnLike": {"aws:SourceArn": f"{_MACHINE}another"}}, False),
    ],
)
def test_a_role_is_for_the_account_and_the_source_that_it_names(aws, account, only, trusted):
    topic = _topic(aws)
    role = account.role("machine", "states", {"Action": "sns:Publish", "Resource": topic}, only=only)
    task = {"Resource": "arn:aws:states:::sns:publish", "Arguments": {"TopicArn": topic, "Message": "m"}}
    ended = account.run(account.machine({"Do": {"Type": "Task", **task, "End": True}}, role))
    assert ended["status"] == ("SUCCEEDED" if trusted else "FAILED")
    assert trusted or "sts:AssumeRole" in ended["cause"]


_JOB = "arn:aws:states:::emr-serverless:startJobRun.sync"
_RULE = "arn:aws:events:us-east-1:000000000000:rule/StepFunctionsGetEventsForEMRServerlessJobRule"
_APPLICATION = "arn:aws:emr-serverless:us-east-1:000000000000:/applications/00none"
_JOB_ROLE = "arn:aws:iam::000000000000:role/job"
_JOB_RIGHTS = [
    {"Action": "emr-serverless:StartJobRun", "Resource": _APPLICATION},
    {
        "Action": "iam:PassRole",
        "Resource": _JOB_ROLE,
        "Condition": {"StringEquals": {"iam:PassedToService": "emr-serverless.amazonaws.com"}},
    },
    {"Action": ["emr-serverless:GetJobRun", "emr-serverless:CancelJobRun"], "Resource": _APPLICATION + "/jobruns/*"},
    {"Action": ["events:PutTargets", "events:PutRule", "events:DescribeRule"], "Resource": _RULE},
]


@pytest.mark.parametrize("missing", range(len(_JOB_RIGHTS)))
def test_a_job_run_needs_all_the_rights_aws_asks_for(account, missing):
    rights = [right for number, right in enumerate(_JOB_RIGHTS) if number != missing]
    arguments = {"ApplicationId": "00none", "ExecutionRoleArn": _JOB_ROLE, "JobDriver": {}}
    ended, checks = _run_task(account, _JOB, arguments, *rights)
    assert ended["error"] == "EMRServerless.AccessDeniedException"
    refused = [action for action, _, allowed in checks if not allowed]
    assert refused
    assert refused[0] in _JOB_RIGHTS[missing]["Action"]


def test_the_role_passed_to_another_service_is_refused(account):
    elsewhere = {**_JOB_RIGHTS[1], "Condition": {"StringEquals": {"iam:PassedToService": "glue.amazonaws.com"}}}
    arguments = {"ApplicationId": "00none", "ExecutionRoleArn": _JOB_ROLE, "JobDriver": {}}
    _, checks = _run_task(account, _JOB, arguments, _JOB_RIGHTS[0], elsewhere, *_JOB_RIGHTS[2:])
    assert checks[-1] == ("iam:PassRole", _JOB_ROLE, False)


def test_a_function_acts_with_its_own_role_and_both_sides_are_logged(aws, account):
    aws.client("ssm").put_parameter(Name="/app/one", Value="1", Type="String")
    one = "arn:aws:ssm:us-east-1:000000000000:parameter/app/one"
    role = account.role("reader", "lambda", {"Action": "ssm:GetParameter", "Resource": one})
    code = """
        import boto3
        def handler(event, context):
            return boto3.client("ssm").get_parameter(Name=event["name"])["Parameter"]["Value"]
    """
    account.function("reader", code, role)
    payloads = []
    for name in ("/app/one", "/app/two"):
        answer = aws.client("lambda").invoke(FunctionName="reader", Payload=json.dumps({"name": name}))
        payloads.append(json.loads(answer["Payload"].read()))
    assert payloads[0] == "1"
    assert payloads[1]["errorType"] == "AccessDeniedException"
    checks = account.checks(role)
    assert ("ssm:GetParameter", one, True) in checks
    assert ("ssm:GetParameter", one.replace("one", "two"), False) in checks


def test_glue_is_evaluated_on_catalog_database_and_table(aws, account):
    glue = aws.client("glue")
    glue.create_database(DatabaseInput={"Name": "lake"})
    glue.create_table(DatabaseName="lake", TableInput={"Name": "orders"})
    arn = "arn:aws:glue:us-east-1:000000000000:"
    all_three = [arn + "table/lake/orders", arn + "database/lake", arn + "catalog"]
    code = """
        import boto3
        def handler(event, context):
            return boto3.client("glue").get_table(DatabaseName="lake", Name="orders")["Table"]["Name"]
    """
    for name, resources in (("whole", all_three), ("torso", all_three[:2])):
        account.function(name, code, account.role(name, "lambda", {"Action": "glue:GetTable", "Resource": resources}))
    payloads = {
        name: json.loads(aws.client("lambda").invoke(FunctionName=name)["Payload"].read())
        for name in ("whole", "torso")
    }
    assert payloads["whole"] == "orders"
    assert "AccessDenied" in payloads["torso"]["errorMessage"]
    assert [check[1:] for check in account.checks("whole") if check[0] == "glue:GetTable"] == [
        (resource, True) for resource in all_three
    ]


def test_a_policy_that_denies_plain_http_does_not_hit_us(aws, account):
    s3 = aws.client("s3")
    s3.create_bucket(Bucket="lake")
    deny = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": ["arn:aws:s3:::lake", "arn:aws:s3:::lake/*"],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    s3.put_bucket_policy(Bucket="lake", Policy=json.dumps({"Version": "2012-10-17", "Statement": [deny]}))
    code = """
        import boto3
        from botocore.config import Config
        def handler(event, context):
            s3 = boto3.client("s3", config=Config(s3={"addressing_style": "path"}))
            s3.put_object(Bucket="lake", Key="k", Body=b"x")
            return "written"
    """
    right = {"Action": "s3:PutObject", "Resource": "arn:aws:s3:::lake/*"}
    account.function("f", code, account.role("f", "lambda", right))
    assert json.loads(aws.client("lambda").invoke(FunctionName="f")["Payload"].read()) == "written"


def test_enforcement_can_be_switched(aws, account):
    topic = _topic(aws)
    aws.set_auth(False)
    try:
        ended, _ = _run_task(account, "arn:aws:states:::sns:publish", {"TopicArn": topic, "Message": "m"})
        assert ended["status"] == "SUCCEEDED"
    finally:
        aws.set_auth(True)


def test_an_unknown_key_is_refused(aws):
    import boto3

    stranger = boto3.Session().client(
        "ssm",
        endpoint_url=aws.endpoint,
        region_name="us-east-1",
        aws_access_key_id="AKIASTRANGER",
        aws_secret_access_key="x",  # noqa: S106 - nobody's
    )
    with pytest.raises(ClientError, match="UnrecognizedClientException"):
        stranger.describe_parameters()
