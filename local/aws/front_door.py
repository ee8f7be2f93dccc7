"""What every request meets before its service, after IAM: first a fault that was ordered, then the guard.

Wraps MiniStack's handlers, so requests over HTTP and aws-sdk tasks of Step Functions meet it alike. The optimized
integrations go past the handlers; their faults are in `state_faults.py`, the guard for sns:publish is in `topics.py`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs

from local.aws import at_work
from local.aws.answers import Response, error, validation_code
from local.aws.arns import action_and_resources
from local.aws.callers import CALLER
from local.aws.faults import FAULTS, Fault
from local.aws.guard import message_for, violations
from local.aws.hooks import HookMismatch
from local.aws.operations import Request, operation_of
from local.aws.states import sleep_virtually
from local.aws.unmodelled import refusal_of

Handler = Callable[..., Awaitable[Response]]

# S3 answers for itself (REST-XML); the rest is what the product and its deployment speak to.
GUARDED = (
    "dynamodb",
    "ssm",
    "states",
    "glue",
    "logs",
    "events",
    "kms",
    "sns",
    "sqs",
    "iam",
    "sts",
    "monitoring",
    "scheduler",
    "emr-serverless",
    "lambda",
)


def install() -> None:
    """Wrap the handlers of all guarded services and of S3."""
    from ministack import app

    for service in (*GUARDED, "s3"):
        if service not in app.SERVICE_HANDLERS:
            raise HookMismatch(f"MiniStack has no service {service}")
        app.SERVICE_HANDLERS[service] = _met(service, app.SERVICE_HANDLERS[service])


def _met(service: str, handler: Handler) -> Handler:
    async def wrapper(method: str, path: str, headers: dict[str, str], body: Any, query_params: Any) -> Any:
        raw = body.encode() if isinstance(body, str) else body
        request = Request(method, path, headers, raw, query_params)
        fault = _fault_for(service, request)
        if fault and not fault.comes_after and await _strikes(fault):
            return error(service, fault.code, fault.message, fault.status)
        refused = refusal(service, request) if service in GUARDED else None
        if refused:
            return refused
        answer = await handler(method, path, headers, body, query_params)
        if fault and fault.comes_after and await _strikes(fault):
            return error(service, fault.code, fault.message, fault.status)
        return answer

    return wrapper


async def _strikes(fault: Fault) -> bool:
    """Carry a fault out on whoever makes the call; returns whether an error is answered, also if nobody is left to read it."""
    caller = CALLER.get()
    if fault.kind == "delay":
        allowed = at_work.shortest_timeout(caller)
        await asyncio.to_thread(sleep_virtually, min(fault.seconds, allowed))
        if fault.seconds >= allowed:
            at_work.time_out(caller)
        return fault.seconds >= allowed
    if fault.kind == "killed":
        at_work.kill(caller)
    if fault.kind == "stopped":
        at_work.kill_and_stop(caller)
    return True


def refusal(service: str, request: Request) -> Response | None:
    """The answer AWS would give to a request that its model or a limit forbids; None for a good one."""
    operation = operation_of(service, request)
    if operation is None:
        return None
    if found := violations(operation.shape, operation.parameters):
        return error(service, validation_code(service), message_for(found))
    limit = refusal_of(service, operation.name, operation.parameters)
    return error(service, *limit) if limit else None


def _fault_for(service: str, request: Request) -> Fault | None:
    if not FAULTS:
        return None
    query = dict(request.query)
    if request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        # Its parameters are a form in the body, and MiniStack looks for them beside the path's own.
        query = {**parse_qs(request.body.decode()), **query}
    action, resources = action_and_resources(
        service, request.method, request.path, dict(request.headers), request.body, query
    )
    return FAULTS.hit(action, CALLER.get().role, resources) if action else None
