"""Step Functions as strict as on AWS about how an execution ends and how long it waits (sizes: `state_limits`).

The execution a thread works for is kept in a context variable, so that what waits inside an integration can see
StopExecution: `current_execution`, `is_stopped`. Waits follow the virtual clock and end when the execution does.
"""

import contextvars
import json
import random
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from local.aws.clock import CLOCK
from local.aws.hooks import patch
from local.aws.knobs import KNOBS

Execution = dict[str, Any]

_POLL_SECONDS = 0.05

_execution: ContextVar[Execution | None] = ContextVar("execution", default=None)
_retry_delay: ContextVar[float | None] = ContextVar("retry_delay", default=None)
_running: set[int] = set()
_jitter = random.SystemRandom()


class ExecutionStopped(BaseException):
    """The execution ended while this thread worked for it. Not an Exception, so that no Retry or Catch sees it."""


def current_execution() -> Execution | None:
    """The execution this thread works for, None outside of one."""
    return _execution.get()


def machine_of(execution: Execution | None) -> Any:
    """The state machine that an execution is of, as MiniStack keeps it; None where there is none."""
    from ministack.services import stepfunctions

    return stepfunctions._state_machines.get(execution["stateMachineArn"]) if execution else None


def is_stopped() -> bool:
    """Whether this thread's execution has ended meanwhile: stopped, timed out or failed."""
    execution = _execution.get()
    return execution is not None and execution["status"] != "RUNNING"


def stop_if_over() -> None:
    """Leave the thread's work when its execution has ended. Raises ExecutionStopped."""
    if is_stopped():
        raise ExecutionStopped


def stop(execution: Execution) -> None:
    """Have an execution end as ABORTED, as StopExecution does; one that has ended stays as it is."""
    from ministack.services import stepfunctions

    stepfunctions._stop_execution(
        {"executionArn": execution["executionArn"], "cause": "A fault injected by the local AWS"}
    )


def sleep_virtually(seconds: float) -> None:
    """Wait by the virtual clock, scaled by the knob `wait_scale`; ends early when the execution does."""
    until = CLOCK.time() + seconds * KNOBS.wait_scale
    while (left := until - CLOCK.time()) > 0 and not is_stopped():
        time.sleep(min(left, _POLL_SECONDS))


def stop_all(patience_seconds: float = 5.0) -> None:
    """Stop every running execution and wait until their threads have noticed."""
    from ministack.services import stepfunctions

    for execution in stepfunctions._executions._data.values():
        if execution["status"] == "RUNNING":
            execution["status"] = "ABORTED"
    until = time.monotonic() + patience_seconds
    while _running and time.monotonic() < until:
        time.sleep(_POLL_SECONDS)


def install() -> None:
    """Replace the parts of MiniStack's engine that are more lenient than AWS."""
    from ministack.services import stepfunctions as engine

    patch(engine, "_run_execution", _watched_run, takes=("exec_arn",))
    patch(engine, "_fail_execution", _only_while_running, takes=("execution", "error", "cause"))
    patch(engine, "_start_execution", _same_request_same_answer, takes=("data",))
    patch(engine, "_scaled_sleep", _virtual_sleep, takes=("seconds",))
    patch(engine, "_find_matching_retrier", _exact_delay, takes=("retriers", "error", "retry_counts"))
    patch(engine, "_error_matches", _uncatchable, takes=("error_equals", "error"))
    patch(engine, "_invoke_resource", _not_when_over, takes=("resource", "input_data"))
    patch(engine, "_add_event", _none_after_the_end, takes=("execution", "event_type", "details"))
    patch(engine, "now_iso", _virtual_now, takes=())


def _watched_run(run: Callable[[str], None]) -> Callable[[str], None]:
    def wrapper(exec_arn: str) -> None:
        from ministack.services import stepfunctions

        execution = stepfunctions._executions.get(exec_arn)
        _execution.set(execution)
        _running.add(threading.get_ident())
        try:
            _limit_time(execution)
            run(exec_arn)
        except ExecutionStopped:
            pass
        finally:
            _running.discard(threading.get_ident())

    return wrapper


def _limit_time(execution: Execution | None) -> None:
    """Watch the state machine's TimeoutSeconds from a thread of its own, by the virtual clock."""
    from ministack.services import stepfunctions

    machine = machine_of(execution)
    seconds = json.loads(machine["definition"]).get("TimeoutSeconds") if machine else None
    if not execution or not seconds:
        return
    until = CLOCK.time() + float(seconds)

    def watch(running: Execution) -> None:
        while running["status"] == "RUNNING":
            if CLOCK.time() >= until:
                running.update(status="TIMED_OUT", stopDate=stepfunctions.now_iso(), error="States.Timeout")
                stepfunctions._add_event(running, "ExecutionTimedOut", {"executionTimedOutEventDetails": {}})
                stepfunctions._emit_execution_status_event(running)
            time.sleep(_POLL_SECONDS)

    threading.Thread(target=contextvars.copy_context().run, args=(watch, execution), daemon=True).start()


def _only_while_running(fail: Callable[..., None]) -> Callable[..., None]:
    def wrapper(execution: Execution, error: str, cause: str) -> None:
        if execution["status"] == "RUNNING":
            fail(execution, error, cause)

    return wrapper


def _same_request_same_answer(start: Callable[..., Any]) -> Callable[..., Any]:
    """StartExecution with the name and the input of a running execution is that execution again."""

    def wrapper(data: dict[str, Any]) -> Any:
        from ministack.core.responses import json_response
        from ministack.services import stepfunctions

        machine = data.get("stateMachineArn", "")
        arn = machine.replace(":stateMachine:", ":execution:") + ":" + str(data.get("name"))
        earlier = stepfunctions._executions.get(arn)
        if earlier and earlier["status"] == "RUNNING" and earlier["input"] == data.get("input", "{}"):
            return json_response({"executionArn": arn, "startDate": earlier["startDate"]})
        return start(data)

    return wrapper


def _virtual_sleep(_: Callable[..., None]) -> Callable[..., None]:
    def wrapper(seconds: float) -> None:
        delay = _retry_delay.get()
        _retry_delay.set(None)
        sleep_virtually(seconds if delay is None else delay)
        stop_if_over()

    return wrapper


def _exact_delay(find: Callable[..., Any]) -> Callable[..., Any]:
    """Work out a retry's delay as AWS does: the original caps it at 60 s and knows no MaxDelaySeconds, no jitter."""

    def wrapper(retriers: list[dict[str, Any]], error: str, retry_counts: dict[int, int]) -> Any:
        stop_if_over()
        retrier, index = find(retriers, error, retry_counts)
        if retrier is not None:
            delay = retrier.get("IntervalSeconds", 1) * retrier.get("BackoffRate", 2.0) ** retry_counts.get(index, 0)
            delay = min(delay, retrier.get("MaxDelaySeconds", delay))
            _retry_delay.set(_jitter.uniform(0, delay) if retrier.get("JitterStrategy") == "FULL" else delay)
        return retrier, index

    return wrapper


def _uncatchable(matches: Callable[..., bool]) -> Callable[..., bool]:
    """States.Runtime cannot be caught at all, States.DataLimitExceeded not by States.ALL or States.TaskFailed."""

    def wrapper(error_equals: list[str], error: str) -> bool:
        if error == "States.Runtime":
            return False
        if error == "States.DataLimitExceeded":
            return error in error_equals
        return matches(error_equals, error)

    return wrapper


def _not_when_over(invoke: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(resource: str, input_data: Any) -> Any:
        stop_if_over()
        result = invoke(resource, input_data)
        stop_if_over()
        return result

    return wrapper


def _none_after_the_end(add_event: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(execution: Execution, event_type: str, details: dict[str, Any] | None = None) -> Any:
        if not event_type.startswith("Execution"):
            stop_if_over()
        return add_event(execution, event_type, details)

    return wrapper


def _virtual_now(_: Callable[..., str]) -> Callable[..., str]:
    def wrapper() -> str:
        return CLOCK.now().strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    return wrapper
