"""What a state machine does, it does with its role: each task's call is evaluated before it is made.

Optimized integrations are checked here by name; aws-sdk tasks at MiniStack's own door for calls within the process,
where action and resource are worked out as for HTTP. Permissions: "IAM policies for integrated services" of the
Step Functions guide.
"""

from collections.abc import Callable, Iterator
from typing import Any

from local.aws import emr, machine_rights
from local.aws.callers import CALLER
from local.aws.hooks import patch
from local.aws.roles import AccessDenied, caller_for, check, check_caller, check_trust
from local.aws.states import current_execution, machine_of
from local.surroundings import LOOPBACK

Right = tuple[str, str, dict[str, str]]

_PRINCIPAL = "states.amazonaws.com"
# What a refusal is called in a Catch. Lambda's is as seen on AWS; services without a modelled error get theirs.
_REFUSALS = {
    "lambda": "Lambda.AWSLambdaException",
    "sns": "SNS.AuthorizationErrorException",
    "emr-serverless": "EMRServerless.AccessDeniedException",
}


def install() -> None:
    """Hook the engine's run (to know the role) and both ways a task reaches a service."""
    from ministack import app
    from ministack.services import stepfunctions as engine

    patch(engine, "_run_execution", _under_its_role, takes=("exec_arn",))
    patch(engine, "_invoke_resource", _checked_task, takes=("resource", "input_data"))
    patch(
        app,
        "call_service_handler_sync",
        _checked_sdk_call,
        takes=("handler", "method", "path", "headers", "body", "query_params", "timeout"),
    )


def current_role() -> str | None:
    """The ARN of the role the current execution runs under."""
    machine = machine_of(current_execution())
    return machine["roleArn"] if machine else None


def _under_its_role(run: Callable[[str], None]) -> Callable[[str], None]:
    def wrapper(exec_arn: str) -> None:
        from ministack.core import iam_evaluator
        from ministack.services import stepfunctions, sts

        execution = stepfunctions._executions.get(exec_arn)
        machine = machine_of(execution)
        if machine:
            machine_rights.trace(machine)
            caller = caller_for(machine["roleArn"], execution["name"])
            CALLER.set(caller)
            iam_evaluator.pin_request_origin(LOOPBACK, True)
            iam_evaluator._request_caller_arn.set(sts._sessions[caller.access_key]["Arn"])
        run(exec_arn)

    return wrapper


def _checked_task(invoke: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(resource: str, input_data: Any) -> Any:
        from ministack.services import stepfunctions

        role, execution = current_role(), current_execution()
        if role is not None and execution is not None and isinstance(input_data, dict):
            try:
                check_trust(role, _PRINCIPAL, execution["stateMachineArn"])
                for action, arn, context in rights_of_task(resource, input_data):
                    check(role, action, arn, context)
            except AccessDenied as denied:
                service = resource.split(":::", 1)[-1].split(":")[0]
                raise stepfunctions._ExecutionError(
                    _REFUSALS.get(service, "States.TaskFailed"), str(denied)
                ) from denied
        return invoke(resource, input_data)

    return wrapper


def rights_of_task(resource: str, data: dict[str, Any]) -> Iterator[Right]:
    """What the role needs for one task of an optimized integration: (action, resource ARN, condition keys)."""
    from ministack.core.responses import get_account_id, get_region

    here = f"{get_region()}:{get_account_id()}"
    integration, _, pattern = resource.split(":::", 1)[-1].partition(".")
    if resource.startswith("arn:aws:lambda:"):
        yield "lambda:InvokeFunction", resource, {}
    elif integration == "lambda:invoke":
        name = str(data.get("FunctionName", ""))
        arn = name if name.startswith("arn:") else f"arn:aws:lambda:{here}:function:{name}"
        yield "lambda:InvokeFunction", arn, {}
    elif integration == "sns:publish":
        yield "sns:Publish", str(data.get("TopicArn") or data.get("TargetArn") or "*"), {}
    elif integration == "sqs:sendMessage":
        account, queue = str(data.get("QueueUrl", "/")).rstrip("/").split("/")[-2:]
        yield "sqs:SendMessage", f"arn:aws:sqs:{get_region()}:{account}:{queue}", {}
    elif integration == "events:putEvents":
        for entry in data.get("Entries", []):
            yield "events:PutEvents", f"arn:aws:events:{here}:event-bus/{entry.get('EventBusName', 'default')}", {}
    elif integration.startswith("dynamodb:"):
        action = integration.removeprefix("dynamodb:")
        yield f"dynamodb:{action[0].upper()}{action[1:]}", f"arn:aws:dynamodb:{here}:table/{data.get('TableName')}", {}
    elif integration == "states:startExecution":
        yield from _rights_of_nested(str(data.get("StateMachineArn", "")), pattern, here)
    elif integration == "emr-serverless:startJobRun":
        yield from _rights_of_job_run(data, pattern, here)


def _rights_of_nested(machine: str, pattern: str, here: str) -> Iterator[Right]:
    yield "states:StartExecution", machine, {}
    if pattern.startswith("sync"):
        execution = machine.replace(":stateMachine:", ":execution:") + ":*"
        yield "states:DescribeExecution", execution, {}
        yield "states:StopExecution", execution, {}
        yield from _rights_of_managed_rule("StepFunctionsGetEventsForStepFunctionsExecutionRule", here)


def _rights_of_job_run(data: dict[str, Any], pattern: str, here: str) -> Iterator[Right]:
    application = f"arn:aws:emr-serverless:{here}:/applications/{data.get('ApplicationId')}"
    yield "emr-serverless:StartJobRun", application, {}
    passed = {"iam:PassedToService": emr.PRINCIPAL}
    yield "iam:PassRole", str(data.get("ExecutionRoleArn", "")), passed
    if data.get("Tags"):
        yield "emr-serverless:TagResource", f"{application}/jobruns/*", {}
    if pattern.startswith("sync"):
        yield "emr-serverless:GetJobRun", f"{application}/jobruns/*", {}
        yield "emr-serverless:CancelJobRun", f"{application}/jobruns/*", {}
        yield from _rights_of_managed_rule("StepFunctionsGetEventsForEMRServerlessJobRule", here)


def _rights_of_managed_rule(name: str, here: str) -> Iterator[Right]:
    """.sync learns of the end through a rule that Step Functions keeps with the role's rights."""
    for action in ("PutTargets", "PutRule", "DescribeRule"):
        yield f"events:{action}", f"arn:aws:events:{here}:rule/{name}", {}


def _checked_sdk_call(call: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(
        handler: Any,
        method: str,
        path: str,
        headers: dict[str, str],
        body: Any,
        query_params: dict[str, Any],
        timeout: float | None = None,
    ) -> Any:
        if current_role() is not None and "authorization" in headers:
            service = headers["authorization"].split("/")[3]
            _check_sdk_call(service, method, path, headers, body, query_params)
        return call(handler, method, path, headers, body, query_params, timeout)

    return wrapper


def _check_sdk_call(
    service: str, method: str, path: str, headers: dict[str, str], body: Any, query: dict[str, Any]
) -> None:
    """An aws-sdk task: its action and resources are found as those of an HTTP request are."""
    from ministack.services import stepfunctions

    from local.aws.arns import action_and_resources

    raw = body.encode() if isinstance(body, str) else body
    action, arns = action_and_resources(service, method, path, headers, raw, query)
    try:
        for arn in arns if action else ():
            check_caller(action, arn)
    except AccessDenied as denied:
        prefix = stepfunctions._AWS_SDK_ERROR_PREFIX.get(service, service.capitalize())
        raise stepfunctions._ExecutionError(f"{prefix}.AccessDeniedException", str(denied)) from denied
