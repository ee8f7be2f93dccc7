"""Routes through the state machine: which way it goes, what it hands on, and how it ends."""

from __future__ import annotations

import json

import pytest

from tests.statemachine.definition import TASKS
from tests.statemachine.scripted import (
    COMPLETE,
    EXPORT,
    EXPORTS,
    HALT,
    IDLE,
    IDLE_WITH_NEWS,
    JOB,
    JOB_RUN,
    MAINTAIN,
    RECORD,
    ROUND,
    UP_TO_THE_JOB,
    answers,
)
from tests.statemachine.walk import CONTEXT, Route, TaskFailed, walk


def tried(route: Route, state: str) -> int:
    return sum(name == state for name, _ in route.handed)


def test_with_nothing_to_do_a_run_plans_and_idles_and_its_output_says_why():
    route = walk(answers(IDLE))
    assert (route.states, route.input) == (["Plan", "ChooseAction", "Idle"], IDLE)


def test_a_dry_run_ends_after_its_plan():
    assert walk(answers({"kind": "DryRun", "planned": "Export"})).states == ["Plan", "ChooseAction", "Idle"]


def test_news_is_told_once_before_the_run_idles():
    route = walk(answers(IDLE_WITH_NEWS))
    assert route.states == ["Plan", "ChooseAction", "NotifyNews", "ChooseAction", "Idle"]
    assert route.last("NotifyNews")["Payload"] == {
        "input": {"table": "orders"},
        "execution": "arn-of-the-execution",
        "startedAt": "2026-11-21T13:05:00.000Z",
        "plan": IDLE_WITH_NEWS,
    }
    assert route.input == IDLE_WITH_NEWS, "the output is the mail's, and not why the run is idle"


def test_one_piece_of_news_is_news_and_none_is_none():
    assert "NotifyNews" in walk(answers({**IDLE, "news": ["Digest"]})).states
    assert "NotifyNews" not in walk(answers({**IDLE, "news": []})).states


def test_news_before_maintenance_is_told_once_and_then_it_maintains():
    states = walk(answers({**MAINTAIN, "news": ["Digest"]}, IDLE)).states
    assert states[:5] == ["Plan", "ChooseAction", "NotifyNews", "ChooseAction", "PrepareJob"]


def test_news_that_cannot_be_told_does_not_fail_the_run():
    route = walk(answers(IDLE_WITH_NEWS, NotifyNews=TaskFailed("PermissionMissing", "…")))
    assert route.states == ["Plan", "ChooseAction", "NotifyNews", "ChooseAction", "Idle"]
    assert route.input == IDLE_WITH_NEWS


def test_news_at_the_end_of_a_run_with_work_is_told_too():
    states = walk(answers(EXPORT, IDLE_WITH_NEWS)).states
    assert states == ["Plan", "ChooseAction", *ROUND, "NotifyNews", "ChooseAction", "Idle"]


def test_maintenance_needs_no_export():
    route = walk(answers(EXPORT, MAINTAIN, IDLE))
    rest = ROUND[ROUND.index("PrepareJob") :]
    assert route.states == ["Plan", "ChooseAction", *ROUND, *rest, "Idle"]
    assert route.last("PrepareJob")["Payload"] == {"plan": MAINTAIN, "exports": []}
    assert route.last("NotifySuccess")["Payload"]["exports"] == []


def test_a_round_exports_merges_records_tells_and_plans_again():
    route = walk(answers(EXPORT, IDLE))
    assert route.states == ["Plan", "ChooseAction", *ROUND, "Idle"]
    assert route.error == ""


def test_rounds_follow_each_other_until_there_is_nothing_left():
    assert walk(answers(EXPORT, EXPORT, EXPORT, IDLE)).states == ["Plan", "ChooseAction", *ROUND * 3, "Idle"]


def test_a_plan_is_handed_its_execution_when_both_began_and_how_often_it_was_tried(monkeypatch):
    monkeypatch.setitem(CONTEXT, "State", {**CONTEXT["State"], "RetryCount": 3})
    assert walk(answers(IDLE)).last("Plan")["Payload"] == {
        "input": {"table": "orders"},
        "execution": "arn-of-the-execution",
        "startedAt": "2026-11-21T13:05:00.000Z",
        "first": True,
        "table": "",
        "enteredAt": "2026-11-21T13:12:00.000Z",
        "retries": 3,
    }


@pytest.mark.parametrize("fails", [{}, {"NotifySuccess": TaskFailed("PermissionMissing", "…")}], ids=["", "not mailed"])
def test_each_plan_is_told_whether_it_is_the_first_and_of_which_table_the_first_was(fails):
    planned = ({**kind, "table": "carts"} for kind in (EXPORT, RECORD, IDLE_WITH_NEWS))
    told = [arguments["Payload"] for state, arguments in walk(answers(*planned, **fails)).handed if state == "Plan"]
    assert [(plan["first"], plan["table"]) for plan in told] == [(True, ""), (False, "carts"), (False, "carts")]


def test_each_state_of_a_round_is_handed_the_plan_or_the_exports_as_the_one_before_has_left_them():
    route = walk(answers(EXPORT, IDLE))
    assert route.last("StartExports")["Payload"] == {"plan": EXPORT}
    assert route.last("CheckExports")["Payload"] == {"exports": EXPORTS, "checks": 0}
    assert route.last("PrepareJob")["Payload"] == {"plan": EXPORT, "exports": COMPLETE}
    assert route.last("RecordWatermark")["Payload"] == {"plan": EXPORT}


def test_exports_are_looked_at_again_until_all_are_complete():
    route = walk(answers(EXPORT, IDLE, looks=4))
    assert route.states.count("WaitForExports") == 4
    assert route.variables["waitSeconds"] == 45, "each look says how long the next one is away"
    assert [handed["Payload"]["checks"] for name, handed in route.handed if name == "CheckExports"] == [0, 1, 2, 3]


def test_every_round_counts_its_looks_anew():
    route = walk(answers(EXPORT, EXPORT, IDLE, looks=2))
    assert [handed["Payload"]["checks"] for name, handed in route.handed if name == "CheckExports"] == [0, 1, 0, 1]


def test_a_wrong_parameter_is_recorded_and_told_without_export_or_job():
    route = walk(answers(RECORD, IDLE))
    assert route.states == ["Plan", "ChooseAction", "RecordWatermark", "NotifySuccess", "Plan", "ChooseAction", "Idle"]
    told = route.last("NotifySuccess")["Payload"]
    assert (told["exports"], told["jobRun"], told["plan"]) == ([], {}, RECORD)


def test_the_job_is_started_as_it_was_prepared():
    assert walk(answers(EXPORT, IDLE)).last("RunSparkJob") == {
        "ApplicationId": "00app",
        "ClientToken": "job-1-0",
        "ExecutionRoleArn": "arn-of-the-role",
        "Name": "job-1",
        "ExecutionTimeoutMinutes": 720,
        "JobDriver": {
            "SparkSubmit": {
                "EntryPoint": "s3://…/main.py",
                "EntryPointArguments": ["{}"],
                "SparkSubmitParameters": "--conf a=b",
            }
        },
        "ConfigurationOverrides": {
            "ApplicationConfiguration": [],
            "MonitoringConfiguration": {"S3MonitoringConfiguration": {"LogUri": "s3://…/logs/"}},
        },
    }


def test_the_success_mail_gets_plan_report_exports_job_and_times():
    told = walk(answers(EXPORT, IDLE)).last("NotifySuccess")["Payload"]
    assert told == {
        "input": {"table": "orders"},
        "execution": "arn-of-the-execution",
        "startedAt": "2026-11-21T13:05:00.000Z",
        "endedAt": "2026-11-21T13:12:00.000Z",
        "plan": EXPORT,
        "report": {"watermark": "…"},
        "exports": COMPLETE,
        "jobRun": {"id": "00job", "billed": {"VCPUHour": 1.0}},
    }


@pytest.mark.parametrize(
    ("job_run", "told"),
    [
        pytest.param({"JobRun": JOB_RUN}, {"id": "00job", "billed": {"VCPUHour": 1.0}}, id="wrapped"),
        pytest.param({"JobRunId": "00job"}, {"id": "00job"}, id="without figures"),
    ],
)
def test_the_job_run_is_found_in_either_shape_of_the_result(job_run, told):
    assert walk(answers(EXPORT, IDLE, job_run=job_run)).last("NotifySuccess")["Payload"]["jobRun"] == told


@pytest.mark.parametrize("redriven", [{}, {"RedriveTime": "2026-11-24T08:00:00.000Z"}], ids=["", "redriven"])
def test_a_halt_is_mailed_and_fails_the_execution(monkeypatch, redriven):
    monkeypatch.setitem(CONTEXT, "Execution", {**CONTEXT["Execution"], **redriven})
    route = walk(answers(HALT))
    assert route.states == ["Plan", "ChooseAction", "NotifyFailure", "Failed"]
    told = route.last("NotifyFailure")["Payload"]
    assert told["failure"] == {"state": "Plan", "error": "PitrOff", "cause": HALT["cause"]}
    assert (told["plan"], told["input"], told["execution"]) == (HALT, {"table": "orders"}, "arn-of-the-execution")
    assert told["redriven"] is bool(redriven)


@pytest.mark.parametrize("name", [name for name in TASKS if not name.startswith("Notify")])
@pytest.mark.parametrize("cause", [json.dumps({"errorMessage": "It broke."}), "", None], ids=["told", "empty", "none"])
def test_any_failure_is_mailed_by_its_name_and_fails_the_execution_as_the_mail_calls_it(name, cause):
    route = walk(answers(EXPORT, **{name: TaskFailed("SomethingBroke", cause)}))
    assert route.states[-3:] == [name, "NotifyFailure", "Failed"]
    told = route.last("NotifyFailure")["Payload"]
    assert told["failure"] == {"state": name, "error": "SomethingBroke", "cause": cause or ""}
    assert told["plan"] == ({} if name == "Plan" else EXPORT)
    assert told["clientToken"] == (JOB["client_token"] if name in ("RunSparkJob", "RecordWatermark") else "")
    assert (route.error, route.cause) == ("NamedByTheMail", "Told by the mail.")


def test_a_failure_in_a_later_round_is_not_told_with_the_plan_of_an_earlier_one():
    route = walk(answers(EXPORT, TaskFailed("PitrOff", "…")))
    assert route.states == ["Plan", "ChooseAction", *ROUND[:-1], "NotifyFailure", "Failed"]
    told = route.last("NotifyFailure")["Payload"]
    assert (told["plan"], told["clientToken"]) == ({}, "")


@pytest.mark.parametrize("name", [name for name in TASKS if name != "RunSparkJob"])
@pytest.mark.parametrize("error", ["AwsUnavailable", "Lambda.TooManyRequestsException", "States.Timeout"])
def test_a_passing_failure_of_a_function_is_tried_five_times_more(name, error):
    planned = {"NotifyFailure": HALT, "NotifyNews": IDLE_WITH_NEWS}.get(name, EXPORT)
    route = walk(answers(planned, IDLE, **{name: TaskFailed(error, "…")}))
    assert tried(route, name) == 6


def test_a_named_failure_is_not_tried_again():
    assert tried(walk(answers(EXPORT, StartExports=TaskFailed("HistoryLost", "…"))), "StartExports") == 1


def test_a_job_that_failed_is_not_tried_again_because_its_token_names_the_one_that_failed():
    assert tried(walk(answers(EXPORT, RunSparkJob=TaskFailed("States.TaskFailed", "{}"))), "RunSparkJob") == 1


def test_a_job_that_could_not_be_started_is_tried_again_with_the_same_token():
    route = walk(answers(EXPORT, RunSparkJob=TaskFailed("EMRServerless.ThrottlingException", "…")))
    assert tried(route, "RunSparkJob") == 7
    assert len({json.dumps(handed) for name, handed in route.handed if name == "RunSparkJob"}) == 1


def test_a_success_mail_that_cannot_be_sent_does_not_fail_the_run():
    route = walk(answers(EXPORT, IDLE, NotifySuccess=TaskFailed("PermissionMissing", "…")))
    assert route.states == ["Plan", "ChooseAction", *ROUND, "Idle"]


def test_a_failure_mail_that_cannot_be_sent_still_fails_the_run_with_the_first_failure():
    broken = {"RunSparkJob": TaskFailed("States.TaskFailed", "exit 1"), "NotifyFailure": TaskFailed("X", "…")}
    route = walk(answers(EXPORT, **broken))
    assert route.states == [*UP_TO_THE_JOB, "NotifyFailure", "Failed"]
    assert (route.error, route.cause) == ("States.TaskFailed", "exit 1")
