"""A parameter below the claims that is none stops the table, and the command of its mail removes it wherever it lies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.errors import ClaimUnreadable
from pipeline.mails.commands import filled
from tests.lambdas.account import DEPLOYMENT, Account
from tests.lambdas.ticks import plan

pytestmark = pytest.mark.local_aws

#: What the command needs of the AWS CLI, which is not installed here: its answers are the local AWS's.
_AWS = """#!{python}
import argparse, boto3, jmespath
parser = argparse.ArgumentParser()
parser.add_argument("service", choices=["ssm"])
parser.add_argument("call")
parser.add_argument("--region")
parser.add_argument("--path")
parser.add_argument("--recursive", action="store_true")
parser.add_argument("--query")
parser.add_argument("--output", choices=["text"])
parser.add_argument("--names", nargs="+")
asked = parser.parse_args()
ssm = boto3.client("ssm", region_name=asked.region)
if asked.call == "delete-parameters":
    ssm.delete_parameters(Names=asked.names)
else:
    pages = ssm.get_paginator(asked.call.replace("-", "_")).paginate(Path=asked.path, Recursive=asked.recursive)
    for page in pages:
        for row in jmespath.search(asked.query, page):
            print(row if isinstance(row, str) else "\\t".join(row))
"""


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An `aws` to be typed."""
    aws = tmp_path / "aws"
    aws.write_text(_AWS.format(python=sys.executable))
    aws.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


@pytest.mark.usefixtures("typed")
def test_the_mail_s_command_removes_every_claim_also_below_others_and_more_than_one_call_takes(account: Account):
    for name in ("run/a/b", "run/1/2/3", *(f"run/{number}" for number in range(1, 12))):
        account.put_parameter("orders", name, "no claim")
    with pytest.raises(ClaimUnreadable):
        plan(account.execution())
    command = filled(ClaimUnreadable.command, "orders", DEPLOYMENT)
    elsewhere = {**os.environ, **dict.fromkeys(("AWS_REGION", "AWS_DEFAULT_REGION"), "eu-west-1")}
    subprocess.run(["/bin/bash", "-o", "pipefail", "-ec", command], check=True, timeout=60, env=elsewhere)
    assert [name for name in account.parameters() if name.startswith("run/")] == []
    assert plan(account.execution())["claim"] == 1
