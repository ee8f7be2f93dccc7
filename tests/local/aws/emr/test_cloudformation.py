"""AWS::EMRServerless::Application in a stack: made with all its properties, changed, replaced, deleted."""

import json

import pytest

pytestmark = pytest.mark.local_aws

PROPERTIES = {
    "Name": "lake",
    "ReleaseLabel": "emr-7.14.0",
    "Type": "SPARK",
    "Architecture": "ARM64",
    "MaximumCapacity": {"Cpu": "16 vCPU", "Memory": "64 GB", "Disk": "200 GB"},
    "AutoStartConfiguration": {"Enabled": True},
    "AutoStopConfiguration": {"Enabled": "true", "IdleTimeoutMinutes": "5"},
    "SchedulerConfiguration": {"MaxConcurrentRuns": 1, "QueueTimeoutMinutes": 60},
    "InitialCapacity": [
        {
            "Key": "Driver",
            "Value": {"WorkerCount": 1, "WorkerConfiguration": {"Cpu": "2vCPU", "Memory": "4GB"}},
        }
    ],
    "RuntimeConfiguration": [{"Classification": "spark-defaults", "Properties": {"spark.sql.ansi.enabled": "false"}}],
    "MonitoringConfiguration": {"S3MonitoringConfiguration": {"LogUri": "s3://lake/logs/"}},
    "Tags": [{"Key": "purpose", "Value": "tests"}],
}


class Stack:
    """A stack of one application."""

    def __init__(self, aws):
        self.aws = aws
        self.client = aws.client("cloudformation")
        self.emr = aws.client("emr-serverless")

    def apply(self, verb, **changes):
        application = {"Type": "AWS::EMRServerless::Application", "Properties": {**PROPERTIES, **changes}}
        outputs = {
            "Id": {"Value": {"Ref": "Application"}},
            "ApplicationId": {"Value": {"Fn::GetAtt": ["Application", "ApplicationId"]}},
            "Arn": {"Value": {"Fn::GetAtt": ["Application", "Arn"]}},
        }
        body = json.dumps({"Resources": {"Application": application}, "Outputs": outputs})
        getattr(self.client, f"{verb}_stack")(StackName="lake", TemplateBody=body)
        return self.outputs(verb)

    def outputs(self, verb):
        self.client.get_waiter(f"stack_{verb}_complete").wait(
            StackName="lake", WaiterConfig={"Delay": 0.1, "MaxAttempts": 100}
        )
        found = self.client.describe_stacks(StackName="lake")["Stacks"][0]["Outputs"]
        return {output["OutputKey"]: output["OutputValue"] for output in found}

    def delete(self):
        self.client.delete_stack(StackName="lake")
        self.client.get_waiter("stack_delete_complete").wait(
            StackName="lake", WaiterConfig={"Delay": 0.1, "MaxAttempts": 100}
        )

    def stop(self, name):
        self.emr.stop_application(applicationId=name)
        self.aws.advance(30)

    def application(self, name):
        return self.emr.get_application(applicationId=name)["application"]


@pytest.fixture
def stack(aws):
    return Stack(aws)


def test_a_stack_makes_an_application_with_all_its_properties(stack):
    outputs = stack.apply("create")

    found = stack.application(outputs["Id"])
    assert outputs["ApplicationId"] == outputs["Id"]
    assert outputs["Arn"] == found["arn"]
    assert found["name"] == "lake"
    assert found["architecture"] == "ARM64"
    assert found["maximumCapacity"] == {"cpu": "16 vCPU", "memory": "64 GB", "disk": "200 GB"}
    assert found["autoStopConfiguration"] == {"enabled": True, "idleTimeoutMinutes": 5}
    assert found["schedulerConfiguration"] == {"maxConcurrentRuns": 1, "queueTimeoutMinutes": 60}
    assert found["initialCapacity"]["Driver"]["workerConfiguration"]["cpu"] == "2vCPU"
    assert found["runtimeConfiguration"][0]["properties"] == {"spark.sql.ansi.enabled": "false"}
    assert found["monitoringConfiguration"]["s3MonitoringConfiguration"]["logUri"] == "s3://lake/logs/"
    assert found["tags"] == {"purpose": "tests"}


def test_a_change_is_refused_while_the_application_is_started_and_made_in_place_when_it_is_stopped(stack):
    name = stack.apply("create")["Id"]
    stack.emr.start_application(applicationId=name)
    with pytest.raises(Exception, match="ROLLBACK"):
        stack.apply("update", ReleaseLabel="emr-7.13.0")
    stack.stop(name)

    after = stack.apply("update", ReleaseLabel="emr-7.13.0", Tags=[{"Key": "purpose", "Value": "more"}])

    assert after["Id"] == name
    assert stack.application(name)["releaseLabel"] == "emr-7.13.0"
    assert stack.application(name)["tags"] == {"purpose": "more"}


def test_a_new_name_is_a_new_application_and_the_old_one_goes(stack):
    old = stack.apply("create")["Id"]

    new = stack.apply("update", Name="other")["Id"]

    assert new != old
    assert stack.application(new)["name"] == "other"
    assert stack.application(old)["state"] == "TERMINATED"


def test_deleting_the_stack_deletes_an_application_that_is_stopped_and_fails_for_a_started_one(stack):
    name = stack.apply("create")["Id"]
    stack.emr.start_application(applicationId=name)
    with pytest.raises(Exception, match="DELETE_FAILED"):
        stack.delete()
    stack.stop(name)

    stack.delete()

    assert stack.application(name)["state"] == "TERMINATED"


def test_an_application_that_aws_would_refuse_fails_the_stack(stack):
    with pytest.raises(Exception, match="ROLLBACK"):
        stack.apply("create", Name="no spaces please")
