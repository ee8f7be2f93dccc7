"""Faults at the states of a state machine, and at the calls that its tasks make with its role.

A state is struck under the action "state:<name>". A task is struck at each try of its call, so that its timeout, Retry and
Catch see the fault: `error` fails the try with `code` as the error's whole name, `delay` beyond TimeoutSeconds is States.Timeout,
`killed` and `stopped` stop the execution; with `when` "after" the call has done its work, and nothing has recorded it.
Any other state is struck when it is entered or, "after", when it is left.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from local.aws.callers import CALLER
from local.aws.faults import FAULTS, Fault
from local.aws.hooks import patch
from local.aws.states import Execution, current_execution, sleep_virtually, stop, stop_if_over

# Of the task under way: the state's name, and how long it may take.
_task: ContextVar[tuple[str, float]] = ContextVar("task", default=("", float("inf")))


def install() -> None:
    """Hook the tasks' calls, and the entering and leaving of every other state."""
    from ministack.services import stepfunctions

    patch(stepfunctions, "_invoke_resource", _met_task, takes=("resource", "input_data"))
    patch(stepfunctions, "_execute_task", _known_task, takes=("state_def", "raw_input", "execution", "ctx"))
    patch(stepfunctions, "_add_event", _met_state, takes=("execution", "event_type", "details"))


def _known_task(execute: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(state_def: dict[str, Any], raw_input: Any, execution: Execution, ctx: dict[str, Any]) -> Any:
        allowed = state_def.get("TimeoutSeconds", float("inf"))
        _task.set((ctx["State"]["Name"], float(allowed) if isinstance(allowed, int | float) else float("inf")))
        return execute(state_def, raw_input, execution, ctx)

    return wrapper


def _met_task(invoke: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(resource: str, input_data: Any) -> Any:
        name, allowed = _task.get()
        faults = _faults_of_task(name, resource, input_data)
        for fault, prefix in faults:
            if not fault.comes_after:
                _strike(fault, prefix, allowed)
        result = invoke(resource, input_data)
        for fault, prefix in faults:
            if fault.comes_after:
                _strike(fault, prefix, allowed)
        return result

    return wrapper


def _faults_of_task(name: str, resource: str, data: Any) -> list[tuple[Fault, str]]:
    """What strikes the state, and what strikes its call, each with what goes before its code in the error's name.

    A task's first right is the call it makes; the further ones only follow from it.
    """
    from local.aws.state_roles import rights_of_task

    if not FAULTS:
        return []
    role = CALLER.get().role
    first = next(rights_of_task(resource, data), None) if isinstance(data, dict) else None
    at_state = FAULTS.hit(f"state:{name}", role)
    at_call = FAULTS.hit(first[0], role, (first[1],)) if first else None
    found = ((at_state, ""), (at_call, f"{_error_prefix(resource)}."))
    return [(fault, prefix) for fault, prefix in found if fault is not None]


def _strike(fault: Fault, prefix: str = "", allowed: float = float("inf")) -> None:
    """Carry a fault out; `allowed`: how long what it strikes may take."""
    from ministack.services import stepfunctions

    if fault.kind == "delay":
        sleep_virtually(min(fault.seconds, allowed))
        stop_if_over()
        if fault.seconds >= allowed:
            raise stepfunctions._ExecutionError("States.Timeout", f"Task timed out after {allowed:g} seconds")
    elif fault.kind in ("killed", "stopped"):
        _stop_this()
    else:
        raise stepfunctions._ExecutionError(f"{prefix}{fault.code}", fault.message)


def _met_state(add_event: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(execution: Execution, event_type: str, details: dict[str, Any] | None = None) -> Any:
        event = add_event(execution, event_type, details)
        for end, when in (("StateEntered", "before"), ("StateExited", "after")):
            kind = event_type.removesuffix(end)
            if FAULTS and kind not in (event_type, "Task"):
                ((member, told),) = (details or {}).items()
                assert member in ("stateEnteredEventDetails", "stateExitedEventDetails")
                _strike_state(told["name"], when)
        return event

    return wrapper


def _strike_state(name: str, when: str) -> None:
    fault = FAULTS.hit(f"state:{name}", CALLER.get().role, when=when)
    if fault is not None:
        _strike(fault)


def _stop_this() -> None:
    """Stop the execution that this thread works for, and leave its work."""
    execution = current_execution()
    if execution is not None:
        stop(execution)
    stop_if_over()


def _error_prefix(resource: str) -> str:
    service = "lambda" if resource.startswith("arn:aws:lambda:") else resource.split(":::", 1)[-1].split(":")[0]
    return {"emr-serverless": "EMRServerless", "lambda": "Lambda", "dynamodb": "DynamoDB"}.get(service, service.upper())
