"""Drives an execution from state to state, with the retries, catches and ways out of the definition itself."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from pipeline.errors import AwsUnavailable, JobFailed, PermissionMissing, PipelineError
from tests.simulation import machine
from tests.simulation.clock import Process
from tests.simulation.run import Died, Run
from tests.statemachine.definition import FUNCTIONS, MACHINE, STATES, TASKS, ways_out

WAYS = {name: {target for target, _ in ways_out(state)} for name, state in STATES.items()}
#: Step Functions ends an execution after 25,000 events; a state makes three on the average, while it waits.
_MOST_STEPS = 5_000
#: What Step Functions calls a function that Lambda has not run, and how the state that is no function fails.
NOT_RUN = "Lambda.ServiceException"
OF_THE_JOB: Mapping[type[PipelineError], str] = {
    AwsUnavailable: "EMRServerless.InternalServerException",
    PermissionMissing: "EMRServerless.AccessDeniedException",
    JobFailed: "States.TaskFailed",
}


def execute(run: Run, taken: set[tuple[str, str]]) -> Process:
    """One execution from start to end, adding every way it takes. Closing it is StopExecution."""
    name = MACHINE["StartAt"]
    try:
        while name in machine.STATES:
            target = yield from (_tried(name, run) if name in TASKS else machine.entered(name, run))
            if target not in WAYS[name]:
                raise run.account.timeline.violated("the model is the definition", f"{name} led to {target}")
            taken.add((name, target))
            name = target
            run.steps += 1
            if run.steps > _MOST_STEPS:
                raise run.account.timeline.violated("an execution stays far below 25,000 events", f"{run.steps} states")
        run.outcome = "SUCCEEDED" if name == "Idle" else "FAILED"
    except Died:
        run.outcome = "KILLED"
    finally:
        run.outcome = run.outcome or "KILLED"
        _end(run)


def _nothing() -> None:
    """What a call to a function itself does: the rest is the function's."""


def _end(run: Run) -> None:
    account = run.account
    account.running.discard(run.name)
    account.working.discard(run.name)
    if run.outcome == "KILLED":
        account.trouble()
        run.says("is dead")
        if run.job_run is not None and account.dice.random() < 0.7:
            account.jobs.cancel(run.job_run)
    elif run.outcome == "FAILED":
        assert run.failure is not None
        run.says("fails with {} in {}", run.failure.error, run.failure.state)
    account.on_end(run)


def _tried(name: str, run: Run) -> Generator[int, None, str]:
    """A task, tried again as its Retry says; the state that its Catch names where that does not help."""
    tries = [0] * len(STATES[name]["Retry"])
    while True:
        begun = name not in FUNCTIONS
        try:
            if not begun:
                run.ask("lambda", _nothing)
                begun = True
            return (yield from machine.entered(name, run))
        except PipelineError as failure:
            error = failure
        called = _called(name, error) if begun else NOT_RUN
        retry = next((n for n, rule in enumerate(STATES[name]["Retry"]) if is_meant(rule, called)), None)
        if retry is None or tries[retry] == STATES[name]["Retry"][retry]["MaxAttempts"]:
            break
        yield run.account.dice.randint(0, _longest_delay(STATES[name]["Retry"][retry], tries[retry]))
        tries[retry] += 1
    return _caught(name, run, called, error)


def _called(name: str, error: PipelineError) -> str:
    """What Step Functions calls a failure: a function's by its class, the job's by what EMR Serverless has said."""
    return error.name if name in FUNCTIONS else OF_THE_JOB[type(error)]


def is_meant(rule: Mapping[str, Any], error: str) -> bool:
    """Whether a Retry or Catch is for an error."""
    named = rule["ErrorEquals"]
    return error in named or "States.ALL" in named or ("States.TaskFailed" in named and error != "States.Timeout")


def _longest_delay(retry: Mapping[str, Any], tried: int) -> int:
    return int(min(retry["MaxDelaySeconds"], retry["IntervalSeconds"] * retry["BackoffRate"] ** tried))


def _caught(name: str, run: Run, called: str, error: PipelineError) -> str:
    run.says("{} ends in {}", name, called)
    catch = next((rule for rule in STATES[name]["Catch"] if is_meant(rule, called)), None)
    if catch is None:
        raise run.account.timeline.violated("every failure is caught", f"{called} in {name}")
    assigned = catch.get("Assign", {})
    if "failure" in assigned:
        run.failed(name, called, error)
    else:
        run.could_not_tell()
    if "plan" in assigned:
        run.plan, run.horizon, run.outlook = None, None, {}
    return str(catch["Next"])
