"""Requests are read back into the parameters a client was given, whatever the protocol."""

import json
from urllib.parse import urlencode

import pytest

from local.aws.operations import Request, operation_of

_FORM = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}


def _query(**fields: str) -> Request:
    return Request("POST", "/", _FORM, urlencode(fields).encode(), {})


def _rest(method: str, path: str, body: object = None, query: dict | None = None) -> Request:
    return Request(method, path, {"content-type": "application/json"}, json.dumps(body or {}).encode(), query or {})


@pytest.mark.parametrize(
    ("service", "request_", "name", "parameters"),
    [
        pytest.param(
            "ssm",
            Request("POST", "/", {"x-amz-target": "AmazonSSM.GetParameter"}, b'{"Name": "/a"}', {}),
            "GetParameter",
            {"Name": "/a"},
            id="JSON",
        ),
        pytest.param(
            "iam",
            _query(Action="TagRole", RoleName="r", **{"Tags.member.1.Key": "a", "Tags.member.1.Value": "b"}),
            "TagRole",
            {"RoleName": "r", "Tags": [{"Key": "a", "Value": "b"}]},
            id="query with a list",
        ),
        pytest.param(
            "sns",
            _query(
                Action="Publish",
                Message="m",
                **{
                    "MessageAttributes.entry.1.Name": "status",
                    "MessageAttributes.entry.1.Value.DataType": "String",
                    "MessageAttributes.entry.1.Value.StringValue": "FAILED",
                },
            ),
            "Publish",
            {"Message": "m", "MessageAttributes": {"status": {"DataType": "String", "StringValue": "FAILED"}}},
            id="query with a map",
        ),
        pytest.param(
            "emr-serverless",
            _rest("POST", "/applications/00f1/jobruns", {"clientToken": "t"}),
            "StartJobRun",
            {"applicationId": "00f1", "clientToken": "t"},
            id="REST with a label",
        ),
        pytest.param(
            "scheduler",
            _rest("GET", "/schedules", query={"NamePrefix": ["a"]}),
            "ListSchedules",
            {"NamePrefix": "a"},
            id="REST with a query string",
        ),
        pytest.param(
            "lambda",
            _rest("POST", "/2015-03-31/functions/my%2Dfunction/invocations", {"any": "payload"}),
            "Invoke",
            {"FunctionName": "my-function"},
            id="REST with a payload of the caller's",
        ),
    ],
)
def test_an_operation_is_recognised_with_its_parameters(service, request_, name, parameters):
    operation = operation_of(service, request_)
    assert operation is not None
    assert (operation.name, operation.parameters) == (name, parameters)


@pytest.mark.parametrize(
    ("service", "request_"),
    [
        ("ssm", Request("POST", "/", {"x-amz-target": "AmazonSSM.Nothing"}, b"{}", {})),
        ("iam", _query(Action="Nothing")),
        ("scheduler", _rest("GET", "/nothing/at/all")),
        ("monitoring", Request("POST", "/service/x", {"content-type": "application/cbor"}, b"", {})),
    ],
)
def test_what_is_not_understood_is_left_to_the_service(service, request_):
    assert operation_of(service, request_) is None
