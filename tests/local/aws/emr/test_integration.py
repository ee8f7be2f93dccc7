"""Step Functions starts job runs and waits for them: output, errors, StopExecution, time-outs."""

import json

import pytest

pytestmark = pytest.mark.local_aws

SYNC = "arn:aws:states:::emr-serverless:startJobRun.sync"
SLOW_JOB = "import time; time.sleep(300)"
CAUGHT = {"ErrorEquals": ["States.ALL"], "Output": "{% $states.errorOutput %}", "Next": "Done"}


@pytest.fixture
def role(account, jobs):
    """A state machine's role with what the guide lists for startJobRun.sync, and no more."""
    application = f"arn:aws:emr-serverless:us-east-1:000000000000:/applications/{jobs.application}"
    rule = "arn:aws:events:us-east-1:000000000000:rule/StepFunctionsGetEventsForEMRServerlessJobRule"
    return account.role(
        "states",
        "states",
        {"Action": "emr-serverless:StartJobRun", "Resource": application},
        {"Action": ["emr-serverless:GetJobRun", "emr-serverless:CancelJobRun"], "Resource": f"{application}/jobruns/*"},
        {"Action": "iam:PassRole", "Resource": jobs.role},
        {"Action": ["events:PutTargets", "events:PutRule", "events:DescribeRule"], "Resource": rule},
    )


def task(jobs, program=None, resource=SYNC, *, timeout=None, **arguments):
    """A state that runs a program; without one, a job that fails at once."""
    driver = jobs.driver(program)["sparkSubmit"] if program else {"entryPoint": "s3://lake/missing.py"}
    state = {
        "Type": "Task",
        "Resource": resource,
        "Arguments": {
            "ApplicationId": jobs.application,
            "ExecutionRoleArn": jobs.role,
            "JobDriver": {"SparkSubmit": {name[0].upper() + name[1:]: value for name, value in driver.items()}},
            "Name": "{% 'job-' & $states.input.n %}",
            **arguments,
        },
        "Next": "Done",
        "Catch": [CAUGHT],
    }
    return {"Run": {**state, "TimeoutSeconds": timeout} if timeout else state, "Done": {"Type": "Succeed"}}


def runs_of(jobs):
    return jobs.emr.list_job_runs(applicationId=jobs.application)["jobRuns"]


@pytest.mark.spark
def test_sync_gives_the_job_run_that_succeeded(account, jobs, role):
    states = task(jobs, "import time; time.sleep(1.5)", ExecutionTimeoutMinutes=5)
    execution = account.start(account.machine(states, role), {"n": "7"})

    ended = account.ended(execution, within=60)

    assert ended["status"] == "SUCCEEDED", ended
    output = json.loads(ended["output"])
    assert output["State"] == "SUCCESS"
    assert output["Name"] == "job-7"
    assert output["ApplicationId"] == jobs.application
    assert output["ExecutionTimeoutMinutes"] == 5
    assert output["TotalExecutionDurationSeconds"] >= 1
    assert output["BilledResourceUtilization"]["VCPUHour"] > 0
    assert output["JobDriver"]["SparkSubmit"]["EntryPoint"] == "s3://lake/jobs/program.py"
    assert all(allowed for _, _, allowed in account.checks(role))


def test_a_failed_job_is_caught_as_task_failed_with_the_job_run_as_its_cause(account, jobs, role):
    states = task(jobs)

    output = json.loads(account.run(account.machine(states, role), {"n": "1"})["output"])

    assert output["Error"] == "States.TaskFailed"
    cause = json.loads(output["Cause"])
    assert cause["State"] == "FAILED"
    assert "NoSuchKey" in cause["StateDetails"]
    assert cause["JobRunId"] == runs_of(jobs)[0]["id"]


def test_what_the_service_refuses_carries_its_name(account, jobs, role):
    states = task(jobs, ExecutionTimeoutMinutes=0)

    output = json.loads(account.run(account.machine(states, role), {"n": "1"})["output"])

    assert output["Error"] == "EMRServerless.ValidationException"
    assert "executionTimeoutMinutes" in output["Cause"]


def test_a_role_that_may_not_tag_may_not_start_a_tagged_job(account, jobs, role):
    output = json.loads(account.run(account.machine(task(jobs, Tags={"a": "b"}), role), {"n": "1"})["output"])

    assert output["Error"] == "EMRServerless.AccessDeniedException"
    assert "emr-serverless:TagResource" in output["Cause"]
    assert runs_of(jobs) == []


def test_without_sync_the_state_goes_on_at_once(account, jobs, role):
    states = task(jobs, resource=SYNC.removesuffix(".sync"), ClientToken="token-of-mine")

    output = json.loads(account.run(account.machine(states, role), {"n": "1"})["output"])

    assert output == {name[0].upper() + name[1:]: runs_of(jobs)[0][key] for name, key in RESPONSE.items()}
    assert jobs.start(clientToken="token-of-mine") == output["JobRunId"]


RESPONSE = {"applicationId": "applicationId", "jobRunId": "id", "arn": "arn"}


@pytest.mark.spark
def test_stopping_the_execution_cancels_the_job(account, aws, jobs, role):
    states = task(jobs, SLOW_JOB)
    execution = account.start(account.machine(states, role), {"n": "1"})
    account.until(lambda: runs_of(jobs), lambda runs: runs and runs[0]["state"] == "RUNNING")

    aws.client("stepfunctions").stop_execution(executionArn=execution)

    assert account.ended(execution)["status"] == "ABORTED"
    assert jobs.ended(runs_of(jobs)[0]["id"], within=10)["state"] == "CANCELLED"


@pytest.mark.spark
def test_a_state_that_times_out_cancels_the_job_while_the_execution_goes_on(aws, account, jobs, role):
    states = task(jobs, SLOW_JOB, timeout=3)
    states["Run"]["Catch"] = [{**CAUGHT, "Next": "Rest"}]
    states["Rest"] = {"Type": "Wait", "Seconds": 3600, "Next": "Done"}
    execution = account.start(account.machine(states, role), {"n": "1"})
    started = account.until(lambda: runs_of(jobs), bool)

    assert jobs.ended(started[0]["id"], within=15)["state"] == "CANCELLED"
    assert account.described(execution)["status"] == "RUNNING"
    aws.advance(3600)

    assert json.loads(account.ended(execution)["output"])["Error"] == "States.Timeout"
