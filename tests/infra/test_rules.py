"""The stack against other people's rules: cdk-nag's AwsSolutions and cfn-lint."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk import aws_s3 as s3
from cdk_nag import AwsSolutionsChecks

from infra.paths import ROOT
from infra.stack import TidemarkStack

#: CDK writes a DependsOn for each role although the reference says the same.
_BY_CDK = "W3005"

pytestmark = pytest.mark.synth


def checked(folder):
    app = App(context=json.loads((ROOT / "cdk.json").read_text())["context"], outdir=str(folder))
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return app


def test_cdk_nag_finds_nothing_without_a_reason(tmp_path, settings):
    app = checked(tmp_path)
    TidemarkStack(app, settings.stack_name, settings=settings)
    app.synth()


def test_cdk_nag_is_awake(tmp_path):
    app = checked(tmp_path)
    s3.Bucket(Stack(app, "Careless"), "Bucket")
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    assert "AwsSolutions-S10" in (tmp_path / "validation-report.json").read_text()


def test_cfn_lint_finds_nothing(template):
    lint = Path(sys.executable).with_name("cfn-lint")
    ended = subprocess.run(  # the checker that the lock file names
        [lint, "--ignore-checks", _BY_CDK, "--regions", "eu-west-1", "--", template.path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.stdout, ended.returncode) == ("", 0)
