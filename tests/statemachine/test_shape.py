"""The definition holds together: what AWS would refuse, or fail on at night, is refused here."""

from __future__ import annotations

import subprocess

import pytest

from tests.statemachine.definition import ENDS, FUNCTIONS, MACHINE, PATH, ROOT, STATES, TASKS, ways_out

LONGEST = 350  # lines


def test_aws_s_grammar_accepts_it():
    validator = ROOT / "node_modules" / ".bin" / "asl-validator"
    checked = subprocess.run([validator, "--json-path", PATH], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "is valid" in checked.stdout


def test_it_can_be_read_in_one_sitting():
    assert len(PATH.read_text().splitlines()) <= LONGEST


def test_every_next_state_exists():
    assert {target for state in STATES.values() for target, _ in ways_out(state)} <= set(STATES)


def test_every_state_can_be_reached():
    reached, new = set(), {MACHINE["StartAt"]}
    while new:
        reached |= new
        new = {target for name in new for target, _ in ways_out(STATES[name])} - reached
    assert reached == set(STATES)


def test_an_end_can_be_reached_from_every_state():
    ending = {name for name, state in STATES.items() if state["Type"] in ENDS}
    while more := {n for n, s in STATES.items() if any(t in ending for t, _ in ways_out(s))} - ending:
        ending |= more
    assert ending == set(STATES)


def test_every_choice_has_a_default():
    assert [name for name, state in STATES.items() if state["Type"] == "Choice" and "Default" not in state] == []


def test_only_ends_end():
    assert {name for name, state in STATES.items() if not list(ways_out(state))} == {"Idle", "Failed"}
    assert STATES["Failed"]["Type"] == "Fail"


def test_every_state_says_what_it_is_for():
    assert [name for name, state in STATES.items() if not state.get("Comment")] == []


@pytest.mark.parametrize("name", TASKS)
def test_every_task_has_a_timeout_and_retries_named_errors_a_bounded_number_of_times_with_jitter(name):
    task = TASKS[name]
    assert 0 < task["TimeoutSeconds"] <= 86_400
    for retry in task["Retry"]:
        assert "States.ALL" not in retry["ErrorEquals"]
        assert "States.TaskFailed" not in retry["ErrorEquals"]
        assert 1 <= retry["MaxAttempts"] <= 10
        assert retry["BackoffRate"] > 1
        assert retry["MaxDelaySeconds"] <= 600
        assert retry["JitterStrategy"] == "FULL"


@pytest.mark.parametrize("name", TASKS)
def test_every_task_s_failure_leads_to_the_mail(name):
    catcher = TASKS[name]["Catch"][-1]
    assert catcher["ErrorEquals"] == ["States.ALL"]
    after_the_mail = {"NotifySuccess": "Plan", "NotifyNews": "ChooseAction", "NotifyFailure": "Failed"}
    assert catcher["Next"] == after_the_mail.get(name, "NotifyFailure")


@pytest.mark.parametrize("name", [name for name in TASKS if not name.startswith("Notify")])
def test_a_failure_tells_where_it_was_and_what_there_is_to_tell(name):
    failure = TASKS[name]["Catch"][-1]["Assign"]["failure"]
    assert failure["state"] == name
    assert failure["error"] == "{% $states.errorOutput.Error %}"
    # A timeout has no cause; an expression without a result would fail the execution before its mail.
    assert failure["cause"] == "{% $states.errorOutput.Cause ? $states.errorOutput.Cause : '' %}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_functions_are_tried_again_for_the_same_reasons(name):
    assert FUNCTIONS[name]["Retry"] == FUNCTIONS["Plan"]["Retry"]


def test_there_is_nothing_that_only_one_of_aws_and_the_local_aws_runs_well():
    assert {state["Type"] for state in STATES.values()} <= {"Task", "Choice", "Wait", "Succeed", "Fail"}


def test_the_whole_machine_ends_some_day():
    assert MACHINE["TimeoutSeconds"] <= 14 * 86_400
