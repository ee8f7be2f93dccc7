"""Walks the definition with scripted answers: the routes it takes, without any service.

Only what the definition uses is understood; waits take no time. As on AWS, an expression without a result fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jsonata

from tests.statemachine.definition import MACHINE, STATES

MOST_STEPS = 500
CONTEXT = {
    "Execution": {"Id": "arn-of-the-execution", "Input": {"table": "orders"}, "StartTime": "2026-11-21T13:05:00.000Z"},
    "State": {"EnteredTime": "2026-11-21T13:12:00.000Z", "RetryCount": 0},
}


class TaskFailed(Exception):
    """A task's error as Step Functions sees it; a timeout has no cause."""

    def __init__(self, error: str, cause: str | None = None) -> None:
        super().__init__(error)
        self.output = {"Error": error} if cause is None else {"Error": error, "Cause": cause}


@dataclass
class Route:
    """What a walk did: the states in order, what each task was handed, how it ended."""

    states: list[str] = field(default_factory=list)
    handed: list[tuple[str, Any]] = field(default_factory=list)
    error: str = ""
    cause: str = ""
    variables: dict[str, Any] = field(default_factory=dict)
    #: What the state that is entered is handed by the one before.
    input: Any = None

    def last(self, name: str) -> Any:
        """What the last task of this name was handed."""
        return [arguments for task, arguments in self.handed if task == name][-1]


Answer = Callable[[str, Any], Any]


def walk(answer: Answer) -> Route:
    """Go from the start to an end; `answer` (state, arguments) returns a task's result or raises TaskFailed."""
    route, name = Route(input=CONTEXT["Execution"]["Input"]), MACHINE["StartAt"]
    for _ in range(MOST_STEPS):
        state = STATES[name]
        route.states.append(name)
        if state["Type"] == "Succeed":
            return route
        if state["Type"] == "Fail":
            route.error, route.cause = (_value(state[part], route, {}) for part in ("Error", "Cause"))
            return route
        name = _STEPS[state["Type"]](name, state, route, answer)
    raise AssertionError(f"no end after {MOST_STEPS} steps: {route.states[-9:]}")


def _choose(_name: str, state: dict[str, Any], route: Route, _answer: Answer) -> str:
    for choice in state["Choices"]:
        if _value(choice["Condition"], route, {}):
            _assign(choice, route, {})
            return str(choice["Next"])
    return str(state["Default"])


def _wait(_name: str, state: dict[str, Any], route: Route, _answer: Answer) -> str:
    seconds = _value(state["Seconds"], route, {})
    assert isinstance(seconds, int)
    assert 0 < seconds < 99_999_999
    return str(state["Next"])


def _carry_out(name: str, state: dict[str, Any], route: Route, answer: Answer) -> str:
    arguments = _value(state["Arguments"], route, {})
    tries = [0] * len(state["Retry"])
    while True:
        route.handed.append((name, arguments))
        try:
            result = {"result": answer(name, arguments)}
        except TaskFailed as failed:
            error = failed.output["Error"]
            rule = next((n for n, retry in enumerate(state["Retry"]) if error in retry["ErrorEquals"]), None)
            if rule is not None and tries[rule] < state["Retry"][rule]["MaxAttempts"]:
                tries[rule] += 1
                continue
            catcher = next(c for c in state["Catch"] if {error, "States.ALL"} & set(c["ErrorEquals"]))
            return _leave(catcher, route, {"errorOutput": failed.output}, failed.output)
        return _leave(state, route, result, result["result"])


def _leave(rule: dict[str, Any], route: Route, seen: dict[str, Any], output: Any) -> str:
    """Go on as a state, or its catcher, says; `output` is what it hands on unless it says otherwise."""
    handed_on = _value(rule["Output"], route, seen) if "Output" in rule else output
    _assign(rule, route, seen)
    route.input = handed_on
    return str(rule["Next"])


_STEPS = {"Choice": _choose, "Wait": _wait, "Task": _carry_out}


def _assign(rule: dict[str, Any], route: Route, seen: dict[str, Any]) -> None:
    # All are worked out before any is set, as on AWS.
    route.variables |= {name: _value(value, route, seen) for name, value in rule.get("Assign", {}).items()}


def _value(template: Any, route: Route, seen: dict[str, Any]) -> Any:
    if isinstance(template, dict):
        return {name: _value(part, route, seen) for name, part in template.items()}
    if isinstance(template, list):
        return [_value(part, route, seen) for part in template]
    if not isinstance(template, str) or not template.startswith("{%"):
        return template
    bindings = {**route.variables, "states": {"input": route.input, "context": CONTEXT, **seen}}
    found = jsonata.Jsonata(template[2:-2].strip()).evaluate(None, bindings)
    assert found is not None, f"States.QueryEvaluationError: {template} has no result"
    return found
