"""The roles of the deployed stack, and what each is granted."""

from __future__ import annotations

from collections.abc import Iterator

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


def _listed(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]
