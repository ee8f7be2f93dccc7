"""The resources a request is evaluated on."""

import pytest

from local.aws.arns import resources_of

_HERE = "us-east-1:000000000000"
_GLUE = f"arn:aws:glue:{_HERE}:"
_SCHEDULER = f"arn:aws:scheduler:{_HERE}:"
_EMR = f"arn:aws:emr-serverless:{_HERE}:/applications"


@pytest.mark.parametrize(
    ("operation", "body", "expected"),
    [
        ("GetTable", {"DatabaseName": "d", "Name": "t"}, ["table/d/t", "database/d", "catalog"]),
        ("UpdateTable", {"DatabaseName": "d", "TableInput": {"Name": "t"}}, ["table/d/t", "database/d", "catalog"]),
        ("GetTables", {"DatabaseName": "d"}, ["table/d/*", "database/d", "catalog"]),
        (
            "BatchDeleteTable",
            {"DatabaseName": "d", "TablesToDelete": ["a", "b"]},
            ["table/d/a", "table/d/b", "database/d", "catalog"],
        ),
        ("GetDatabase", {"Name": "d"}, ["database/d", "catalog"]),
        ("CreateDatabase", {"DatabaseInput": {"Name": "d"}}, ["database/d", "catalog"]),
        ("GetDatabases", {}, ["catalog"]),
    ],
)
def test_glue_is_checked_on_all_levels(operation, body, expected):
    assert resources_of("glue", operation, "/", {}, body, _HERE) == [_GLUE + one for one in expected]


@pytest.mark.parametrize(
    ("path", "query", "body", "expected"),
    [
        ("/schedules/s", {}, {}, "schedule/default/s"),
        ("/schedules/s", {"groupName": ["g"]}, {}, "schedule/g/s"),
        ("/schedules/s", {}, {"GroupName": "g"}, "schedule/g/s"),
        ("/schedule-groups/g", {}, {}, "schedule-group/g"),
    ],
)
def test_schedules_are_checked_in_their_group(path, query, body, expected):
    assert resources_of("scheduler", "", path, query, body, _HERE) == [_SCHEDULER + expected]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/applications/a/jobruns", f"{_EMR}/a"),
        ("/applications/a/jobruns/r", f"{_EMR}/a/jobruns/r"),
        ("/applications/a/jobruns/r/dashboard", f"{_EMR}/a/jobruns/r"),
        ("/applications/a/start", f"{_EMR}/a"),
        ("/applications", f"arn:aws:emr-serverless:{_HERE}:/*"),
        ("/tags/arn%3Aaws%3Ax", "arn:aws:x"),
    ],
)
def test_emr_serverless_is_checked_on_application_or_job_run(path, expected):
    assert resources_of("emr-serverless", "", path, {}, {}, _HERE) == [expected]


@pytest.mark.parametrize(
    ("service", "operation", "body", "expected"),
    [
        ("dynamodb", "DescribeExport", {"ExportArn": "arn:e"}, ["arn:e"]),
        ("dynamodb", "ExportTableToPointInTime", {"TableArn": "arn:t", "S3Bucket": "b"}, ["arn:t"]),
        ("dynamodb", "GetItem", {"TableName": "t"}, None),
        (
            "logs",
            "PutLogEvents",
            {"logGroupName": "g", "logStreamName": "s"},
            [f"arn:aws:logs:{_HERE}:log-group:g:log-stream:s"],
        ),
        (
            "ssm",
            "GetParameters",
            {"Names": ["/a/b", "c"]},
            [f"arn:aws:ssm:{_HERE}:parameter/a/b", f"arn:aws:ssm:{_HERE}:parameter/c"],
        ),
        ("ssm", "GetParametersByPath", {"Path": "/a/"}, [f"arn:aws:ssm:{_HERE}:parameter/a"]),
        ("ssm", "GetParameter", {"Name": "/a"}, None),
        ("sqs", "SendMessage", {}, None),
    ],
)
def test_others_are_checked_on_what_they_name(service, operation, body, expected):
    assert resources_of(service, operation, "/", {}, body, _HERE) == expected
