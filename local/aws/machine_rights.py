"""What roles need beside the calls they make: trust when a resource takes them, log delivery, traces.

Sources: "Logging using CloudWatch Logs" and "AWS X-Ray and Step Functions" in the Step Functions guide. Lambda and
Scheduler, too, refuse a role that they may not assume when the function or schedule is made.
"""

from typing import Any

from local.aws.roles import AccessDenied, check, check_trust

Properties = dict[str, Any]

DELIVER_LOGS = (
    "logs:CreateLogDelivery",
    "logs:GetLogDelivery",
    "logs:UpdateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:DescribeResourcePolicies",
    "logs:DescribeLogGroups",
)
TRACE = (
    "xray:PutTraceSegments",
    "xray:PutTelemetryRecords",
    "xray:GetSamplingRules",
    "xray:GetSamplingTargets",
)


def check_machine(properties: Properties) -> None:
    """A state machine of a stack: its role is trusted and may deliver logs if there are any. Raises ValueError."""
    role, logging = properties.get("RoleArn", ""), properties.get("LoggingConfiguration") or {}
    needed = DELIVER_LOGS if logging.get("Level", "OFF") != "OFF" else ()
    try:
        check_trust(role, "states.amazonaws.com", _arn("states", f"stateMachine:{properties.get('StateMachineName')}"))
        for action in needed:
            check(role, action, "*")
    except AccessDenied as denied:
        words = f"The state machine IAM Role is not authorized to access the Log Destination: {denied}"
        raise ValueError(words) from denied


def remember_tracing(arn: str, properties: Properties) -> None:
    """MiniStack drops a state machine's TracingConfiguration; runs need it."""
    from ministack.services import stepfunctions

    enabled = str((properties.get("TracingConfiguration") or {}).get("Enabled", False)).lower() == "true"
    stepfunctions._state_machines[arn]["tracingConfiguration"] = {"enabled": enabled}


def trace(machine: dict[str, Any]) -> None:
    """A run of a traced state machine sends traces with its role's rights; without them it runs untraced, silently."""
    if not (machine.get("tracingConfiguration") or {}).get("enabled"):
        return
    for action in TRACE:
        try:
            check(machine["roleArn"], action, "*")
        except AccessDenied:
            return


def check_function(properties: Properties) -> None:
    """A function of a stack. Raises ValueError."""
    try:
        check_trust(properties["Role"], "lambda.amazonaws.com")
    except AccessDenied as denied:
        raise ValueError("The role defined for the function cannot be assumed by Lambda.") from denied


def check_schedule(properties: Properties) -> None:
    """A schedule of a stack. Raises ValueError."""
    try:
        group = _arn("scheduler", f"schedule-group/{properties.get('GroupName', 'default')}")
        check_trust((properties.get("Target") or {}).get("RoleArn", ""), "scheduler.amazonaws.com", group)
    except AccessDenied as denied:
        words = "The execution role you provide must allow AWS EventBridge Scheduler to assume the role."
        raise ValueError(words) from denied


def _arn(service: str, rest: str) -> str:
    from ministack.core.responses import get_account_id, get_region

    return f"arn:aws:{service}:{get_region()}:{get_account_id()}:{rest}"
