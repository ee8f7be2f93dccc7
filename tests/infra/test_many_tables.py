"""The hundredth table costs a schedule and its parameters, and IAM's limits hold."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from infra.grants import Right
from infra.paths import ROOT
from infra.roles import MOST_INLINE, MOST_MANAGED, MOST_POLICIES, pack
from pipeline.errors import SettingRefused

TABLES = 145  # as in the fixture

#: What the README calls each kind of thing; subscriptions and resource policies go with what they are of.
NAMES = {
    "IAM::Role": "IAM roles",
    "IAM::ManagedPolicy": "policies",
    "Lambda::Function": "Lambda functions",
    "Logs::LogGroup": "log groups",
    "StepFunctions::StateMachine": "state machine",
    "Scheduler::Schedule": "schedules",
    "EMRServerless::Application": "EMR Serverless application",
    "S3::Bucket": "bucket",
    "Glue::Database": "Glue database",
    "Glue::Table": "table",
    "SSM::Parameter": "parameters",
    "SNS::Topic": "SNS topics",
    "SQS::Queue": "queue",
    "KMS::Key": "KMS key",
    "CloudWatch::Alarm": "alarms",
    "CloudWatch::Dashboard": "dashboard",
}

pytestmark = pytest.mark.synth


def kinds(template) -> Counter[str]:
    return Counter(resource["Type"] for resource in template.resources.values())


def characters(document) -> int:
    return len(json.dumps(document, separators=(",", ":")))


def test_tables_cost_a_schedule_and_two_parameters_each_and_a_few_policies_together(template, of_many):
    more = kinds(of_many) - kinds(template)
    policies = more.pop("AWS::IAM::ManagedPolicy")
    assert more == {"AWS::Scheduler::Schedule": TABLES - 1, "AWS::SSM::Parameter": 2 * (TABLES - 1)}
    assert policies <= 10
    assert len(of_many.resources) <= 500


def test_the_readme_names_every_kind_of_thing_that_cloudformation_must_be_let_make(of_many):
    parts = re.search(r"must let it make the stack's parts: ([^.]*)\.", (ROOT / "README.md").read_text())
    assert parts
    named = set(re.split(r"(?:,| and) (?:an? )?", parts[1]))
    made = {kind.removeprefix("AWS::") for kind in kinds(of_many)}
    assert {NAMES[kind] for kind in made if not re.search("Subscription|(Bucket|Topic|Queue)Policy", kind)} == named


def test_every_roles_policies_stay_below_iams_limits(of_many):
    for role in of_many.of("IAM::Role").values():
        assert sum(characters(policy["PolicyDocument"]) for policy in role["Policies"]) <= MOST_INLINE
        assert len(role.get("ManagedPolicyArns", [])) <= MOST_POLICIES
    for policy in of_many.of("IAM::ManagedPolicy").values():
        assert characters(policy["PolicyDocument"]) <= MOST_MANAGED


def test_every_table_may_be_described_and_exported(of_many):
    documents = [p["PolicyDocument"] for r in of_many.of("IAM::Role").values() for p in r["Policies"]]
    documents += [p["PolicyDocument"] for p in of_many.of("IAM::ManagedPolicy").values()]
    allowed: Counter[tuple[str, str]] = Counter()
    for statement in (s for document in documents for s in document["Statement"]):
        for action in statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]:
            if action.startswith("dynamodb:"):
                allowed[action, "all"] += len(statement["Resource"]) if isinstance(statement["Resource"], list) else 1
    assert {action: count for (action, _), count in allowed.items()} == {
        "dynamodb:DescribeTable": 2 * TABLES,
        "dynamodb:DescribeContinuousBackups": 3 * TABLES,
        "dynamodb:ExportTableToPointInTime": TABLES,
        "dynamodb:DescribeExport": TABLES,
    }


def test_a_mail_address_for_every_table_needs_no_list_of_them(of_many):
    filters = {
        s["Endpoint"]: s["FilterPolicy"] for s in of_many.of("SNS::Subscription").values() if "FilterPolicy" in s
    }
    assert filters == {
        "data-team@example.com": {"list": ["success", "failure"]},
        "on-call@example.com": {"list": ["failure"]},
    }


def test_the_longest_names_still_fit_one_statement_into_a_policy():
    names = tuple(f"arn:aws-us-gov:dynamodb:us-gov-east-1:123456789012:table/{'n' * 250}{i:05}" for i in range(40))
    actions = ("dynamodb:ExportTableToPointInTime", "dynamodb:DescribeTable", "dynamodb:DescribeContinuousBackups")
    parts = pack([Right(actions, names)])
    assert [resource for part in parts for right in part for resource in right.resources] == list(names)
    for part in parts[1:]:
        statements = [{"Effect": "Allow", "Action": r.actions, "Resource": r.resources} for r in part]
        assert characters({"Version": "2012-10-17", "Statement": statements}) <= MOST_MANAGED


def test_more_names_than_a_roles_policies_can_list_are_refused_by_name():
    names = tuple(f"arn:aws:dynamodb:eu-west-1:123456789012:table/{'n' * 250}{i:05}" for i in range(300))
    with pytest.raises(SettingRefused, match="tables have more names than a role's policies can list"):
        pack([Right(("dynamodb:DescribeTable",), names)])
