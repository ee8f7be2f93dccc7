"""Limits that no model states."""

import json

import pytest

from local.aws.unmodelled import refusal_of

_PARAMETER = {"Name": "/tidemark/Tidemark/orders/control", "Value": "RUN"}
_MAIL = {"TopicArn": "arn", "Subject": "s" * 100, "Message": "m"}


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "says"),
    [
        pytest.param("ssm", "PutParameter", _PARAMETER, None, id="an ordinary parameter"),
        pytest.param("ssm", "PutParameter", _PARAMETER | {"Value": "v" * 4096}, None, id="4096 characters"),
        pytest.param(
            "ssm", "PutParameter", _PARAMETER | {"Value": "v" * 4097}, "maximum parameter value of 4096", id="one more"
        ),
        pytest.param(
            "ssm", "PutParameter", _PARAMETER | {"Value": "v" * 4097, "Tier": "Advanced"}, None, id="one more, advanced"
        ),
        pytest.param(
            "ssm",
            "PutParameter",
            _PARAMETER | {"Value": "v" * 8193, "Tier": "Advanced"},
            "8192",
            id="too much for advanced",
        ),
        pytest.param(
            "ssm", "PutParameter", _PARAMETER | {"Value": '{"a":{{}}}'}, "nest another parameter", id="two braces"
        ),
        pytest.param("ssm", "PutParameter", _PARAMETER | {"Name": "/aws/x"}, "can't be prefixed", id="a reserved name"),
        pytest.param("ssm", "PutParameter", _PARAMETER | {"Name": "/a b"}, "mix of letters", id="a blank in a name"),
        pytest.param("sns", "Publish", _MAIL, None, id="a subject of 100 characters"),
        pytest.param("sns", "Publish", _MAIL | {"Subject": "s" * 101}, "Subject", id="a subject of 101"),
        pytest.param("sns", "Publish", _MAIL | {"Subject": "zwölf"}, "Subject", id="a subject beyond ASCII"),
        pytest.param("sns", "Publish", _MAIL | {"Subject": "a\nb"}, "Subject", id="a subject of two lines"),
        pytest.param("sns", "Publish", _MAIL | {"Message": "ü" * 131_073}, "too long", id="a message over 256 KiB"),
        pytest.param("sns", "Publish", _MAIL | {"Message": ""}, "Empty", id="an empty message"),
        pytest.param(
            "sns",
            "Publish",
            _MAIL | {"MessageStructure": "json", "Message": json.dumps({"default": "a", "email": "b"})},
            None,
            id="a message by protocol",
        ),
        pytest.param(
            "sns",
            "Publish",
            _MAIL | {"MessageStructure": "json", "Message": '{"email": "b"}'},
            "No default",
            id="without default",
        ),
        pytest.param("sns", "Publish", _MAIL | {"MessageStructure": "json"}, "failed to parse", id="not JSON at all"),
        pytest.param("sns", "Subscribe", {"Protocol": "email", "Endpoint": "a@b.c"}, None, id="an address"),
        pytest.param("sns", "Subscribe", {"Protocol": "email", "Endpoint": "a b"}, "Email address", id="no address"),
        pytest.param("sns", "Subscribe", {"Protocol": "sqs", "Endpoint": "arn:…"}, None, id="a queue"),
        pytest.param("states", "StartExecution", {"name": "orders-2026.11_21"}, None, id="an execution's name"),
        pytest.param("states", "StartExecution", {"name": "at 12:00"}, "Invalid Name", id="a time as a name"),
        pytest.param(
            "states", "StartExecution", {"input": "{"}, "Invalid State Machine Execution Input", id="broken input"
        ),
        pytest.param("kms", "Encrypt", {}, None, id="an operation without rules"),
    ],
)
def test_limits_missing_from_botocores_models_are_enforced(service, operation, parameters, says):
    refusal = refusal_of(service, operation, parameters)
    assert refusal is None if says is None else refusal is not None and says in refusal[1]
