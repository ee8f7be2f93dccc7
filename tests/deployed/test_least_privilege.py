"""Least privilege, proven by use: whatever a role of the stack is granted has been used in this run of the tests.

IAM is enforced from the first request and every evaluation is logged, so a missing right fails a test elsewhere; here a
right that nobody needs is found. Runs after every other test of the deployment (see conftest), and needs all of them.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.local_aws, pytest.mark.deployed]

#: Granted and not used here: construct of the role, action, and the reason.
UNUSED = {
    ("JobRole", "s3:AbortMultipartUpload"): "only when an upload of more than one part fails halfway",
    ("JobRole", "s3:DeleteObject"): "only after a write that was given up, and of metadata a hundred commits old",
}


@pytest.fixture(scope="module")
def access_log(request, deployed):
    """Every evaluation of IAM in this session, in which all tests of the deployment have run well."""
    ran = {item.path for item in request.session.items}
    left_out = sorted(path.name for path in Path(__file__).parent.glob("test_*.py") if path not in ran)
    assert left_out == [], (
        "what is granted is proven by the use that all tests make of it: run the whole of tests/deployed"
    )
    assert request.session.testsfailed == 0, "a test that failed has not used all it would: mend it first"
    return deployed.aws.access_log()


def test_everything_that_a_role_is_granted_is_used(deployed, access_log):
    used = {(e["role"], e["action"], e["resource"]) for e in access_log if e["allowed"]}
    unused = {
        (role, action, resource)
        for role, action, resource in granted(deployed)
        if not any(r == role and a == action and fnmatch.fnmatchcase(on, resource) for r, a, on in used)
    }
    excused = {one: [key for key in UNUSED if f"-{key[0]}" in one[0] and key[1] == one[1]] for one in unused}
    assert {one for one, reasons in excused.items() if not reasons} == set()
    assert UNUSED.keys() - {key for reasons in excused.values() for key in reasons} == set(), (
        "strike what is used by now"
    )


def test_nothing_was_denied_that_a_role_of_the_stack_asked_for(deployed, access_log):
    roles = set(role_names(deployed))
    denied = {(e["role"], e["action"], e["resource"]) for e in access_log if not e["allowed"] and e["role"] in roles}
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
