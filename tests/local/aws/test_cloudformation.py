"""Stacks: what MiniStack ignores is done, what AWS refuses is refused."""

import pytest

from tests.local.aws.stacks import deploy, reasons

pytestmark = pytest.mark.local_aws


_TABLE = {
    "TableName": "source",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.mark.parametrize("kind", ["AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable"])
def test_point_in_time_recovery_is_switched_on_and_off(aws, account, kind):
    for verb, wanted, expected in (
        ("create_stack", {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7}, ("ENABLED", 7)),
        ("update_stack", {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": "8"}, ("ENABLED", 8)),
        ("update_stack", {"PointInTimeRecoveryEnabled": False}, ("DISABLED", None)),
    ):
        recovery = {"PointInTimeRecoverySpecification": wanted}
        table = _TABLE | ({"Replicas": [{"Region": "us-east-1", **recovery}]} if "Global" in kind else recovery)
        deploy(aws, account, {"Table": (kind, table)}, verb=verb)
        found = aws.client("dynamodb").describe_continuous_backups(TableName="source")["ContinuousBackupsDescription"]
        recovered = found["PointInTimeRecoveryDescription"]
        assert (recovered["PointInTimeRecoveryStatus"], recovered.get("RecoveryPeriodInDays")) == expected


def test_a_bucket_gets_its_encryption_and_lifecycle(aws, account):
    rule = {
        "Id": "old",
        "Status": "Enabled",
        "Prefix": "exports/",
        "ExpirationInDays": 30,
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 2},
    }
    encryption = {
        "ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": "alias/x"},
        "BucketKeyEnabled": True,
    }
    properties = {
        "BucketName": "lake",
        "BucketEncryption": {"ServerSideEncryptionConfiguration": [encryption]},
        "LifecycleConfiguration": {"Rules": [rule]},
    }
    deploy(aws, account, {"Lake": ("AWS::S3::Bucket", properties)})
    s3 = aws.client("s3")
    (found,) = s3.get_bucket_encryption(Bucket="lake")["ServerSideEncryptionConfiguration"]["Rules"]
    assert found["ApplyServerSideEncryptionByDefault"]["KMSMasterKeyID"] == "alias/x"
    (kept,) = s3.get_bucket_lifecycle_configuration(Bucket="lake")["Rules"]
    assert (kept["ID"], kept["Expiration"], kept["Filter"]) == ("old", {"Days": 30}, {"Prefix": "exports/"})
    assert kept["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 2}


def test_a_function_gets_its_reserved_concurrency(aws, account):
    role = account.role("f", "lambda")
    function = {
        "FunctionName": "f",
        "Runtime": "python3.11",
        "Handler": "index.handler",
        "Role": role,
        "Code": {"ZipFile": "x=1"},
    }
    deploy(aws, account, {"F": ("AWS::Lambda::Function", function | {"ReservedConcurrentExecutions": 3})})
    assert aws.client("lambda").get_function_concurrency(FunctionName="f")["ReservedConcurrentExecutions"] == 3


def test_a_schedule_gets_its_zone_and_dates(aws, account):
    schedule = {
        "Name": "s",
        "ScheduleExpression": "rate(1 hour)",
        "ScheduleExpressionTimezone": "Europe/Berlin",
        "StartDate": "2027-01-01T00:00:00Z",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": {
            "Arn": "arn:aws:states:us-east-1:000000000000:stateMachine:m",
            "RoleArn": account.role("r", "scheduler"),
        },
    }
    deploy(aws, account, {"S": ("AWS::Scheduler::Schedule", schedule)})
    assert aws.client("scheduler").get_schedule(Name="s")["ScheduleExpressionTimezone"] == "Europe/Berlin"


def test_a_topic_keeps_its_key(aws, account):
    deploy(aws, account, {"T": ("AWS::SNS::Topic", {"TopicName": "t", "KmsMasterKeyId": "alias/x"})})
    attributes = aws.client("sns").get_topic_attributes(TopicArn="arn:aws:sns:us-east-1:000000000000:t")["Attributes"]
    assert attributes["KmsMasterKeyId"] == "alias/x"


def test_a_bucket_that_is_not_empty_is_not_deleted(aws, account):
    deploy(aws, account, {"Lake": ("AWS::S3::Bucket", {"BucketName": "lake"})})
    aws.client("s3").put_object(Bucket="lake", Key="k", Body=b"kept")
    aws.client("cloudformation").delete_stack(StackName="stack")
    account.until(
        lambda: aws.client("cloudformation").describe_stacks(StackName="stack")["Stacks"][0]["StackStatus"],
        lambda s: s == "DELETE_FAILED",
    )
    assert aws.client("s3").get_object(Bucket="lake", Key="k")["Body"].read() == b"kept"


def _machine(role: str, **more: object) -> dict:
    definition = '{"StartAt": "Done", "States": {"Done": {"Type": "Succeed"}}}'
    return {
        "M": (
            "AWS::StepFunctions::StateMachine",
            {"StateMachineName": "m", "RoleArn": role, "DefinitionString": definition, **more},
        )
    }


_LOGGED = {
    "LoggingConfiguration": {
        "Level": "ALL",
        "Destinations": [
            {"CloudWatchLogsLogGroup": {"LogGroupArn": "arn:aws:logs:us-east-1:000000000000:log-group:g:*"}}
        ],
    }
}


def test_a_logged_and_traced_machine_needs_the_rights_for_both(aws, account):
    rights = [{"Action": ["logs:*", "xray:*"], "Resource": "*"}]
    role = account.role("m", "states", *rights)
    made = deploy(aws, account, _machine(role, **_LOGGED, TracingConfiguration={"Enabled": True}))
    assert made["StackStatus"] == "CREATE_COMPLETE"
    account.run("arn:aws:states:us-east-1:000000000000:stateMachine:m")
    used = {action for action, _, allowed in account.checks(role) if allowed}
    assert {
        "logs:CreateLogDelivery",
        "logs:DescribeLogGroups",
        "xray:PutTraceSegments",
        "xray:GetSamplingRules",
    } <= used


def test_a_logged_machine_without_the_rights_is_refused(aws, account):
    assert deploy(aws, account, _machine(account.role("m", "states"), **_LOGGED))["StackStatus"].startswith("ROLLBACK")
    assert "not authorized to access the Log Destination" in reasons(aws)


@pytest.mark.parametrize("kind", ["function", "schedule", "machine"])
def test_a_role_that_the_service_may_not_assume_is_refused(aws, account, kind):
    role = account.role("r", "ec2")
    function = {"Runtime": "python3.11", "Handler": "index.handler", "Role": role, "Code": {"ZipFile": "x=1"}}
    schedule = {
        "ScheduleExpression": "rate(1 hour)",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": {"Arn": "arn:aws:states:us-east-1:000000000000:stateMachine:m", "RoleArn": role},
    }
    resources = {
        "function": {"F": ("AWS::Lambda::Function", function)},
        "schedule": {"S": ("AWS::Scheduler::Schedule", schedule)},
        "machine": _machine(role),
    }[kind]
    assert deploy(aws, account, resources)["StackStatus"].startswith("ROLLBACK")
    assert "assume" in reasons(aws).lower()


@pytest.mark.parametrize(("named", "made"), [("m", "CREATE_COMPLETE"), ("another", "ROLLBACK_COMPLETE")])
def test_a_machine_is_made_only_with_a_role_that_names_it(aws, account, named, made):
    source = {"aws:SourceArn": f"arn:aws:states:us-east-1:000000000000:stateMachine:{named}"}
    role = account.role("m", "states", only={"ArnLike": source})
    assert deploy(aws, account, _machine(role))["StackStatus"] == made


def test_lambda_tells_no_source_so_that_a_condition_on_it_locks_it_out(aws, account):
    role = account.role("f", "lambda", only={"StringEquals": {"aws:SourceAccount": "000000000000"}})
    code = {"ZipFile": "def handler(event, context): pass"}
    function = {"Role": role, "Runtime": "python3.11", "Handler": "index.handler", "Code": code}
    made = deploy(aws, account, {"F": ("AWS::Lambda::Function", function)})
    assert made["StackStatus"].startswith("ROLLBACK")
    assert "cannot be assumed by Lambda" in reasons(aws)
