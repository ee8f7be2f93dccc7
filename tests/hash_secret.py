"""A secret that hashes are keyed with, made as docs/settings.md says: with the policies of its own commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from local.control import LocalAws

_SETTINGS = Path(__file__).parents[1] / "docs" / "settings.md"
_ACCOUNT, _REGION = "000000000000", "us-east-1"


def documented_policy(command: str, option: str, **variables: str) -> str:
    """The policy that a command of docs/settings.md gives, with the shell's variables put in."""
    found = re.search(rf"aws {command} .*?{option} ('.*?\]}}')", _SETTINGS.read_text(), re.DOTALL)
    assert found, f"docs/settings.md has no {command} with {option}"
    (policy,) = shlex.split(found.group(1))
    for name, value in {"account": _ACCOUNT, "AWS_REGION": _REGION, **variables}.items():
        policy = policy.replace(f"${name}", value)
    return policy


def make_key(aws: LocalAws) -> str:
    """A key that EMR Serverless may decrypt secrets with; returns its ARN."""
    made = aws.client("kms").create_key(Policy=documented_policy("kms create-key", "--policy"))
    return str(made["KeyMetadata"]["Arn"])


def let_emr_serverless_read(aws: LocalAws, name: str, application: str) -> None:
    """Give a secret the policy that lets the jobs of an application have it."""
    arn = aws.client("emr-serverless").get_application(applicationId=application)["application"]["arn"]
    policy = documented_policy("secretsmanager put-resource-policy", "--resource-policy", arn=arn)
    aws.client("secretsmanager").put_resource_policy(SecretId=name, ResourcePolicy=policy)


def make_secret(aws: LocalAws, name: str, text: str, application: str) -> None:
    """A secret that the jobs of an application may have."""
    aws.client("secretsmanager").create_secret(Name=name, SecretString=text, KmsKeyId=make_key(aws))
    let_emr_serverless_read(aws, name, application)
