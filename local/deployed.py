"""The real deployment on the local AWS: ``cdk bootstrap`` and ``cdk deploy`` as a person would run them, and what came of it."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.aws.account import ACCOUNT, REGION
from local.control import ROOT, LocalAws
from local.failed import Failed

_CDK = ROOT / "node_modules" / ".bin" / "cdk"
_POLL_SECONDS = 0.2
_ENDED = ("SUCCEEDED", "FAILED", "ABORTED", "TIMED_OUT")


class DeployFailed(Failed):
    """The CDK CLI ended with an error; the text is what it printed."""


class RunTooLong(Failed):
    """An execution has not ended in the time allowed; the text names the state it is in."""


@dataclass(frozen=True)
class Deployed:
    """A stack on a local AWS: its outputs, and its executions."""

    aws: LocalAws
    stack_name: str
    outputs: Mapping[str, str]

    @property
    def state_machine(self) -> str:
        """The state machine's ARN."""
        return self.outputs["StateMachineArn"]

    def start(self, **asked: Any) -> str:
        """Start an execution by hand; returns its ARN."""
        started = self.aws.client("stepfunctions").start_execution(
            stateMachineArn=self.state_machine, input=json.dumps(asked)
        )
        return str(started["executionArn"])

    def executions(self) -> list[str]:
        """Every execution's ARN, newest first."""
        pages = self.aws.client("stepfunctions").get_paginator("list_executions")
        found = pages.paginate(stateMachineArn=self.state_machine)
        return [execution["executionArn"] for page in found for execution in page["executions"]]

    def describe(self, execution: str) -> dict[str, Any]:
        """DescribeExecution's answer."""
        described: dict[str, Any] = self.aws.client("stepfunctions").describe_execution(executionArn=execution)
        return described

    def wait(self, execution: str, seconds: float = 300) -> dict[str, Any]:
        """Wait until an execution has ended; returns its description. Raises RunTooLong."""
        end = time.monotonic() + seconds
        while (described := self.describe(execution))["status"] not in _ENDED:
            if time.monotonic() > end:
                last = next(iter(self.history(execution, newest_first=True)), {})
                raise RunTooLong(f"{execution} still runs after {seconds} s; its last event is {last}")
            time.sleep(_POLL_SECONDS)
        return described

    def history(self, execution: str, *, newest_first: bool = False) -> Iterator[dict[str, Any]]:
        """The execution's events."""
        pages = self.aws.client("stepfunctions").get_paginator("get_execution_history")
        for page in pages.paginate(executionArn=execution, reverseOrder=newest_first):
            yield from page["events"]

    def parameter_path(self, table: str, name: str) -> str:
        """The full name of one of a table's parameters."""
        return f"{self.outputs['ParameterPrefix']}/{table}/{name}"

    def parameter(self, table: str, name: str) -> str:
        """The value of one of a table's parameters, or "" where it does not exist."""
        found = self.aws.client("ssm").get_parameters(Names=[self.parameter_path(table, name)])["Parameters"]
        return str(found[0]["Value"]) if found else ""


def deploy(aws: LocalAws, settings: Mapping[str, Any], folder: Path) -> Deployed:
    """Bootstrap the account and deploy the stack with these settings; `folder` takes the assembly and the outputs.

    Synth and bootstrap run at the same time: neither needs the other. Raises DeployFailed.
    """
    folder = folder.resolve()  # the CLI works in folders of ours, not in the one that this process is in
    folder.mkdir(parents=True, exist_ok=True)
    asked = folder / "settings.json"
    asked.write_text(json.dumps(settings))
    assembly, outputs = folder / "cdk.out", folder / "outputs.json"
    synth = _start(aws, ROOT, "synth", "--quiet", "-c", f"tidemark-settings={asked}", "--output", str(assembly))
    # In a folder without a cdk.json the CLI bootstraps without asking the app anything.
    _finish(_start(aws, folder, "bootstrap", f"aws://{ACCOUNT}/{REGION}"))
    _finish(synth)
    answer = ("--require-approval", "never", "--outputs-file", str(outputs))
    _finish(_start(aws, ROOT, "deploy", "--app", str(assembly), *answer))
    ((name, values),) = json.loads(outputs.read_text()).items()
    return Deployed(aws, name, values)


def _start(aws: LocalAws, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(_CDK), *arguments, "--ci", "--no-notices"],
        cwd=folder,
        env=aws.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",  # as Node.js writes, whatever the locale
        errors="replace",
    )


def _finish(process: subprocess.Popen[str]) -> None:
    output, _ = process.communicate()
    if process.returncode:
        raise DeployFailed(output)
