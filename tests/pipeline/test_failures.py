"""What a failure is called: from what Step Functions hands on to a name in the manual."""

from __future__ import annotations

import json

import pytest

from pipeline.errors import ExportFailed, Gap, HistoryLost, PermissionMissing, PipelineError, PitrOff, error_names
from pipeline.mails.failure import failure_cause
from pipeline.mails.failure_names import Failure


def function_failed(error: Exception, name: str = "") -> dict[str, str]:
    """What a Catch sees of a function that raised: the class's name, and Lambda's error object as the cause."""
    kind = name or type(error).__name__
    cause = json.dumps({"errorMessage": str(error), "errorType": kind, "requestId": "…", "stackTrace": ["…"]})
    return {"state": "StartExports", "error": kind, "cause": cause}


@pytest.mark.parametrize("kind", error_names().values(), ids=lambda kind: kind.__name__)
def test_an_error_of_the_product_comes_through_with_message_and_remedy(kind):
    failure = Failure.from_state(function_failed(kind("What happened.", "What to do.")))
    assert failure == Failure("StartExports", kind.__name__, "What happened.", "What to do.")
    assert failure.error_class is kind


def test_an_error_that_says_no_remedy_has_that_of_its_kind():
    assert Failure.from_state(function_failed(PitrOff("It is off."))).remedy == PitrOff.default_remedy


def test_a_halt_is_an_error_without_a_function_s_wrapping():
    halt = {"state": "Plan", "error": "HistoryLost", "cause": str(HistoryLost("Too late."))}
    assert Failure.from_state(halt) == Failure("Plan", "HistoryLost", "Too late.", HistoryLost.default_remedy)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        pytest.param(function_failed(KeyError("plan")), "'plan'", id="a bug"),
        pytest.param({"state": "Plan", "error": "States.Timeout", "cause": ""}, "", id="a timeout, which has no cause"),
        pytest.param({"state": "Plan", "error": "Lambda.Unknown", "cause": "gone"}, "gone", id="plain text"),
        pytest.param({"state": "Plan", "error": "Lambda.Unknown", "cause": '["a"]'}, '["a"]', id="another JSON value"),
        pytest.param({"state": "Plan", "error": "X", "cause": '{"a":1}'}, '{"a":1}', id="another JSON object"),
        pytest.param(
            function_failed(ValueError("it is not authorized"), "X"),
            "it is not authorized",
            id="words of a function's own",
        ),
    ],
)
def test_an_error_of_another_name_keeps_it_and_says_what_there_is(raw, message):
    failure = Failure.from_state(raw)
    assert (failure.error, failure.message, failure.error_class) == (raw["error"], message, PipelineError)
    assert failure.remedy == PipelineError.default_remedy


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("ResourceNotFoundException", "Function not found: arn:… (Service: Lambda, Status Code: 404)"),
        ("AWSLambdaException", "User: … is not authorized to perform: lambda:InvokeFunction on resource: …"),
        ("KMSAccessDeniedException", "Lambda was unable to decrypt …: the ciphertext … AccessDeniedException"),
    ],
)
def test_a_function_that_cannot_be_called_is_a_person_s_to_give_back(error, cause):
    failure = Failure.from_state({"state": "StartExports", "error": f"Lambda.{error}", "cause": cause})
    assert (failure.error, failure.message) == ("PermissionMissing", f"Lambda.{error}: {cause}")
    assert failure.remedy == PermissionMissing.default_remedy
    assert not failure.heals_by_itself


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        pytest.param(
            json.dumps({"JobRunId": "00f", "State": "FAILED", "StateDetails": "Job failed, exit code 1"}),
            "States.TaskFailed: Job failed, exit code 1",
            id="a job run",
        ),
        pytest.param(
            json.dumps({"JobRun": {"JobRunId": "00f", "State": "FAILED", "StateDetails": "Job failed, exit code 1"}}),
            "States.TaskFailed: Job failed, exit code 1",
            id="a job run as GetJobRun answers it",
        ),
        pytest.param(
            '{"State":"CANCELLED"}', 'States.TaskFailed: {"State":"CANCELLED"}', id="a job run without details"
        ),
        pytest.param("no JSON", "States.TaskFailed: no JSON", id="plain text"),
        pytest.param("[]", "States.TaskFailed: []", id="another JSON value"),
    ],
)
def test_a_job_that_ended_without_success_has_failed_and_says_what_there_is(cause, message):
    failure = Failure.from_state({"state": "RunSparkJob", "error": "States.TaskFailed", "cause": cause})
    assert (failure.error, failure.message) == ("JobFailed", message)


@pytest.mark.parametrize(
    ("error", "name"),
    [
        ("AccessDeniedException", "PermissionMissing"),
        ("ThrottlingException", "AwsUnavailable"),
        ("ServiceQuotaExceededException", "AwsUnavailable"),
        ("ValidationException", "JobNotStarted"),
        ("ResourceNotFoundException", "JobNotStarted"),
        ("SdkClientException", "AwsUnavailable"),
        ("EmrServerlessException", "JobNotStarted"),
    ],
)
def test_a_job_that_could_not_be_started_is_called_so_and_says_why(error, name):
    failure = Failure.from_state({"state": "RunSparkJob", "error": f"EMRServerless.{error}", "cause": "so it is"})
    assert (failure.error, failure.message) == (name, f"EMRServerless.{error}: so it is")
    assert failure.remedy == error_names()[name].default_remedy


@pytest.mark.parametrize("error", ["EmrServerlessException", "AWSEMRServerlessException", "OfAnotherSdk"])
@pytest.mark.parametrize(
    ("cause", "name"),
    [
        ("User: … is not authorized to perform: emr-serverless:StartJobRun on resource: …", "PermissionMissing"),
        ("Rate exceeded (Service: EmrServerless, Status Code: 400)", "AwsUnavailable"),
        ("Service Unavailable (Service: EmrServerless, Status Code: 503)", "AwsUnavailable"),
        ("Request is being throttled", "AwsUnavailable"),
    ],
)
def test_a_refusal_that_has_only_the_service_s_name_is_called_by_its_words(error, cause, name):
    failure = Failure.from_state({"state": "RunSparkJob", "error": f"EMRServerless.{error}", "cause": cause})
    assert failure.error == name


def test_a_request_that_is_wrong_is_called_so_whatever_its_words():
    raw = {"error": "EMRServerless.ValidationException", "cause": "Role … is not authorized to be passed"}
    assert Failure.from_state({"state": "RunSparkJob", **raw}).error == "JobNotStarted"


def test_a_failed_job_run_is_told_by_its_id_however_it_is_wrapped():
    for cause in ({"JobRunId": "00f"}, {"JobRun": {"JobRunId": "00f"}}):
        raw = {"state": "RunSparkJob", "error": "States.TaskFailed", "cause": json.dumps(cause)}
        assert Failure.from_state(raw).job_run == "00f"


def test_a_job_that_refused_is_called_what_it_called_itself():
    cause = json.dumps({"JobRunId": "00f", "StateDetails": "exit code 1"})
    failed = Failure.from_state({"state": "RunSparkJob", "error": "States.TaskFailed", "cause": cause})
    refused = Gap("The windows do not touch.", "Find the missing one.")
    explained = failed.explained_by({"error": refused.name, "message": refused.message, "remedy": refused.remedy})
    said = ("The windows do not touch.", "Find the missing one.")
    assert explained == Failure("RunSparkJob", "Gap", *said, job_run="00f", reported=True)
    assert explained.error_class is Gap


@pytest.mark.parametrize("report", [{}, {"outcome": "committed"}, {"error": ""}])
def test_a_job_that_left_no_refusal_has_just_failed(report):
    failed = Failure.from_state({"state": "RunSparkJob", "error": "States.TaskFailed", "cause": "exit code 1"})
    assert failed.explained_by(report) is failed


def test_a_report_that_somebody_has_cut_is_told_as_it_is():
    failed = Failure.from_state({"state": "RunSparkJob", "error": "States.TaskFailed", "cause": "exit code 1"})
    explained = failed.explained_by({"error": "Gap"})
    assert (explained.error, explained.message, explained.remedy) == ("Gap", "", Gap.default_remedy)


def test_what_an_earlier_try_has_refused_explains_no_later_one():
    failed = Failure.from_state({"state": "RunSparkJob", "error": "States.TaskFailed", "cause": "exit code 1"})
    report = {"error": "Gap", "message": "m", "remedy": "r", "client_token": "job-0"}
    assert failed.explained_by(report, "job-0").error == "Gap"
    assert failed.explained_by(report, "job-1") is failed


@pytest.mark.parametrize(("state", "heals"), [("RunSparkJob", True), ("Plan", False)])
def test_a_refusal_that_plan_tells_of_is_not_tried_again_by_itself(state, heals):
    assert Failure(state, "ChecksumMismatch", "m", "r").heals_by_itself is heals


def test_nothing_said_is_longer_than_a_fail_state_takes():
    long = "x" * 100_000
    raised = Failure.from_state(function_failed(ExportFailed(long, long)))
    job = Failure.from_state({"state": "RunSparkJob", "error": "States.TaskFailed", "cause": long})
    reported = job.explained_by({"error": "Gap", "message": long, "remedy": long})
    event = {"input": {"table": "orders"}, "plan": {}}
    assert all(len(failure_cause(event, failure, "orders")) < 32_768 for failure in (raised, job, reported))


def test_an_error_carries_message_and_remedy_in_its_text_because_text_is_all_that_lambda_and_spark_hand_on():
    assert str(Gap("What.", "Do.")) == "What.\nTo do: Do."


def test_every_kind_of_error_says_what_it_is_and_what_helps():
    for name, kind in error_names().items():
        assert kind.__doc__, name
        assert kind.default_remedy, name
        assert kind.command, name
        told = kind.default_remedy.startswith("Nothing to do")
        assert not told or kind.heals_by_itself, f"{name} says that nothing is to be done and does not heal by itself"
