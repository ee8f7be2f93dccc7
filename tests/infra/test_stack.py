"""What is deployed, and that it is private, encrypted and bounded."""

from __future__ import annotations

import json
import re

import pytest

from infra.functions import FUNCTIONS
from infra.paths import ROOT
from infra.state_machine import INTEGRATIONS
from pipeline.columns.declared.columns_file import from_file
from pipeline.columns.declared.overrides import NO_OVERRIDES
from pipeline.deployment import Deployment
from pipeline.settings import TableSettings
from tests.infra.conftest import readable

DEFINITION = (ROOT / "statemachine" / "continuous_export.asl.json").read_text()


def test_the_bucket_is_private_encrypted_and_outlives_the_stack(template):
    bucket = template.one("S3::Bucket")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    assert "BucketName" not in bucket
    assert bucket["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
    # Versions would keep, and bill, what snapshot expiry and compaction are meant to free.
    assert "VersioningConfiguration" not in bucket
    assert kept(template)["AWS::S3::Bucket"] == ("RetainExceptOnCreate", "Retain")


def test_beside_the_bucket_the_database_outlives_the_stack_and_nothing_else(template):
    assert kept(template) == {
        "AWS::S3::Bucket": ("RetainExceptOnCreate", "Retain"),
        "AWS::Glue::Database": ("RetainExceptOnCreate", "Retain"),
    }


def test_only_what_the_pipeline_has_left_behind_expires_never_the_tables(template):
    rules = template.one("S3::Bucket")["LifecycleConfiguration"]["Rules"]
    expiring = {rule["Prefix"]: rule["ExpirationInDays"] for rule in rules if "ExpirationInDays" in rule}
    assert expiring == {"exports/": 30, "runs/": 90, "logs/": 90}
    assert {rule["Status"] for rule in rules} == {"Enabled"}
    assert [rule for rule in rules if "AbortIncompleteMultipartUpload" in rule] == [
        {"AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}, "Id": "abandoned-uploads", "Status": "Enabled"}
    ]


@pytest.mark.parametrize("kind", ["S3::BucketPolicy", "SNS::TopicPolicy", "SQS::QueuePolicy"])
def test_nothing_is_reached_without_tls(template, kind):
    for policy in template.of(kind).values():
        denied = [s for s in policy["PolicyDocument"]["Statement"] if s["Effect"] == "Deny"]
        assert [s["Condition"] for s in denied] == [{"Bool": {"aws:SecureTransport": "false"}}]


def test_every_bucket_topic_and_queue_has_its_policy(template):
    for kind, policy in (
        ("S3::Bucket", "S3::BucketPolicy"),
        ("SNS::Topic", "SNS::TopicPolicy"),
        ("SQS::Queue", "SQS::QueuePolicy"),
    ):
        assert len(template.of(kind)) == len(template.of(policy)) > 0


def test_mails_are_encrypted_under_a_key_of_their_own_that_rotates(template):
    ((key, properties),) = template.of("KMS::Key").items()
    assert properties["EnableKeyRotation"] is True
    # What `make repair` is to undo must be stated: CloudFormation finds no drift in anything else.
    assert properties["Enabled"] is True
    assert {topic["KmsMasterKeyId"] for topic in template.of("SNS::Topic").values()} == {f"<{key}.Arn>"}


def test_each_state_that_computes_has_its_function_with_its_handler(template):
    placeholders = set(re.findall(r"\$\{(\w+)\}", DEFINITION))
    assert placeholders == {spec.placeholder for spec in FUNCTIONS} | set(INTEGRATIONS)
    assert set(template.one("StepFunctions::StateMachine")["DefinitionSubstitutions"]) == placeholders
    handlers = {f["Handler"] for f in template.of("Lambda::Function").values()}
    assert handlers == {spec.handler for spec in FUNCTIONS}
    for handler in handlers:
        module = ROOT.joinpath(*handler.split(".")[:-1]).with_suffix(".py")
        assert "\nhandler = " in module.read_text(), f"{module} defines no handler"


def test_what_step_functions_offers_is_called_in_the_partition_of_the_stack(template):
    (machine,) = (
        one for one in template.raw["Resources"].values() if one["Type"] == "AWS::StepFunctions::StateMachine"
    )
    given = machine["Properties"]["DefinitionSubstitutions"]
    assert [given[name] for name in INTEGRATIONS] == [
        {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, f":states:::{task}"]]} for task in INTEGRATIONS.values()
    ]


def test_each_function_ends_before_its_state_gives_up(template):
    states = json.loads(DEFINITION)["States"]
    for spec in FUNCTIONS:
        assert spec.timeout_seconds < states[spec.state]["TimeoutSeconds"], spec.state
    deployed = {function["Handler"]: function["Timeout"] for function in template.of("Lambda::Function").values()}
    assert deployed == {spec.handler: spec.timeout_seconds for spec in FUNCTIONS}


def test_the_functions_share_one_bundle_and_environment_and_nothing_secret_is_in_it(template):
    functions = template.of("Lambda::Function").values()
    assert len({json.dumps(f["Code"]) for f in functions}) == 1
    (environment,) = {json.dumps(f["Environment"]["Variables"], sort_keys=True) for f in functions}
    variables = json.loads(environment)
    assert variables.pop("POWERTOOLS_SERVICE_NAME") == "Tidemark"
    assert variables.pop("POWERTOOLS_METRICS_NAMESPACE") == "Tidemark"
    deployment = Deployment.from_environment(variables)
    assert deployment.to_environment() == variables
    assert deployment.region == "eu-west-1"
    assert deployment.parameter("orders", "control") == "/tidemark/Tidemark/orders/control"
    own = "s3://cdk-hnb659fds-assets-123456789012-eu-west-1/Tidemark/[0-9a-f]{64}"
    assert re.fullmatch(rf"{own}\.py", deployment.entry_point)
    assert re.fullmatch(rf"{own}\.zip", deployment.spark_bundle)
    assert re.fullmatch(rf"{own}\.json", deployment.columns_file)


def test_each_function_runs_where_it_is_tested_traced_and_with_its_own_log(template):
    functions = template.of("Lambda::Function").values()
    for function in functions:
        assert (function["Runtime"], function["Architectures"]) == ("python3.11", ["arm64"])
        assert function["TracingConfig"] == {"Mode": "Active"}
    assert (
        len({f["LoggingConfig"]["LogGroup"] for f in functions})
        == len({f["Role"] for f in functions})
        == len(FUNCTIONS)
    )


def test_logs_are_kept_as_long_as_the_settings_say(template, settings):
    groups = template.of("Logs::LogGroup").values()
    assert [group["RetentionInDays"] for group in groups] == [settings.log_days] * (len(FUNCTIONS) + 1)


def test_the_state_machine_logs_every_event_without_data_and_is_traced(template):
    machine = template.one("StepFunctions::StateMachine")
    assert (machine["LoggingConfiguration"]["Level"], machine["LoggingConfiguration"]["IncludeExecutionData"]) == (
        "ALL",
        False,
    )
    assert machine["TracingConfiguration"] == {"Enabled": True}
    assert json.loads(machine["DefinitionString"]) == json.loads(DEFINITION)


def test_the_spark_application_costs_nothing_when_idle_and_is_bounded_in_whole_workers(template, settings):
    application = template.one("EMRServerless::Application")
    assert (application["ReleaseLabel"], application["Architecture"]) == ("emr-7.14.0", "ARM64")
    assert application["AutoStartConfiguration"]["Enabled"] and application["AutoStopConfiguration"]["Enabled"]
    assert "InitialCapacity" not in application
    queue = application["SchedulerConfiguration"]
    assert queue["QueueTimeoutMinutes"] == 6 * 60  # as the manual and the README say
    workers = (1 + settings.spark.max_executors) * queue["MaxConcurrentRuns"]
    assert application["MaximumCapacity"] == {
        "Cpu": f"{4 * workers} vCPU",
        "Memory": f"{16 * workers} GB",
        "Disk": f"{20 * workers} GB",
    }


def test_a_table_has_a_schedule_that_forgets_late_ticks_and_keeps_lost_ones(template):
    schedule = template.one("Scheduler::Schedule")
    assert schedule["ScheduleExpression"] == "rate(15 minutes)"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 5}
    # Stated, or `make repair` would find no drift in a schedule that was switched off.
    assert schedule["State"] == "ENABLED"
    target = schedule["Target"]
    assert target["RetryPolicy"] == {"MaximumEventAgeInSeconds": 300, "MaximumRetryAttempts": 185}
    meant_for = "<aws.scheduler.scheduled-time>"
    assert json.loads(target["Input"]) == {"table": "orders", "scheduled_time": meant_for, "tick_minutes": 15}
    ((queue, properties),) = template.of("SQS::Queue").items()
    assert target["DeadLetterConfig"] == {"Arn": f"<{queue}.Arn>"}
    assert properties["SqsManagedSseEnabled"] is True
    assert properties["MessageRetentionPeriod"] == 14 * 24 * 3600  # as the manual says of the alarm


def test_the_parameters_are_settings_that_parse_and_a_control_that_says_run(template, settings):
    values = {p["Name"]: p["Value"] for p in template.of("SSM::Parameter").values()}
    assert set(values) == {"/tidemark/Tidemark/orders/settings", "/tidemark/Tidemark/orders/control"}
    assert values["/tidemark/Tidemark/orders/control"] == "RUN"
    assert TableSettings.from_json(values["/tidemark/Tidemark/orders/settings"], NO_OVERRIDES) == settings.tables[0]


def test_what_is_said_of_columns_is_a_file_of_its_own(of_shop):
    (name,) = {
        json.dumps(f["Environment"]["Variables"]["TIDEMARK_COLUMNS_FILE"])
        for f in of_shop.of("Lambda::Function").values()
    }
    laid_down = (of_shop.folder / f"asset.{json.loads(name).rpartition('/')[2]}").read_bytes()
    assert from_file(laid_down, "orders").to_json() == {"/email": {"hash": True}}
    assert from_file(laid_down, "carts") == NO_OVERRIDES


def test_the_stack_makes_no_source_table_and_nothing_that_runs_code_at_deployment(template):
    kinds = {resource["Type"] for resource in template.resources.values()}
    assert not [kind for kind in kinds if kind.startswith(("AWS::DynamoDB", "Custom::", "AWS::CloudFormation::"))]


def test_the_outputs_say_what_an_operator_needs(template):
    variables = next(iter(template.of("Lambda::Function").values()))["Environment"]["Variables"]
    told = Deployment.from_environment({k: v for k, v in variables.items() if k.startswith("TIDEMARK_")})
    (machine,) = template.of("StepFunctions::StateMachine")
    (topic,) = (name for name in template.of("SNS::Topic") if name.startswith("NotificationTopic"))
    assert (told.topic_arn, told.bucket) == (f"<{topic}>", f"<{next(iter(template.of('S3::Bucket')))}>")
    assert {name: readable(output["Value"]) for name, output in template.raw["Outputs"].items()} == {
        "StateMachineArn": f"<{machine}>",
        "BucketName": told.bucket,
        "TopicArn": told.topic_arn,
        "DatabaseName": told.database,
        "ApplicationId": told.application_id,
        "ParameterPrefix": told.parameter_prefix,
    }


def test_what_reads_the_settings_is_deployed_before_them(template):
    (plan,) = [name for name in template.of("Lambda::Function") if name.startswith("PlanFunction")]
    waits = {
        r["Properties"]["Name"]: r.get("DependsOn", [])
        for r in template.resources.values()
        if r["Type"] == "AWS::SSM::Parameter"
    }
    assert waits["/tidemark/Tidemark/orders/settings"] == [plan]


def test_a_table_is_scheduled_once_its_parameters_are_there(template):
    (name,) = template.of("Scheduler::Schedule")
    parameters = template.of("SSM::Parameter")
    assert (set(template.resources[name]["DependsOn"]), len(parameters)) == (set(parameters), 2)


def kept(template):
    """What happens at its deletion and its replacement, by type, to what CloudFormation does not delete at both."""
    policies = [
        (r["Type"], (r.get("DeletionPolicy", "Delete"), r.get("UpdateReplacePolicy", "Delete")))
        for r in template.resources.values()
    ]
    return {kind: policy for kind, policy in policies if set(policy) != {"Delete"}}


def test_who_is_told_by_a_filter_is_told_by_the_attributes_of_mails(of_shop):
    found = {(s.get("FilterPolicyScope"), "FilterPolicy" in s) for s in of_shop.of("SNS::Subscription").values()}
    assert found == {("MessageAttributes", True), (None, False)}
