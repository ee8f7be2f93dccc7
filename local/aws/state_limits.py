"""The sizes Step Functions holds an execution to: 256 KiB per payload, 25,000 events of history.

Source: "Step Functions service quotas". The engine writes fewer events than AWS does; the missing ones that matter
for the count (TaskStarted, and those of states inside a Map) are added here.
"""

import json
from collections.abc import Callable
from typing import Any

from local.aws.hooks import patch
from local.aws.states import Execution, current_execution

LARGEST_PAYLOAD_BYTES = 256 * 1024
MOST_EVENTS = 25_000

_BRANCHING = ("state_def", "raw_input", "execution", "ctx")
_SIMPLE = ("state_def", "raw_input", "ctx")


def payload_bytes(value: object) -> int:
    """What a payload counts: its length as UTF-8 JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def hold_to_limit(value: object, what: str) -> None:
    """Raise States.DataLimitExceeded for a payload over 256 KiB."""
    from ministack.services import stepfunctions

    if (size := payload_bytes(value)) > LARGEST_PAYLOAD_BYTES:
        raise stepfunctions._ExecutionError(
            "States.DataLimitExceeded",
            f"{what} exceeded the maximum number of bytes service limit: {size} > {LARGEST_PAYLOAD_BYTES}",
        )


def install() -> None:
    """Measure every state's input, arguments, result and output, and count the events."""
    from ministack.services import stepfunctions as engine

    patch(engine, "_add_event", _counted, takes=("execution", "event_type", "details"))
    patch(engine, "_invoke_resource", _measured_call, takes=("resource", "input_data"))
    for name, takes in (
        ("_execute_task", _BRANCHING),
        ("_execute_map", _BRANCHING),
        ("_execute_parallel", _BRANCHING),
        ("_execute_pass", _SIMPLE),
        ("_execute_choice", _SIMPLE),
        ("_execute_wait", _SIMPLE),
    ):
        patch(engine, name, _measured_state, takes=takes)


def _counted(add_event: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(execution: Execution, event_type: str, details: dict[str, Any] | None = None) -> Any:
        from ministack.services import stepfunctions

        if len(execution["events"]) >= MOST_EVENTS - 1 and not event_type.startswith("Execution"):
            # The name of this error is nowhere documented; it cannot be caught on AWS, as States.Runtime cannot.
            raise stepfunctions._ExecutionError(
                "States.Runtime", f"The execution reached the maximum number of history events ({MOST_EVENTS})."
            )
        event = add_event(execution, event_type, details)
        if event_type == "TaskScheduled":
            scheduled = (details or {}).get("taskScheduledEventDetails", {})
            add_event(execution, "TaskStarted", {"taskStartedEventDetails": scheduled})
        return event

    return wrapper


def _measured_call(invoke: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(resource: str, input_data: Any) -> Any:
        hold_to_limit(input_data, "The arguments of the task")
        result = invoke(resource, input_data)
        hold_to_limit(result, "The result of the task")
        return result

    return wrapper


def _measured_state(execute: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(state_def: dict[str, Any], raw_input: Any, *rest: Any) -> Any:
        hold_to_limit(raw_input, "The input of the state")
        context: dict[str, Any] = rest[-1] or {}
        name, kind = context.get("State", {}).get("Name"), state_def.get("Type")
        _note_inner(context, f"{kind}StateEntered", {"stateEnteredEventDetails": {"name": name}})
        output, following = execute(state_def, raw_input, *rest)
        hold_to_limit(output, "The output of the state")
        _note_inner(context, f"{kind}StateExited", {"stateExitedEventDetails": {"name": name}})
        return output, following

    return wrapper


def _note_inner(context: dict[str, Any], event_type: str, details: dict[str, Any]) -> None:
    """Events of states inside a Map, which the engine leaves out."""
    from ministack.services import stepfunctions

    execution = current_execution()
    if execution is not None and "Map" in context:
        stepfunctions._add_event(execution, event_type, details)
