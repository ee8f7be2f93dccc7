"""Least privilege, proven by use: whatever a role of the stack is granted has been used in this run of the tests.

IAM is enforced from the first request and every evaluation is logged, so a missing right fails a test elsewhere; here a
right that nobody needs is found. Runs after every other test of the deployment (see conftest), and needs all of them.
"""

from __future__ import annotations

import fnmatch
from pathlib import Path

import pytest

from tests.deployed.roles import granted, role_names

pytestmark = [pytest.mark.local_aws, pytest.mark.deployed]

#: Granted and not used here: construct of the role, action, and the reason.
UNUSED = {
    ("JobRole", "s3:AbortMultipartUpload"): "only when an upload of more than one part fails halfway",
    ("RecordWatermark", "glue:GetDatabase"): "only for a table that is gone since its job's commit",
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
