"""Functions: error names, the runtime's libraries, rights to write logs."""

import json
import subprocess

import pytest

from local.aws.lambdas import build_runtime

pytestmark = pytest.mark.local_aws

_LOGS = {"Action": ["logs:CreateLogStream", "logs:PutLogEvents"], "Resource": "*"}


def _invoke(aws, name: str, event: object = None):
    answer = aws.client("lambda").invoke(FunctionName=name, Payload=json.dumps(event))
    return json.loads(answer["Payload"].read())


def test_an_exception_reaches_the_caller_by_its_class_name(aws, account):
    code = """
        class HistoryLost(Exception): pass
        def handler(event, context):
            raise HistoryLost("gone since noon")
    """
    account.function("f", code, account.role("f", "lambda"))
    failure = _invoke(aws, "f")
    assert (failure["errorType"], failure["errorMessage"]) == ("HistoryLost", "gone since noon")
    assert "in handler" in "".join(failure["stackTrace"])
    assert failure["requestId"]


def test_a_state_machine_catches_an_exception_by_its_class_name(account):
    code = "class HistoryLost(Exception): pass\ndef handler(event, context): raise HistoryLost('gone')"
    arn = account.function("f", code, account.role("f", "lambda"))
    role = account.role("machine", "states", {"Action": "lambda:InvokeFunction", "Resource": arn})
    ask = {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Arguments": {"FunctionName": arn, "Payload": {}},
        "Catch": [
            {"ErrorEquals": ["Other"], "Next": "Wrong"},
            {"ErrorEquals": ["HistoryLost"], "Output": "{% $parse($states.errorOutput.Cause) %}", "Next": "Right"},
        ],
        "End": True,
    }
    ended = account.run(account.machine({"Ask": ask, "Wrong": {"Type": "Fail"}, "Right": {"Type": "Succeed"}}, role))
    assert json.loads(ended["output"])["errorMessage"] == "gone"


def test_the_runtime_starts_in_a_folder_whose_name_a_shell_would_read_as_its_own(tmp_path):
    python = build_runtime(tmp_path / """a "b's" $HOME `c`""")
    command = [str(python), "-c", "import boto3; print(boto3.__file__)"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert found.startswith(str(python.parent))


@pytest.mark.parametrize(
    ("module", "there"),
    [("boto3", True), ("json", True), ("pyiceberg", False), ("aws_lambda_powertools", False), ("local", False)],
)
def test_a_library_that_is_not_in_the_bundle_is_missed(aws, account, module, there):
    account.function("f", f"import {module}\ndef handler(event, context): return 'found'", account.role("f", "lambda"))
    answer = _invoke(aws, "f")
    assert answer == "found" if there else f"No module named '{module}'" in answer["errorMessage"]


def test_the_environment_is_clean_and_points_at_the_local_aws(aws, account):
    code = "import os\ndef handler(event, context): return dict(os.environ)"
    account.function("f", code, account.role("f", "lambda"))
    seen = _invoke(aws, "f")
    assert seen["AWS_ENDPOINT_URL"] == aws.endpoint
    assert seen["AWS_ACCESS_KEY_ID"].startswith("ASIA")
    assert seen["POWERTOOLS_TRACE_DISABLED"] == "true"
    assert "PYTEST_CURRENT_TEST" not in seen


def test_functions_of_one_bundle_share_what_was_unpacked_and_others_have_their_own(aws, account):
    def unpacked(name: str, said: str) -> str:
        code = f"import os\ndef handler(event, context): return os.path.realpath(__file__), {said!r}"
        account.function(name, code, account.role(name, "lambda"))
        where, says = _invoke(aws, name)
        assert says == said
        return where

    assert unpacked("f", "one") == unpacked("g", "one") != unpacked("h", "another")


@pytest.mark.parametrize("rights", [(), (_LOGS,)], ids=["without", "with"])
def test_logs_are_written_with_the_rights_of_the_function(aws, account, rights):
    account.function("f", "def handler(event, context): print('a word')", account.role("f", "lambda", *rights))
    _invoke(aws, "f")
    groups = [one["logGroupName"] for one in aws.client("logs").describe_log_groups()["logGroups"]]
    assert ("/aws/lambda/f" in groups) == bool(rights)
    assert {check[0]: check[2] for check in account.checks("f")}["logs:CreateLogStream"] == bool(rights)
