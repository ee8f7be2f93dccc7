"""Step Functions' optimized integration `emr-serverless:startJobRun`, with and without `.sync`.

Members are in Pascal case on both sides. The rights of the state machine's role are checked by `state_roles`, before
this is called. What `.sync` waits for it also ends: a stopped execution and a timed-out state cancel the job run.
"""

import json
import secrets
import threading
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from local.aws.emr.api import call
from local.aws.emr.applications import ENDED
from local.aws.emr.errors import ServiceError
from local.aws.emr.store import STORE
from local.aws.hooks import HookMismatch, patch
from local.aws.states import ExecutionStopped, is_stopped

_RESOURCE = "arn:aws:states:::emr-serverless:startJobRun"
_POLL_SECONDS = 0.1
# Maps whose keys are the caller's own words.
VERBATIM = ("tags", "properties", "encryptionContext")
_INSTANTS = ("createdAt", "updatedAt", "startedAt", "endedAt", "attemptCreatedAt", "attemptUpdatedAt")

# Set once the state that waits has given up, which its thread would not notice.
_given_up: ContextVar[threading.Event | None] = ContextVar("given_up", default=None)


def install() -> None:
    """Offer the integration, and tell a task's thread when its state's time is over."""
    from ministack.services import stepfunctions

    if _RESOURCE in stepfunctions._SERVICE_DISPATCH:
        raise HookMismatch(f"MiniStack has {_RESOURCE} of its own by now")
    stepfunctions._SERVICE_DISPATCH[_RESOURCE] = start_job_run
    patch(
        stepfunctions,
        "_invoke_resource_with_timeout",
        _noticing_timeout,
        takes=("resource", "input_data", "timeout"),
    )


def start_job_run(resource: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The task: start a job run and, for `.sync`, wait for its end.

    Returns what StartJobRun answers, or the job run as GetJobRun shows it. Raises the engine's error:
    `EMRServerless.<name>` when the service refuses, `States.TaskFailed` with the job run as cause when it did not
    succeed.
    """
    from ministack.services import stepfunctions

    asked = camel_case(arguments)
    asked.setdefault("clientToken", secrets.token_hex(16))
    try:
        started = call("StartJobRun", asked)
    except ServiceError as refused:
        raise stepfunctions._ExecutionError(f"EMRServerless.{refused.code}", str(refused)) from refused
    if not resource.endswith(".sync"):
        return dict(pascal_case(started))
    run = _wait_for_end(started["applicationId"], started["jobRunId"])
    if run["State"] != "SUCCESS":
        raise stepfunctions._ExecutionError("States.TaskFailed", json.dumps(run))
    return run


def camel_case(value: Any) -> Any:
    """Pascal-case members as the API names them."""
    return _renamed(value, str.lower)


def pascal_case(value: Any) -> Any:
    """The API's members as Step Functions names them."""
    return _renamed(value, str.upper)


def _renamed(value: Any, first_letter: Callable[[str], str]) -> Any:
    if isinstance(value, list):
        return [_renamed(item, first_letter) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        first_letter(name[0]) + name[1:]: item
        if name[0].lower() + name[1:] in VERBATIM
        else _renamed(item, first_letter)
        for name, item in value.items()
    }


def _wait_for_end(application_id: str, run_id: str) -> dict[str, Any]:
    named = {"applicationId": application_id, "jobRunId": run_id}
    given_up = _given_up.get()
    while True:
        run = call("GetJobRun", named)["jobRun"]
        if run["state"] in ENDED:
            return _as_output(run)
        if is_stopped() or (given_up is not None and given_up.is_set()):
            _cancel(named)
            raise ExecutionStopped
        with STORE.changed:
            STORE.changed.wait(_POLL_SECONDS)


def _cancel(named: dict[str, str]) -> None:
    """Best effort, as on AWS: a job run that has just ended stays as it is."""
    try:
        call("CancelJobRun", named)
    except ServiceError:
        return


def _as_output(run: dict[str, Any]) -> dict[str, Any]:
    """A job run as a state's result: Pascal case, instants as text."""
    instants = {
        name: datetime.fromtimestamp(run[name], UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        for name in _INSTANTS
        if name in run
    }
    return dict(pascal_case({**run, **instants}))


def _noticing_timeout(invoke: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(resource: str, input_data: Any, timeout: Any) -> Any:
        given_up = threading.Event()
        _given_up.set(given_up)
        try:
            return invoke(resource, input_data, timeout)
        finally:
            given_up.set()
            _given_up.set(None)

    return wrapper
