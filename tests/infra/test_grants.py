"""What each role may do, literally. A change here is a change of the system's permissions."""

from __future__ import annotations

import re

import pytest

#: Role -> lines "action, action on resource". Names in angle brackets are the stack's own resources.
EXPECTED = {
    "Plan": """
        ssm:GetParametersByPath on ssm:parameter/tidemark/Tidemark
        ssm:GetParametersByPath on ssm:parameter/tidemark/Tidemark/*
        ssm:PutParameter, ssm:DeleteParameters on ssm:parameter/tidemark/Tidemark/*/run/*
        s3:GetObject on <assets>/*.json
        dynamodb:DescribeTable, dynamodb:DescribeContinuousBackups on dynamodb:table/orders
        states:DescribeExecution on states:execution:Tidemark:*
        glue:GetDatabase on glue:catalog
        glue:GetDatabase on glue:database/tidemark
        glue:GetTable on glue:catalog
        glue:GetTable on glue:database/tidemark
        glue:GetTable on glue:table/tidemark/*
        s3:GetObject on <StorageBucket.Arn>/warehouse/*/metadata/*
        s3:ListBucket on <StorageBucket.Arn> if s3:prefix is warehouse/*
        s3:GetObject on <StorageBucket.Arn>/runs/*
        s3:ListBucket on <StorageBucket.Arn> if s3:prefix is runs/*
        emr-serverless:ListJobRuns on <SparkApplication.Arn>
        emr-serverless:GetJobRun on <SparkApplication.Arn>/jobruns/*
    """,
    "NotifyNews": """
        sns:Publish on <NotificationTopic>
        kms:GenerateDataKey, kms:Decrypt on <NotificationKey.Arn>
        ssm:GetParameters on ssm:parameter/tidemark/Tidemark/*/told
        ssm:GetParameters on ssm:parameter/tidemark/Tidemark/*/last-export-time
        ssm:GetParameters on ssm:parameter/tidemark/Tidemark/*/settings
        ssm:GetParameters on ssm:parameter/tidemark/Tidemark/*/control
        ssm:PutParameter on ssm:parameter/tidemark/Tidemark/*/told
        s3:GetObject on <StorageBucket.Arn>/runs/*
        s3:ListBucket on <StorageBucket.Arn> if s3:prefix is runs/*
    """,
    "StartExports": """
        dynamodb:ExportTableToPointInTime, dynamodb:DescribeTable, dynamodb:DescribeContinuousBackups on dynamodb:table/orders
        s3:PutObject, s3:PutObjectAcl, s3:AbortMultipartUpload on <StorageBucket.Arn>/exports/*
        emr-serverless:ListJobRuns on <SparkApplication.Arn>
        emr-serverless:GetJobRun on <SparkApplication.Arn>/jobruns/*
    """,
    "CheckExports": "dynamodb:DescribeExport on dynamodb:table/orders/export/*",
    "PrepareJob": "emr-serverless:ListJobRuns on <SparkApplication.Arn>",
    "RecordWatermark": """
        glue:GetDatabase on glue:catalog
        glue:GetDatabase on glue:database/tidemark
        glue:GetTable on glue:catalog
        glue:GetTable on glue:database/tidemark
        glue:GetTable on glue:table/tidemark/*
        s3:GetObject on <StorageBucket.Arn>/warehouse/*/metadata/*
        s3:ListBucket on <StorageBucket.Arn> if s3:prefix is warehouse/*
        s3:GetObject on <StorageBucket.Arn>/runs/*
        s3:ListBucket on <StorageBucket.Arn> if s3:prefix is runs/*
        ssm:PutParameter on ssm:parameter/tidemark/Tidemark/*/last-export-time
    """,
    "NotifySuccess": """
        sns:Publish on <NotificationTopic>
        kms:GenerateDataKey, kms:Decrypt on <NotificationKey.Arn>
        ssm:GetParameters on ssm:parameter/tidemark/Tidemark/*/told
        ssm:GetParameters on ssm:parameter/tidemark/Tidemark/*/last-export-time
        ssm:GetParameters on ssm:parameter/tidemark/Tidemark/*/settings
        ssm:GetParameters on ssm:parameter/tidemark/Tidemark/*/control
        ssm:PutParameter on ssm:parameter/tidemark/Tidemark/*/told
    """,
    "NotifyFailure": """
        sns:Publish on <NotificationTopic>
        kms:GenerateDataKey, kms:Decrypt on <NotificationKey.Arn>
        ssm:GetParameters on ssm:parameter/tidemark/Tidemark/*/told
        ssm:GetParameters on ssm:parameter/tidemark/Tidemark/*/last-export-time
        ssm:GetParameters on ssm:parameter/tidemark/Tidemark/*/settings
        ssm:GetParameters on ssm:parameter/tidemark/Tidemark/*/control
        ssm:PutParameter on ssm:parameter/tidemark/Tidemark/*/told
        s3:GetObject on <StorageBucket.Arn>/runs/*
        s3:ListBucket on <StorageBucket.Arn> if s3:prefix is runs/*
        dynamodb:DescribeContinuousBackups on dynamodb:table/orders
    """,
    "JobRole": """
        s3:GetObject on <assets>/*.zip
        s3:GetObject on <assets>/*.py
        s3:GetObject on <assets>/*.json
        s3:GetObject on <StorageBucket.Arn>/exports/*
        s3:GetObject on <StorageBucket.Arn>/runs/*
        s3:GetObject, s3:PutObject, s3:DeleteObject, s3:AbortMultipartUpload on <StorageBucket.Arn>/warehouse/*
        s3:PutObject on <StorageBucket.Arn>/runs/*
        s3:PutObject on <StorageBucket.Arn>/logs/*
        s3:ListBucket on <StorageBucket.Arn> if s3:prefix is exports/*, warehouse/*, runs/*
        glue:GetDatabase on glue:catalog
        glue:GetDatabase on glue:database/tidemark
        glue:GetTable, glue:CreateTable, glue:UpdateTable on glue:catalog
        glue:GetTable, glue:CreateTable, glue:UpdateTable on glue:database/tidemark
        glue:GetTable, glue:CreateTable, glue:UpdateTable on glue:table/tidemark/*
    """,
    "StateMachine": """
        lambda:InvokeFunction on <PlanFunction.Arn>
        lambda:InvokeFunction on <NotifyNewsFunction.Arn>
        lambda:InvokeFunction on <StartExportsFunction.Arn>
        lambda:InvokeFunction on <CheckExportsFunction.Arn>
        lambda:InvokeFunction on <PrepareJobFunction.Arn>
        lambda:InvokeFunction on <RecordWatermarkFunction.Arn>
        lambda:InvokeFunction on <NotifySuccessFunction.Arn>
        lambda:InvokeFunction on <NotifyFailureFunction.Arn>
        emr-serverless:StartJobRun on <SparkApplication.Arn>
        emr-serverless:GetJobRun, emr-serverless:CancelJobRun on <SparkApplication.Arn>/jobruns/*
        iam:PassRole on <JobRole.Arn> if iam:PassedToService is emr-serverless.amazonaws.com
        events:PutTargets, events:PutRule, events:DescribeRule on events:rule/StepFunctionsGetEventsForEMRServerlessJobRule
    """,
    "SchedulerRole": """
        states:StartExecution on <StateMachine>
        sqs:SendMessage on <LostTicksQueue.Arn>
    """,
}
FUNCTIONS = [
    "Plan",
    "NotifyNews",
    "StartExports",
    "CheckExports",
    "PrepareJob",
    "RecordWatermark",
    "NotifySuccess",
    "NotifyFailure",
]
#: Actions on the resource `*`, which take no other: X-Ray, and logs' delivery for state machines.
TRACE = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}
OF_STATE_MACHINES = {
    "logs:CreateLogDelivery",
    "logs:GetLogDelivery",
    "logs:UpdateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:DescribeResourcePolicies",
    "logs:DescribeLogGroups",
    "xray:GetSamplingRules",
    "xray:GetSamplingTargets",
}
_HASH = re.compile(r"(?<=[a-z])[0-9A-F]{8}(?=[.>])")
_OWN_ARN = re.compile(r"^arn:aws:([a-z0-9]+):eu-west-1:123456789012:")
#: The bucket is every stack's; the folder is this one's alone.
_ASSETS = "arn:aws:s3:::cdk-hnb659fds-assets-123456789012-eu-west-1/Tidemark"


@pytest.mark.parametrize("name", EXPECTED)
def test_each_role_may_do_what_is_written_here_and_nothing_else(template, name):
    expected = [line.strip() for line in EXPECTED[name].strip().splitlines()]
    if name in FUNCTIONS:
        expected.append(f"logs:CreateLogStream, logs:PutLogEvents on <{name}Logs.Arn>")
    assert [line for line in rights(template, name) if not line.endswith(" on *")] == expected


def test_jobs_read_the_secrets_of_tables_that_hash_and_no_others(of_shop):
    read = [line for line in rights(of_shop, "JobRole") if "secretsmanager" in line]
    assert read == [
        "secretsmanager:GetSecretValue, secretsmanager:DescribeSecret on secretsmanager:secret:shop/pii-??????"
    ]


def test_every_role_of_the_stack_is_written_here(template):
    assert len(template.of("IAM::Role")) == len(EXPECTED)
    assert template.of("IAM::Policy") == {}, "a construct has added rights of its own"


def test_only_who_traces_is_allowed_anything_on_everything_and_only_what_takes_no_resource(template):
    everything = {
        name: {
            action
            for line in rights(template, name)
            if line.endswith(" on *")
            for action in line.removesuffix(" on *").split(", ")
        }
        for name in EXPECTED
    }
    of_others = {"StateMachine": TRACE | OF_STATE_MACHINES, "JobRole": set(), "SchedulerRole": set()}
    assert everything == dict.fromkeys(FUNCTIONS, TRACE) | of_others


def test_folders_bind_who_lists_them_and_not_the_look_for_a_file_which_names_none(template):
    # S3 asks for this right to say "not found" of a file, and there is no prefix in that question.
    documents = [policy["PolicyDocument"] for role in template.of("IAM::Role").values() for policy in role["Policies"]]
    lists = [s["Condition"] for of in documents for s in of["Statement"] if s["Action"] == "s3:ListBucket"]
    assert {operator for conditions in lists for operator in conditions} == {"StringLikeIfExists"}
    assert len(lists) > 1


def test_no_right_is_on_the_files_of_this_deployment_alone(template):
    # A job of the one before may be in the queue, and downloads its code when it begins.
    assert [line for name in EXPECTED for line in rights(template, name) if re.search(r"[0-9a-f]{64}", line)] == []


def test_no_action_is_a_pattern(template):
    assert [line for name in EXPECTED for line in rights(template, name) if "*" in line.split(" on ")[0]] == []


@pytest.mark.parametrize(
    ("role", "service", "source"),
    [
        ("JobRole", "emr-serverless.amazonaws.com", "<SparkApplication.Arn>"),
        ("StateMachine", "states.amazonaws.com", "arn:aws:states:eu-west-1:123456789012:stateMachine:Tidemark"),
        ("SchedulerRole", "scheduler.amazonaws.com", None),
    ],
)
def test_services_take_roles_for_this_account_and_their_own_resource_only(template, role, service, source):
    (statement,) = role_of(template, role)["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": service}
    assert statement["Condition"]["StringEquals"] == {"aws:SourceAccount": "123456789012"}
    assert _HASH.sub("", statement["Condition"].get("ArnLike", {}).get("aws:SourceArn", "")) == (source or "")


def role_of(template, name):
    (role,) = [
        properties
        for logical, properties in template.of("IAM::Role").items()
        if re.match(rf"{name}(Role)?[0-9A-F]{{8}}$", logical)
    ]
    return role


def rights(template, name):
    """Lines "action, action on resource if key is value", in the order of the policy."""
    (policy,) = role_of(template, name)["Policies"]
    for statement in policy["PolicyDocument"]["Statement"]:
        assert statement["Effect"] == "Allow"
        actions, resources = listed(statement["Action"]), listed(statement["Resource"])
        conditions = [
            f" if {key} is {', '.join(listed(value))}"
            for keys in statement.get("Condition", {}).values()
            for key, value in keys.items()
        ]
        for resource in resources:
            asset = resource.replace(_ASSETS, "<assets>")
            short = _OWN_ARN.sub(r"\1:", _HASH.sub("", asset))
            yield f"{', '.join(actions)} on {short}{''.join(conditions)}"


def listed(value):
    return value if isinstance(value, list) else [value]
