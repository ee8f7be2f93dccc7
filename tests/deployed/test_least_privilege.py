"""Least privilege, proven by use: whatever a role of the stack is granted has been used in this run of the tests.

IAM is enforced from the first request and every evaluation is logged, so a missing right fails a test elsewhere; here a
right that nobody needs is found. Runs after every other test of the deployment (see conftest).
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator

import pytest

pytestmark = [pytest.mark.local_aws, pytest.mark.deployed]

#: Granted and not used here, each with its reason. The rest of an action's name may be a pattern.
UNUSED = {
    "s3:PutObjectAcl": "DynamoDB asks for it (developer guide); exports to a bucket without ACLs never use it",
    "s3:AbortMultipartUpload": "only when an upload fails halfway",
    "sqs:SendMessage": "only when a tick cannot be delivered",
    "s3:DeleteObject": "the job removes files only after a write that failed halfway",
    "ssm:DeleteParameters": "needs three runs with work in a row",
}


def test_everything_that_a_role_is_granted_is_used(deployed):
    used = {(e["role"], e["action"], e["resource"]) for e in deployed.aws.access_log() if e["allowed"]}
    unused = [
        f"{role}: {action} on {resource}"
        for role, action, resource in granted(deployed)
        if not any(r == role and a == action and fnmatch.fnmatchcase(on, resource) for r, a, on in used)
        and not any(fnmatch.fnmatchcase(action, pattern) for pattern in UNUSED)
    ]
    assert unused == []


def test_nothing_was_denied_that_a_role_of_the_stack_asked_for(deployed):
    roles = set(role_names(deployed))
    denied = {(e["role"], e["action"]) for e in deployed.aws.access_log() if not e["allowed"] and e["role"] in roles}
    assert denied == set()


def role_names(deployed) -> Iterator[str]:
    pages = deployed.aws.client("cloudformation").get_paginator("list_stack_resources")
    for page in pages.paginate(StackName=deployed.stack_name):
        for resource in page["StackResourceSummaries"]:
            if resource["ResourceType"] == "AWS::IAM::Role":
                yield resource["PhysicalResourceId"]


def granted(deployed) -> Iterator[tuple[str, str, str]]:
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
            for action in listed(statement["Action"]):
                for resource in listed(statement["Resource"]):
                    yield role, action, resource


def listed(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]
