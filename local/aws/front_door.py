"""What every request meets before its service, after IAM: first a fault that was ordered, then the guard.

Wraps MiniStack's handlers, so requests over HTTP and aws-sdk tasks of Step Functions meet it alike. The optimized
integrations go past the handlers; their faults are here too, the guard for sns:publish is in `topics.py`.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from local.aws.answers import Response, error, validation_code
from local.aws.callers import CALLER
from local.aws.faults import FAULTS, Fault
from local.aws.guard import message_for, violations
from local.aws.hooks import HookMismatch, patch
from local.aws.operations import Request, operation_of
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
    """Wrap the handlers of all guarded services and of S3, and the optimized integrations."""
    from ministack import app
    from ministack.services import stepfunctions

    for service in (*GUARDED, "s3"):
        if service not in app.SERVICE_HANDLERS:
            raise HookMismatch(f"MiniStack has no service {service}")
        app.SERVICE_HANDLERS[service] = _met(service, app.SERVICE_HANDLERS[service])
    patch(stepfunctions, "_invoke_resource", _met_task, takes=("resource", "input_data"))


def _met(service: str, handler: Handler) -> Handler:
    async def wrapper(method: str, path: str, headers: dict[str, str], body: Any, query_params: Any) -> Any:
        raw = body.encode() if isinstance(body, str) else body
        request = Request(method, path, headers, raw, query_params)
        fault = _fault_for(service, request)
        if fault and fault.kind == "error":
            return error(service, fault.code, fault.message, fault.status)
        refused = refusal(service, request) if service in GUARDED else None
        if refused:
            return refused
        answer = await handler(method, path, headers, body, query_params)
        return error(service, fault.code, fault.message, fault.status) if fault else answer

    return wrapper


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
    from ministack.core import iam_actions

    action = iam_actions.extract_iam_action(
        service, request.method, request.path, request.headers, request.body, request.query
    )
    return FAULTS.hit(action, CALLER.get().role) if action else None


def _met_task(invoke: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(resource: str, input_data: Any) -> Any:
        from ministack.services import stepfunctions

        fault = _fault_for_task(resource, input_data)
        prefix = _error_prefix(resource)
        if fault and fault.kind == "error":
            raise stepfunctions._ExecutionError(f"{prefix}.{fault.code}", fault.message)
        result = invoke(resource, input_data)
        if fault:
            raise stepfunctions._ExecutionError(f"{prefix}.{fault.code}", fault.message)
        return result

    return wrapper


def _fault_for_task(resource: str, data: Any) -> Fault | None:
    """A task's first right is the call it makes; the further ones only follow from it."""
    from local.aws.state_roles import rights_of_task

    if not FAULTS or not isinstance(data, dict):
        return None
    first = next(rights_of_task(resource, data), None)
    return FAULTS.hit(first[0], CALLER.get().role) if first else None


def _error_prefix(resource: str) -> str:
    service = "lambda" if resource.startswith("arn:aws:lambda:") else resource.split(":::", 1)[-1].split(":")[0]
    return {"emr-serverless": "EMRServerless", "lambda": "Lambda", "dynamodb": "DynamoDB"}.get(service, service.upper())
