"""One local AWS for all of these tests, put back to an empty account after each."""

import io
import json
import textwrap
import time
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from local.control import LocalAws
from tests.local_command import Run, many_verbs


@pytest.fixture(scope="session")
def launched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    """The process, with IAM enforced from its first request."""
    aws = LocalAws.start(tmp_path_factory.mktemp("local-aws"))
    try:
        aws.set_knobs(schedules_fire_by_themselves=False)
        aws.snapshot()
        yield aws
    finally:
        aws.stop()


@pytest.fixture
def aws(launched: LocalAws) -> Iterator[LocalAws]:
    """An empty account."""
    yield launched
    launched.restore()


@pytest.fixture(scope="module")
def verbs() -> Iterator[Run]:
    """Runs verbs of ``python -m local``, all of a module's in one process."""
    with many_verbs() as run:
        yield run


class Account:
    """Makes what the tests need, with as few words as possible; root does it."""

    def __init__(self, aws: LocalAws) -> None:
        self.aws = aws
        self._checks_before = len(aws.access_log())

    def role(self, name: str, service: str, *allowed: dict[str, Any], only: dict[str, Any] | None = None) -> str:
        """A role a service may assume, with the given statements' Action and Resource; returns its ARN.

        `only`: the conditions under which it may.
        """
        iam = self.aws.client("iam")
        trust = {"Effect": "Allow", "Principal": {"Service": f"{service}.amazonaws.com"}, "Action": "sts:AssumeRole"}
        trust = {**trust, "Condition": only} if only else trust
        document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        arn: str = iam.create_role(RoleName=name, AssumeRolePolicyDocument=document)["Role"]["Arn"]
        if allowed:
            statements = [{"Effect": "Allow", **statement} for statement in allowed]
            policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
            iam.put_role_policy(RoleName=name, PolicyName="inline", PolicyDocument=policy)
        return arn

    def function(self, name: str, code: str, role: str) -> str:
        """A Python function from its source, entered at `handler`; returns its ARN."""
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as bundle:
            # Without a time, so that the same code is the same archive.
            bundle.writestr(zipfile.ZipInfo("index.py"), textwrap.dedent(code))
        made = self.aws.client("lambda").create_function(
            FunctionName=name,
            Runtime="python3.11",
            Role=role,
            Handler="index.handler",
            Code={"ZipFile": archive.getvalue()},
            Timeout=20,
        )
        return str(made["FunctionArn"])

    def machine(self, states: dict[str, Any], role: str, name: str = "machine", **definition: Any) -> str:
        """A JSONata state machine that starts at its first state; returns its ARN."""
        body = {"QueryLanguage": "JSONata", "StartAt": next(iter(states)), "States": states, **definition}
        made = self.aws.client("stepfunctions").create_state_machine(
            name=name, definition=json.dumps(body), roleArn=role
        )
        return str(made["stateMachineArn"])

    def start(self, machine: str, given: Any = None, **more: Any) -> str:
        """Start an execution; returns its ARN."""
        started = self.aws.client("stepfunctions").start_execution(
            stateMachineArn=machine, input=json.dumps(given or {}), **more
        )
        return str(started["executionArn"])

    def ended(self, execution: str, within: float = 15.0) -> dict[str, Any]:
        """The execution once it runs no longer."""
        return self.until(lambda: self.described(execution), lambda found: found["status"] != "RUNNING", within)

    def described(self, execution: str) -> dict[str, Any]:
        """The execution as it is now."""
        found: dict[str, Any] = self.aws.client("stepfunctions").describe_execution(executionArn=execution)
        return found

    def run(self, machine: str, given: Any = None) -> dict[str, Any]:
        """Start and wait for the end."""
        return self.ended(self.start(machine, given))

    def until(self, look: Callable[[], Any], good: Callable[[Any], bool], within: float = 15.0) -> Any:
        """Look until what is seen is good; fails with the last sight."""
        deadline = time.monotonic() + within
        while not good(seen := look()):
            assert time.monotonic() < deadline, seen
            time.sleep(0.03)
        return seen

    def checks(self, role: str) -> list[tuple[str, str, bool]]:
        """The access log since the test began, for one role, by the end of its ARN: action, resource, allowed."""
        name = role.rsplit("/", 1)[-1]
        log = self.aws.access_log()[self._checks_before :]
        return [(one["action"], one["resource"], one["allowed"]) for one in log if one["role"] == name]


@pytest.fixture
def account(aws: LocalAws) -> Account:
    return Account(aws)


@pytest.fixture
def make_account() -> type[Account]:
    """For tests that start a process of their own."""
    return Account
