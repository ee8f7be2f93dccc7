"""Names that have to agree: states, handlers, placeholders, functions of the stack, errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.errors import error_names
from tests.statemachine.definition import FUNCTIONS, PATH, ROOT, STATES, TASKS, texts

#: Errors that Step Functions, Lambda and EMR Serverless name themselves.
SERVICES = {
    "States.ALL",
    "States.Timeout",
    "Lambda.ServiceException",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.TooManyRequestsException",
    "Lambda.Unknown",
    "Runtime.ExitError",
    "Runtime.OutOfMemory",
    "Sandbox.Timedout",
    "EMRServerless.InternalServerException",
    "EMRServerless.ThrottlingException",
    "EMRServerless.ServiceQuotaExceededException",
    "EMRServerless.ConflictException",
    "EMRServerless.EmrServerlessException",
    "EMRServerless.AWSEMRServerlessException",
    "EMRServerless.SdkClientException",
}


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def trees(*folders: str) -> Iterator[tuple[Path, ast.Module]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, ast.parse(path.read_text())


def stack_functions() -> dict[str, int]:
    """State and seconds a function may take, as the stack's table has them."""
    tree = ast.parse((ROOT / "infra" / "functions.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "FunctionSpec"]
    given = {call.args[0].value: {k.arg: k.value.value for k in call.keywords} for call in calls}
    return {state: keywords.get("timeout_seconds", 90) for state, keywords in given.items()}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_state_that_computes_has_a_placeholder_and_a_handler_of_its_name(name):
    assert FUNCTIONS[name]["Arguments"]["FunctionName"] == f"${{{name}Function}}"
    assert (ROOT / "lambdas" / f"{snake(name)}.py").is_file()


def test_every_handler_belongs_to_a_state():
    handlers = {path.stem for path, tree in trees("lambdas") if path.parent.name == "lambdas" and _has_handler(tree)}
    assert handlers == {snake(name) for name in FUNCTIONS}


def _has_handler(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "handler" for node in tree.body)


def test_the_stack_makes_a_function_for_each_of_them_and_no_other():
    assert set(stack_functions()) == set(FUNCTIONS)


def test_a_state_waits_longer_than_its_function_may_take():
    functions = stack_functions()
    assert [name for name in FUNCTIONS if TASKS[name]["TimeoutSeconds"] <= functions[name]] == []


def test_the_job_s_state_waits_longer_than_a_job_may_queue_and_run():
    queueing = _constant(ROOT / "infra" / "spark_application.py", "_QUEUE_MINUTES")
    running = _constant(ROOT / "lambdas" / "prepare_job.py", "_LONGEST_JOB_MINUTES")
    assert TASKS["RunSparkJob"]["TimeoutSeconds"] > (queueing + running) * 60


def _constant(path: Path, name: str) -> int:
    (value,) = [
        node.value.value
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
    ]
    return int(value)


def test_placeholders_are_whole_texts_so_that_the_file_is_json_as_it_stands():
    found = [text for text in texts(STATES) if "${" in text]
    assert all(re.fullmatch(r"\$\{\w+\}", text) for text in found)
    assert len(re.findall(r"\$\{", PATH.read_text())) == len(found) == len(FUNCTIONS) + len(TASKS)


def test_no_partition_of_aws_is_written_into_the_definition():
    assert "arn:" not in PATH.read_text()


def test_every_error_that_is_retried_or_caught_exists():
    named = {
        error for task in TASKS.values() for rule in [*task["Retry"], *task["Catch"]] for error in rule["ErrorEquals"]
    }
    assert named <= SERVICES | set(error_names())


def test_every_service_error_allowed_here_is_used():
    assert {error for error in SERVICES if error not in PATH.read_text()} == set()


def test_every_error_is_raised_somewhere():
    folders = trees("pipeline", "lambdas", "spark", "infra")
    raised = {name for path, tree in folders if path != ROOT / "pipeline" / "errors.py" for name in _raised(tree)}
    assert set(error_names()) - raised == set()


def _raised(tree: ast.Module) -> set[str]:
    """What a file raises, returns for others to raise, or halts with: by name, also one that the file has given it."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Raise, ast.Return)):
            found |= _values(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("halt", "Halt") and node.args:
            found.add(ast.unparse(node.args[0]).removesuffix(".__name__"))
    given = [(name, node.value) for node in ast.walk(tree) for name in _names_given(node)]
    while more := {name for given_name, value in given if given_name in found for name in _values(value)} - found:
        found |= more
    return found


def _names_given(node: ast.AST) -> list[str]:
    """The names that a statement gives to a value."""
    if isinstance(node, ast.AnnAssign) and node.value:
        return [ast.unparse(node.target)]
    return [ast.unparse(target) for target in node.targets] if isinstance(node, ast.Assign) else []


def _values(node: ast.AST) -> set[str]:
    """The names in an expression that can become its value: none that is compared, asked for its kind, or for a part."""
    if isinstance(node, ast.Compare) or (isinstance(node, ast.Call) and ast.unparse(node.func) == "issubclass"):
        return set()
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Attribute):
        return set()
    parts = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        parts.append(node.func.value)  # what is asked by a method, as a dictionary is
    return set().union(*map(_values, parts))


def test_what_a_handler_takes_from_its_event_the_state_hands_it():
    for name in FUNCTIONS:
        tree = ast.parse((ROOT / "lambdas" / f"{snake(name)}.py").read_text())
        taken = {
            node.slice.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Subscript)
            and ast.unparse(node.value) == "event"
            and isinstance(node.slice, ast.Constant)
        }
        assert taken <= set(FUNCTIONS[name]["Arguments"]["Payload"]), name
