"""The REST API as boto3 sees it: applications, tokens, states, pages, limits, errors.

Most job runs here name an entry point that does not exist: they fail within a blink, without Spark.
"""

import pytest
from botocore.exceptions import ClientError

pytestmark = pytest.mark.local_aws


def refused(code, call, **asked):
    with pytest.raises(ClientError) as found:
        call(**asked)
    assert found.value.response["Error"]["Code"] == code
    return found.value.response["Error"]["Message"]


def test_an_application_is_created_started_stopped_and_deleted(aws, jobs):
    made = jobs.emr.create_application(name="one", releaseLabel="emr-7.14.0", type="SPARK", architecture="ARM64")
    named = {"applicationId": made["applicationId"]}

    def state():
        return jobs.emr.get_application(**named)["application"]["state"]

    assert made["arn"] == f"arn:aws:emr-serverless:us-east-1:000000000000:/applications/{made['applicationId']}"
    assert state() == "CREATED"
    jobs.emr.start_application(**named)
    assert state() == "STARTED"
    assert "STARTED" in refused("ValidationException", jobs.emr.delete_application, **named)
    jobs.emr.stop_application(**named)
    assert state() == "STOPPING"
    assert "STOPPING" in refused("ValidationException", jobs.emr.delete_application, **named)
    aws.advance(30)
    assert state() == "STOPPED"
    jobs.emr.delete_application(**named)
    assert state() == "TERMINATED"
    assert made["applicationId"] not in [one["id"] for one in jobs.emr.list_applications()["applications"]]


def test_an_application_is_stopped_only_from_work_and_changed_only_at_rest(aws, jobs):
    named = {"applicationId": jobs.make_application()}
    allowed = (
        "Application cannot be STOPPED. Applications must be in one of the following statuses: [STARTING, STARTED]"
    )
    changed = {**named, "autoStopConfiguration": {"enabled": True, "idleTimeoutMinutes": 5}}

    assert refused("ValidationException", jobs.emr.stop_application, **named) == allowed
    jobs.emr.start_application(**named)
    jobs.emr.stop_application(**named)
    assert refused("ValidationException", jobs.emr.stop_application, **named) == allowed
    assert "STOPPING" in refused("ValidationException", jobs.emr.update_application, **changed)
    aws.advance(30)
    assert refused("ValidationException", jobs.emr.stop_application, **named) == allowed
    assert jobs.emr.update_application(**changed)["application"]["state"] == "STOPPED"


def test_an_application_keeps_what_it_was_given_and_has_defaults_for_the_rest(jobs):
    capacity = {"cpu": "16 vCPU", "memory": "64 GB", "disk": "200 GB"}
    made = jobs.make_application(maximumCapacity=capacity, schedulerConfiguration={"maxConcurrentRuns": 2})
    jobs.emr.update_application(applicationId=made, autoStopConfiguration={"enabled": True, "idleTimeoutMinutes": 5})

    found = jobs.emr.get_application(applicationId=made)["application"]

    assert found["maximumCapacity"] == capacity
    assert found["schedulerConfiguration"] == {"maxConcurrentRuns": 2, "queueTimeoutMinutes": 360}
    assert found["autoStopConfiguration"] == {"enabled": True, "idleTimeoutMinutes": 5}
    assert found["autoStartConfiguration"] == {"enabled": True}
    assert (found["type"], found["architecture"]) == ("Spark", "X86_64")


def test_a_token_makes_one_application(jobs):
    asked = {"name": "one", "releaseLabel": "emr-7.14.0", "type": "SPARK", "clientToken": "same"}

    first, second = (jobs.emr.create_application(**asked)["applicationId"] for _ in range(2))

    assert first == second


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        ({"releaseLabel": "emr-seven"}, "not supported"),
        ({"releaseLabel": "emr-6.9.0"}, "Spark 3.5.6"),
        ({"releaseLabel": "emr 7"}, "regular expression"),
        ({"type": "HIVE"}, "HIVE"),
        ({"schedulerConfiguration": {"maxConcurrentRuns": 1001}}, "1 to 1000"),
        ({"schedulerConfiguration": {"queueTimeoutMinutes": 5}}, "15 to 720"),
        ({"architecture": "RISCV"}, "enum"),
    ],
)
def test_an_application_that_aws_or_this_machine_could_not_run_is_refused(jobs, members, complaint):
    asked = {"name": "one", "releaseLabel": "emr-7.14.0", "type": "SPARK", **members}

    assert complaint in refused("ValidationException", jobs.emr.create_application, **asked)


def test_a_job_starts_its_application_which_stops_when_idle(aws, jobs):
    def state():
        return jobs.emr.get_application(applicationId=jobs.application)["application"]["state"]

    jobs.ended(jobs.start())
    assert state() == "STARTED"
    aws.advance(15 * 60 - 5)
    assert state() == "STARTED"
    aws.advance(10)
    assert state() == "STOPPED"


def test_an_application_that_does_not_start_by_itself_refuses_jobs(jobs):
    manual = jobs.make_application(autoStartConfiguration={"enabled": False})

    with pytest.raises(ClientError, match="start it first"):
        jobs.start(applicationId=manual)
    jobs.emr.start_application(applicationId=manual)
    assert jobs.ended(jobs.start(applicationId=manual), application=manual)["state"] == "FAILED"


def test_the_same_token_is_the_same_job_run_also_once_it_has_failed(jobs):
    first = jobs.start(clientToken="same")
    assert jobs.ended(first)["state"] == "FAILED"

    assert jobs.start(clientToken="same") == first
    assert jobs.start(clientToken="other") != first
    assert len(jobs.emr.list_job_runs(applicationId=jobs.application)["jobRuns"]) == 2


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        ({"clientToken": "2026-11-21T02:15Z"}, "regular expression"),
        ({"executionTimeoutMinutes": 0}, "1 to 10080"),
        ({"executionTimeoutMinutes": 10_081}, "1 to 10080"),
        ({"mode": "STREAMING"}, "streaming"),
        ({"retryPolicy": {"maxAttempts": 2}}, "maxAttempts"),
        ({"executionIamPolicy": {"policy": "{}"}}, "executionIamPolicy"),
        ({"jobDriver": {"hive": {"query": "select 1"}}}, "Hive"),
        ({"jobDriver": {"sparkSubmit": {"entryPoint": "s3://b/j.py", "sparkSubmitParameters": "--what x"}}}, "--what"),
        ({"executionRoleArn": "arn:aws:iam::1:role/x"}, "regular expression"),
    ],
)
def test_a_job_that_aws_or_this_machine_could_not_run_is_refused(jobs, members, complaint):
    with pytest.raises(ClientError) as found:
        jobs.start(**members)

    assert found.value.response["Error"]["Code"] == "ValidationException"
    assert complaint in found.value.response["Error"]["Message"]


def test_what_does_not_exist_is_not_found(jobs):
    nobody = {"applicationId": "00nobody"}

    refused("ResourceNotFoundException", jobs.emr.get_application, **nobody)
    refused("ResourceNotFoundException", jobs.emr.get_job_run, applicationId=jobs.application, jobRunId="00nobody")
    refused("ResourceNotFoundException", jobs.emr.cancel_job_run, applicationId=jobs.application, jobRunId="00nobody")
    refused("ValidationException", jobs.emr.list_job_runs, **nobody)
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        jobs.start(applicationId="00nobody")


def test_a_job_whose_entry_point_is_missing_fails_and_says_so(jobs):
    failed = jobs.ended(jobs.start())

    assert failed["state"] == "FAILED"
    assert "s3://lake/missing.py" in failed["stateDetails"]
    assert "NoSuchKey" in failed["stateDetails"]


def test_a_job_whose_role_may_not_read_the_entry_point_fails_and_says_which_right_is_missing(jobs):
    blind = jobs.make_role("blind", {"Action": "glue:*", "Resource": "*"})

    failed = jobs.ended(jobs.start(executionRoleArn=blind))

    assert failed["state"] == "FAILED"
    assert "s3:GetObject" in failed["stateDetails"]
    assert "AccessDenied" in failed["stateDetails"]


def test_a_role_that_does_not_trust_the_service_fails_the_job(jobs, account):
    failed = jobs.ended(jobs.start(executionRoleArn=account.role("stranger", "lambda")))

    assert failed["state"] == "FAILED"
    assert "trust relationship" in failed["stateDetails"]


@pytest.mark.parametrize(("application", "refused"), [("*", False), ("another", True)])
def test_a_job_takes_a_role_only_for_the_application_that_it_names(jobs, account, application, refused):
    source = {"aws:SourceArn": f"arn:aws:emr-serverless:us-east-1:000000000000:/applications/{application}"}
    # It has no rights at all: where it may be taken, the job fails at its first file.
    role = account.role("bound", "emr-serverless", only={"ArnLike": source})

    failed = jobs.ended(jobs.start(executionRoleArn=role))

    assert ("trust relationship" in failed["stateDetails"], "s3:GetObject" in failed["stateDetails"]) == (
        refused,
        not refused,
    )


def test_a_job_too_large_for_the_application_fails(jobs):
    small = jobs.make_application(maximumCapacity={"cpu": "4 vCPU", "memory": "16 GB"})

    failed = jobs.ended(jobs.start(applicationId=small), application=small)

    assert "ApplicationMaxCapacityExceededException" in failed["stateDetails"]


def test_a_job_run_that_has_ended_cannot_be_cancelled(jobs):
    run = jobs.start()
    jobs.ended(run)

    message = refused("ValidationException", jobs.emr.cancel_job_run, applicationId=jobs.application, jobRunId=run)

    assert "FAILED" in message


def test_tags_are_set_changed_and_removed(jobs):
    run = jobs.start(tags={"a": "1", "b": "2"})
    arn = jobs.described(run)["arn"]

    jobs.emr.tag_resource(resourceArn=arn, tags={"b": "3", "c": "4"})
    jobs.emr.untag_resource(resourceArn=arn, tagKeys=["a"])

    assert jobs.emr.list_tags_for_resource(resourceArn=arn)["tags"] == {"b": "3", "c": "4"}
    assert jobs.described(run)["tags"] == {"b": "3", "c": "4"}


def test_what_is_not_emulated_is_refused_by_name(jobs):
    message = refused("ValidationException", jobs.emr.list_sessions, applicationId=jobs.application)

    assert "ListSessions" in message


def test_a_snapshot_keeps_applications_and_job_runs(aws, jobs):
    run = jobs.start(clientToken="kept")
    jobs.ended(run)
    kept = aws.client("emr-serverless").list_job_runs(applicationId=jobs.application)["jobRuns"]
    assert [one["id"] for one in kept] == [run]
    assert (
        jobs.emr.list_job_run_attempts(applicationId=jobs.application, jobRunId=run)["jobRunAttempts"][0]["attempt"]
        == 1
    )
