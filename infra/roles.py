"""Roles: trust and rights in one piece, and how many tables' ARNs fit into IAM's limits.

Rights are inline while they fit (10,240 characters a role) and go on in managed policies (6,144 characters each, ten a
role). A right on many resources is cut into several statements, so that it can be spread.
Limits: "IAM and AWS STS quotas" of the IAM guide; white space does not count there, and is not written here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from aws_cdk import Acknowledgment, Aws, Stack, Validations
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.grants import Right
from pipeline.errors import SettingRefused

MOST_INLINE, MOST_MANAGED, MOST_POLICIES = 10_240, 6_144, 10
#: What helps where tables do not fit into one stack.
SPREAD = "spread them over two deployments, each with a stack_name and a database of its own"
#: Room for the document around the statements.
_FRAME = 100
#: Resources in one statement: few enough that a statement of the longest ARNs still fits a managed policy.
_RESOURCES_AT_ONCE = 15
#: A deploy-time value is counted as this long: the bucket's name and the topic's ARN are the longest, and appear seldom.
_LONGEST_TOKEN = 64
_TOKEN = re.compile(r"\$\{Token\[[^\]]+\]\}")
_KNOWN_LENGTHS = {"AWS.Partition": 10, "AWS.Region": 14, "AWS.AccountId": 12}


class Role(Construct):
    """A role that one service may take, for this account and, where given, for one source only."""

    def __init__(
        self, scope: Construct, id: str, *, service: str, rights: Sequence[Right], source_arn: str = ""
    ) -> None:
        super().__init__(scope, id)
        inline, *managed = pack(rights)
        role = iam.Role(
            self,
            "Role",
            assumed_by=_principal(service, source_arn),
            inline_policies={"Rights": _document(inline)},
            managed_policies=[
                iam.ManagedPolicy(self, f"MoreRights{n}", document=_document(part)) for n, part in enumerate(managed)
            ],
        )
        self.arn = role.role_arn
        #: The role, closed: no construct can add to what `grants` says.
        self.fixed = role.without_policy_updates()
        for right in rights:
            self._acknowledge_wildcards(right)

    def _acknowledge_wildcards(self, right: Right) -> None:
        """Give each wildcard its reason, one by one, so that a new one does not slip in under an old reason."""
        for resource in right.resources:
            if "*" in (name := _name(Stack.of(self).resolve(resource))):
                finding = f"AwsSolutions-IAM5[Resource::{name}]"
                Validations.of(self).acknowledge(Acknowledgment(id=finding, reason=right.why_wildcard))


def _name(resolved: Any) -> str:
    """A resource as cdk-nag names it in a finding: deploy-time values in angle brackets."""
    if isinstance(resolved, str):
        return resolved
    ((function, value),) = resolved.items()
    if function == "Fn::Join":
        return "".join(map(_name, value[1]))
    if function == "Fn::Sub":
        return re.sub(r"\$\{([^}]+)\}", r"<\1>", value)
    return f"<{value if isinstance(value, str) else '.'.join(value)}>"


def pack(rights: Sequence[Right]) -> list[list[Right]]:
    """Spread rights over policies: the first inline, the others managed. Raises SettingRefused when they never fit."""
    parts: list[list[Right]] = [[]]
    room = MOST_INLINE - _FRAME
    for right in _cut(rights):
        size = _size(right)
        if size > room:
            parts.append([])
            room = MOST_MANAGED - _FRAME
        parts[-1].append(right)
        room -= size
    if len(parts) > 1 + MOST_POLICIES:
        raise SettingRefused(
            f"tables have more names than a role's policies can list ({len(parts)} policies, allowed are "
            f"{1 + MOST_POLICIES}); {SPREAD}"
        )
    return parts


def _cut(rights: Sequence[Right]) -> Iterator[Right]:
    """Rights that need no table first, so that a new table moves as little as possible."""
    for right in sorted(rights, key=lambda right: len(right.resources) > _RESOURCES_AT_ONCE):
        for first in range(0, len(right.resources), _RESOURCES_AT_ONCE):
            yield replace(right, resources=right.resources[first : first + _RESOURCES_AT_ONCE])


def _size(right: Right) -> int:
    """Characters of the statement, deploy-time values at their longest."""
    statement = {
        "Effect": "Allow",
        "Action": right.actions,
        "Resource": right.resources,
        "Condition": dict(right.conditions),
    }
    text = json.dumps(statement, separators=(",", ":"))
    return len(_TOKEN.sub(lambda token: "x" * _length(token[0]), text)) + 1


def _length(token: str) -> int:
    return next((length for name, length in _KNOWN_LENGTHS.items() if name in token), _LONGEST_TOKEN)


def _principal(service: str, source_arn: str) -> iam.ServicePrincipal:
    """The service, acting for this account: nobody else's resource can borrow the role through it."""
    conditions: dict[str, dict[str, str]] = {"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
    if service == "lambda.amazonaws.com":
        # Lambda takes a function's role without a source in the request: a condition would lock it out.
        conditions = {}
    if source_arn:
        conditions["ArnLike"] = {"aws:SourceArn": source_arn}
    return iam.ServicePrincipal(service, conditions=conditions)


def _document(rights: Sequence[Right]) -> iam.PolicyDocument:
    statements = [
        iam.PolicyStatement(
            actions=list(right.actions),
            resources=list(right.resources),
            conditions={operator: dict(keys) for operator, keys in right.conditions.items()},
        )
        for right in rights
    ]
    # Not minimised: statements stay as `grants` says them.
    return iam.PolicyDocument(statements=statements, minimize=False)
