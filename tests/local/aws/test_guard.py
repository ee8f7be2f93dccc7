"""The guard: what a service's model forbids, in AWS's words."""

import botocore.session
import pytest

from local.aws.guard import compiled_pattern, message_for, violations

_TABLE = {
    "DatabaseName": "db",
    "TableInput": {"Name": "t", "StorageDescriptor": {"Columns": [{"Name": "a", "Type": "string"}]}},
}


def _shape(service: str, operation: str):
    return botocore.session.get_session().get_service_model(service).operation_model(operation).input_shape


def _with_column(**column: str):
    table = {**_TABLE["TableInput"], "StorageDescriptor": {"Columns": [{"Name": "a", "Type": "string"} | column]}}
    return {**_TABLE, "TableInput": table}


@pytest.mark.parametrize(
    ("service", "operation", "parameters"),
    [
        ("glue", "CreateTable", _TABLE),
        ("glue", "CreateTable", _with_column(Comment="ß … 😀\ttab")),
        ("glue", "CreateTable", _with_column(Comment="x" * 255)),
        (
            "emr-serverless",
            "StartJobRun",
            {"applicationId": "00f1", "clientToken": "a.B-1", "executionRoleArn": "arn:aws:iam::000000000000:role/r"},
        ),
        ("stepfunctions", "StartExecution", {"stateMachineArn": "arn", "name": "n" * 80}),
        ("dynamodb", "PutItem", {"TableName": "t-1", "Item": {"k": {"S": ""}}}),
    ],
)
def test_what_aws_takes_passes(service, operation, parameters):
    assert violations(_shape(service, operation), parameters) == []


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "says"),
    [
        pytest.param(
            "glue",
            "CreateTable",
            _with_column(Comment="x" * 256),
            "at 'tableInput.storageDescriptor.columns.1.member.comment' failed to satisfy constraint: "
            "Member must have length less than or equal to 255",
            id="a column comment over 255 characters",
        ),
        pytest.param(
            "glue",
            "CreateTable",
            _with_column(Comment="two\nlines"),
            "columns.1.member.comment' failed to satisfy constraint: Member must satisfy regular expression pattern",
            id="a column comment of two lines",
        ),
        pytest.param(
            "glue", "CreateTable", _with_column(Type="t" * 131_073), "equal to 131072", id="a huge column type"
        ),
        pytest.param(
            "glue", "GetTable", {"DatabaseName": "d"}, "Value null at 'name'", id="a required member is missing"
        ),
        pytest.param(
            "emr-serverless", "StartJobRun", {"clientToken": "a/b"}, "Value 'a/b' at 'clientToken'", id="a bad token"
        ),
        pytest.param("emr-serverless", "StartJobRun", {"clientToken": "a" * 65}, "at 'clientToken'", id="a long token"),
        pytest.param("stepfunctions", "StartExecution", {"name": "n" * 81}, "equal to 80", id="a long execution name"),
        pytest.param("scheduler", "CreateSchedule", {"Name": "n" * 65}, "at 'name'", id="a long schedule name"),
        pytest.param(
            "dynamodb", "ExportTableToPointInTime", {"ClientToken": "a$b"}, "at 'clientToken'", id="a dollar in a token"
        ),
        pytest.param(
            "dynamodb", "ExportTableToPointInTime", {"ExportFormat": "CSV"}, "enum value set", id="an unknown format"
        ),
        pytest.param(
            "lambda", "CreateFunction", {"Timeout": 0}, "value greater than or equal to 1", id="no time at all"
        ),
    ],
)
def test_what_aws_refuses_is_refused(service, operation, parameters, says):
    found = violations(_shape(service, operation), parameters)
    assert any(says in one for one in found), found


def test_the_message_counts_and_lists_what_is_wrong():
    found = violations(_shape("glue", "GetTable"), {"DatabaseName": ""})
    assert message_for(found).startswith("2 validation errors detected: Value null at 'name'")
    assert "Value '' at 'databaseName'" in message_for(found)


@pytest.mark.parametrize("service", ["dynamodb", "ssm", "stepfunctions", "glue", "emr-serverless", "scheduler", "iam"])
def test_nearly_every_pattern_of_the_services_we_use_can_be_checked(service):
    model = botocore.session.get_session().get_service_model(service)
    patterns = {
        pattern for name in model.shape_names if (pattern := model.shape_for(name).metadata.get("pattern")) is not None
    }
    unreadable = {pattern for pattern in patterns if compiled_pattern(pattern) is None}
    assert len(unreadable) <= len(patterns) // 20, unreadable
