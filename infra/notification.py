"""The topics that carry mail: one for runs, filtered by mail list and table, one for alarms.

SNS knows one subscription per address and topic: a second one with another filter is refused. Whoever wants successes of
some tables and failures of others gets one filter with an ``$or``. Alarms come without message attributes, which every
filter would drop: hence a topic of their own.
Limits: "Filter policy constraints" of the SNS guide (150 combinations of values, those of all branches together; 200
filters a topic).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from pipeline.errors import SettingRefused
from pipeline.mails.frame import MAIL_LISTS, UNKNOWN_TABLE
from pipeline.settings import TableSettings

_MOST_COMBINATIONS = 150
_MOST_ADDRESSES = 200
# What the attribute `list` of a mail says: the name of a list in the settings. A filter by status would need three values
# for whoever wants failures, and SNS counts values times tables.
_LISTS = tuple(dict.fromkeys(MAIL_LISTS.values()))


class Notification(Construct):
    """Two encrypted topics under a key of their own, and a subscription per address."""

    def __init__(self, scope: Construct, id: str, *, tables: Sequence[TableSettings]) -> None:
        super().__init__(scope, id)
        self.key = kms.Key(
            self,
            "Key",
            description="Encrypts Tidemark's mails.",
            # Said though it is so anyway: drift is only found in what the template states.
            enabled=True,
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.topic = sns.Topic(self, "Topic", master_key=self.key, enforce_ssl=True)
        self.alarms = sns.Topic(self, "Alarms", master_key=self.key, enforce_ssl=True)
        self._let_cloudwatch_publish()
        filters = mail_filters(tables)
        for address, policy in filters.items():
            self._subscribe(self.topic, address, policy)
        for address in sorted({address for table in tables for address in table.mail.failure}):
            self._subscribe(self.alarms, address, None)

    def _subscribe(self, topic: sns.Topic, address: str, policy: dict[str, Any] | None) -> None:
        sns.CfnSubscription(
            topic,
            # CDK would make two dashes of a slash, which another address may have; a colon none has.
            address.replace("/", ":"),
            topic_arn=topic.topic_arn,
            protocol="email",
            endpoint=address,
            filter_policy=policy,
            # What a filter is about unless it says otherwise; said, so that a change by hand is seen.
            filter_policy_scope="MessageAttributes" if policy else None,
        )

    def _let_cloudwatch_publish(self) -> None:
        """Alarms act as CloudWatch itself, which has no role: the topic and the key must name it."""
        cloudwatch = iam.ServicePrincipal(
            "cloudwatch.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
        )
        self.alarms.add_to_resource_policy(
            iam.PolicyStatement(
                sid="Alarms", principals=[cloudwatch], actions=["sns:Publish"], resources=[self.alarms.topic_arn]
            )
        )
        self.key.add_to_resource_policy(
            iam.PolicyStatement(
                sid="Alarms", principals=[cloudwatch], actions=["kms:GenerateDataKey", "kms:Decrypt"], resources=["*"]
            )
        )


def mail_filters(tables: Sequence[TableSettings]) -> dict[str, dict[str, Any]]:
    """Every address and the filter policy that lets its mails through. Raises SettingRefused beyond SNS's limits."""
    addresses = sorted({address for table in tables for kind in _LISTS for address in getattr(table.mail, kind)})
    if len(addresses) > _MOST_ADDRESSES:
        raise SettingRefused(f"mail has {len(addresses)} addresses; allowed are {_MOST_ADDRESSES} in all")
    return {address: _filter(address, tables) for address in addresses}


def _filter(address: str, tables: Sequence[TableSettings]) -> dict[str, Any]:
    wanted = {kind: tuple(table.name for table in tables if address in getattr(table.mail, kind)) for kind in _LISTS}
    # Lists that are wanted of the same tables share a branch.
    branches: dict[tuple[str, ...], list[str]] = {}
    for kind, names in wanted.items():
        if names:
            branches.setdefault(names, []).append(kind)
    policies = [_branch(kinds, names, tables) for names, kinds in branches.items()]
    combinations = sum(math.prod(map(len, policy.values())) for policy in policies)
    if combinations > _MOST_COMBINATIONS:
        raise SettingRefused(
            f"mail names {address} for so many tables, not all, that its filter has {combinations} combinations of list "
            f"and table; allowed are {_MOST_COMBINATIONS}, or all tables of a list"
        )
    return policies[0] if len(policies) == 1 else {"$or": policies}


def _branch(kinds: list[str], names: tuple[str, ...], tables: Sequence[TableSettings]) -> dict[str, list[str]]:
    if len(names) == len(tables):
        return {"list": kinds}
    return {"list": kinds, "table": [*names, *([UNKNOWN_TABLE] if "failure" in kinds else [])]}
