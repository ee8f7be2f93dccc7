"""Every shared setting reaches what it is about: a deployment that has nothing by default."""

from __future__ import annotations

import json
import re
from dataclasses import fields

import pytest
from aws_cdk import Stack, assertions

from infra.log_groups import log_group
from infra.paths import ROOT
from infra.storage import Storage
from pipeline.settings import Settings

#: Names that are the same in every deployment, or hold the stack's own.
_FIXED = re.compile(r"/tidemark/Shop-Copies\b|\{Tidemark,service,table\}|\btidemark_runs\b")


def test_no_shared_setting_of_the_shop_is_its_default(shop):
    plain = Settings(tables=())
    same = [f.name for f in fields(plain) if getattr(shop, f.name) == getattr(plain, f.name)]
    same += [f.name for f in fields(plain.spark) if getattr(shop.spark, f.name) == getattr(plain.spark, f.name)]
    assert same == []


def test_no_name_of_another_deployment_is_left(of_shop):
    found = {(key, text) for key, text in texts(of_shop.raw) if "tidemark" in _FIXED.sub("", text).lower()}
    assert found == {
        ("Namespace", "Tidemark"),
        ("POWERTOOLS_METRICS_NAMESPACE", "Tidemark"),
        ("Description", "Tidemark: keeps Apache Iceberg copies of DynamoDB tables fresh."),
        ("Description", "Iceberg copies of DynamoDB tables, kept fresh by Tidemark."),
        ("Description", "Encrypts Tidemark's mails."),
    }


def test_the_functions_are_told_the_settings_and_where_the_rest_of_their_deployment_is(of_shop):
    told = {
        "POWERTOOLS_SERVICE_NAME": "Shop-Copies",
        "TIDEMARK_STACK_NAME": "Shop-Copies",
        "TIDEMARK_DEFAULT_TABLE": "",
        "TIDEMARK_PARAMETER_PREFIX": "/tidemark/Shop-Copies",
        "TIDEMARK_DATABASE": "shop_lake",
        "TIDEMARK_STATE_MACHINE_ARN": "arn:aws:states:eu-west-1:123456789012:stateMachine:Shop-Copies",
        "TIDEMARK_WORKER_VCPUS": "8",
        "TIDEMARK_WORKER_MEMORY_GB": "40",
        "TIDEMARK_WORKER_DISK_GB": "50",
        "TIDEMARK_MAX_EXECUTORS": "5",
    }
    for function in of_shop.of("Lambda::Function").values():
        variables = function["Environment"]["Variables"]
        assert {name: variables[name] for name in told} == told


def test_the_stack_gives_its_name_to_its_state_machine_its_application_and_its_parameters(of_shop):
    machine = of_shop.one("StepFunctions::StateMachine")
    assert machine["StateMachineName"] == of_shop.one("EMRServerless::Application")["Name"] == "Shop-Copies"
    assert "/aws/vendedlogs/states/Shop-Copies" in [
        g.get("LogGroupName") for g in of_shop.of("Logs::LogGroup").values()
    ]
    of_orders, of_carts = "/tidemark/Shop-Copies/orders", "/tidemark/Shop-Copies/carts"
    values = {parameter["Name"]: parameter["Value"] for parameter in of_shop.of("SSM::Parameter").values()}
    assert set(values) == {f"{of}/{name}" for of in (of_orders, of_carts) for name in ("settings", "control")}
    assert (values[f"{of_orders}/control"], values[f"{of_carts}/control"]) == ("RUN", "PAUSE")
    # Runs go by `control` alone: what is tried until the settings are others does not go on with a pause.
    assert "paused" not in values[f"{of_carts}/settings"]


def test_the_manual_says_where_the_deployment_s_own_files_are_left_and_they_are_all_there(of_shop):
    files = json.loads((of_shop.folder / "Shop-Copies.assets.json").read_text())["files"].values()
    places = [place for file in files for place in file["destinations"].values()]
    (bucket,) = {place["bucketName"] for place in places}
    assert {place["objectKey"].split("/")[0] for place in places} == {"Shop-Copies"}
    named = bucket.replace("${AWS::AccountId}", "<account>").replace("${AWS::Region}", "<Region>")
    assert f"`aws s3 rm --recursive s3://{named}/Tidemark/`" in (ROOT / "docs" / "operations.md").read_text()


def test_the_outputs_name_the_deployment(of_shop):
    outputs = {name: output["Value"] for name, output in of_shop.raw["Outputs"].items()}
    assert (outputs["DatabaseName"], outputs["ParameterPrefix"]) == ("shop_lake", "/tidemark/Shop-Copies")


def test_the_database_has_its_name_and_the_reports_are_in_it(of_shop):
    database = of_shop.one("Glue::Database")
    assert (database["DatabaseName"], database["DatabaseInput"]["Name"]) == ("shop_lake", "shop_lake")
    assert of_shop.one("Glue::Table")["DatabaseName"] == "shop_lake"


def test_rights_reach_into_this_deployment_and_no_other(of_shop):
    policies = [policy for role in of_shop.of("IAM::Role").values() for policy in role["Policies"]]
    named = {text.removeprefix("arn:aws:") for key, text in texts(policies) if key == "Resource"}
    assert {name for name in named if name.startswith(("glue:", "ssm:", "states:"))} == {
        "glue:eu-west-1:123456789012:catalog",
        "glue:eu-west-1:123456789012:database/shop_lake",
        "glue:eu-west-1:123456789012:table/shop_lake/*",
        "states:eu-west-1:123456789012:execution:Shop-Copies:*",
        "ssm:eu-west-1:123456789012:parameter/tidemark/Shop-Copies",
        "ssm:eu-west-1:123456789012:parameter/tidemark/Shop-Copies/*",
        "ssm:eu-west-1:123456789012:parameter/tidemark/Shop-Copies/*/run/*",
        "ssm:eu-west-1:123456789012:parameter/tidemark/Shop-Copies/*/told",
        "ssm:eu-west-1:123456789012:parameter/tidemark/Shop-Copies/*/last-export-time",
        "ssm:eu-west-1:123456789012:parameter/tidemark/Shop-Copies/*/settings",
        "ssm:eu-west-1:123456789012:parameter/tidemark/Shop-Copies/*/control",
    }


def test_the_state_machine_takes_its_role_under_its_own_name(of_shop):
    trusts = [role["AssumeRolePolicyDocument"] for role in of_shop.of("IAM::Role").values()]
    sources = {text for key, text in texts(trusts) if key == "aws:SourceArn"}
    assert "arn:aws:states:eu-west-1:123456789012:stateMachine:Shop-Copies" in sources


def test_exports_reports_and_logs_expire_after_the_days_of_the_settings(of_shop):
    rules = of_shop.one("S3::Bucket")["LifecycleConfiguration"]["Rules"]
    expiring = {rule["Prefix"]: rule["ExpirationInDays"] for rule in rules if "ExpirationInDays" in rule}
    assert expiring == {"exports/": 45, "runs/": 180, "logs/": 180}
    assert [group["RetentionInDays"] for group in of_shop.of("Logs::LogGroup").values()] == [180] * 9


@pytest.mark.parametrize(("log_days", "kept"), [(7, 36), (30, 36), (60, 60)])
def test_reports_outlive_the_claims_that_are_judged_by_them(log_days, kept):
    stack = Stack()
    Storage(stack, "Storage", settings=Settings.parse({"tables": [{"name": "orders"}], "log_days": log_days}))
    (bucket,) = assertions.Template.from_stack(stack).find_resources("AWS::S3::Bucket").values()
    rules = {rule.get("Prefix"): rule for rule in bucket["Properties"]["LifecycleConfiguration"]["Rules"]}
    assert [rules[folder]["ExpirationInDays"] for folder in ("runs/", "logs/")] == [kept, log_days]


def test_logs_are_kept_for_every_number_of_days_that_the_settings_allow():
    stack = Stack()
    for days in (7, 14, 30, 60, 90, 180, 365, 731, 3653):
        log_group(stack, f"Logs{days}", days=days)
    groups = assertions.Template.from_stack(stack).find_resources("AWS::Logs::LogGroup")
    assert {name[:-8]: group["Properties"]["RetentionInDays"] for name, group in groups.items()} == {
        "Logs7": 7,
        "Logs14": 14,
        "Logs30": 30,
        "Logs60": 60,
        "Logs90": 90,
        "Logs180": 180,
        "Logs365": 365,
        "Logs731": 731,
        "Logs3653": 3653,
    }


def test_the_application_is_bounded_at_four_jobs_of_whole_workers(of_shop):
    # Four jobs with a driver and five executors each: 24 workers of 8 vCPUs, 40 GB, and 50 GB of disk.
    assert of_shop.one("EMRServerless::Application")["MaximumCapacity"] == {
        "Cpu": "192 vCPU",
        "Memory": "960 GB",
        "Disk": "1200 GB",
    }


def texts(value, key=""):
    """Every text of a template, with the key that it or the list around it stands under."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from texts(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item, key)
    elif isinstance(value, str):
        yield key, value
