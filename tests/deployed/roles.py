"""The roles of the deployed stack, and what each is granted; and a role for a person beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from local.aws.account import ACCOUNT
from local.control import LocalAws
from local.deployed import Deployed


def role_names(deployed: Deployed) -> Iterator[str]:
    """The names of the roles."""
    pages = deployed.aws.client("cloudformation").get_paginator("list_stack_resources")
    for page in pages.paginate(StackName=deployed.stack_name):
        for resource in page["StackResourceSummaries"]:
            if resource["ResourceType"] == "AWS::IAM::Role":
                yield resource["PhysicalResourceId"]


def granted(deployed: Deployed) -> Iterator[tuple[str, str, str]]:
    """(role, action, resource) for each pair that an inline or attached policy of the stack's roles allows."""
    iam = deployed.aws.client("iam")
    for role in role_names(deployed):
        documents = [
            iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
            for name in iam.list_role_policies(RoleName=role)["PolicyNames"]
        ]
        for attached in iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]:
            policy = iam.get_policy(PolicyArn=attached["PolicyArn"])["Policy"]
            version = iam.get_policy_version(PolicyArn=policy["Arn"], VersionId=policy["DefaultVersionId"])
            documents.append(version["PolicyVersion"]["Document"])
        for statement in (s for document in documents for s in document["Statement"]):
            for action in _listed(statement["Action"]):
                for resource in _listed(statement["Resource"]):
                    yield role, action, resource


def environment_of_a_person(aws: LocalAws, statements: list[dict[str, object]]) -> dict[str, str]:
    """The whole environment of a person who is allowed this and nothing else."""
    root = {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}
    trust = [{"Effect": "Allow", "Principal": root, "Action": "sts:AssumeRole"}]
    made = aws.client("iam").create_role(RoleName="person", AssumeRolePolicyDocument=_policy(trust))
    aws.client("iam").put_role_policy(RoleName="person", PolicyName="person", PolicyDocument=_policy(statements))
    session = aws.client("sts").assume_role(RoleArn=made["Role"]["Arn"], RoleSessionName="person")["Credentials"]
    return {
        **aws.environment,
        "AWS_ACCESS_KEY_ID": session["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": session["SecretAccessKey"],
        "AWS_SESSION_TOKEN": session["SessionToken"],
    }


def _policy(statements: list[dict[str, object]]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def _listed(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]
