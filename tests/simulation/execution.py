"""Drives an execution from state to state, with the retries, catches and ways out of the definition itself."""

from __future__ import annotations

from collections.abc import Generator

from pipeline.errors import AwsUnavailable, PipelineError
from tests.simulation import machine
from tests.simulation.clock import Process
from tests.simulation.run import Died, Run
from tests.statemachine.definition import FUNCTIONS, MACHINE, STATES, TASKS, ways_out

WAYS = {name: {target for target, _ in ways_out(state)} for name, state in STATES.items()}
#: Step Functions ends an execution after 25,000 events; a state makes three on the average, while it waits.
_MOST_STEPS = 5_000


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
    retry = STATES[name]["Retry"][0]
    for tried in range(retry["MaxAttempts"] + 1):
        try:
            if name in FUNCTIONS:
                run.ask("lambda", _nothing)
            return (yield from machine.entered(name, run))
        except AwsUnavailable as failure:
            error: PipelineError = failure
            longest = min(retry["MaxDelaySeconds"], retry["IntervalSeconds"] * retry["BackoffRate"] ** tried)
            if tried < retry["MaxAttempts"]:
                yield run.account.dice.randint(0, longest)
        except PipelineError as failure:
            error = failure
            break
    run.says("{} ends in {}", name, error.name)
    catch = STATES[name]["Catch"][0]
    assigned = catch.get("Assign", {})
    if "failure" in assigned:
        run.failed(name, error)
    else:
        run.untold = True
    if "plan" in assigned:
        run.plan = run.horizon = None
    return str(catch["Next"])
