"""The resources IAM evaluates a request on, where MiniStack's answer would make right policies fail or wrong ones pass.

Source: the Service Authorization Reference, page of each service. A request may be evaluated on several ARNs
(Glue: catalog, database and table): `enforce` is then asked for each of them.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any
from urllib.parse import unquote

from local.aws.hooks import patch
from local.aws.operations import json_object

# The further ARNs of the request under evaluation, behind the one that MiniStack asks for itself.
_further: ContextVar[tuple[str, tuple[str, ...]]] = ContextVar("further_arns", default=("", ()))

_REQUEST = ("service", "method", "path", "headers", "body", "query_params", "region", "account_id")


def resources_of(
    service: str, operation: str, path: str, query: dict[str, Any], body: dict[str, Any], here: str
) -> list[str] | None:
    """All ARNs a request is evaluated on; None where MiniStack's own answer is right. `here` is "region:account"."""
    if service == "glue":
        return _glue(operation, body, here)
    if service == "dynamodb":
        return [body[name] for name in ("ExportArn", "TableArn", "ResourceArn") if body.get(name)][:1] or None
    if service == "logs" and body.get("logGroupName"):
        group, stream = body["logGroupName"], body.get("logStreamName", "")
        return [f"arn:aws:logs:{here}:log-group:{group}:log-stream:{stream}"]
    if service == "scheduler":
        return _scheduler(path, query, body, here)
    if service == "emr-serverless":
        return _emr_serverless(path, here)
    if service == "ssm":
        return _ssm(operation, body, here)
    return None


def _glue(operation: str, body: dict[str, Any], here: str) -> list[str] | None:
    prefix = f"arn:aws:glue:{here}:"
    about_database = operation.endswith(("Database", "Databases"))
    database = body.get("DatabaseName") or (body.get("DatabaseInput") or {}).get("Name")
    if about_database:
        database = database or body.get("Name")
    table = body.get("TableName") or (body.get("TableInput") or {}).get("Name")
    if operation in ("GetTable", "DeleteTable"):
        table = body.get("Name")
    tables = [table] if table else body.get("TablesToDelete", [])
    if not database and not about_database:
        return None
    if operation == "GetTables":
        tables = ["*"]
    return [
        *(f"{prefix}table/{database}/{name}" for name in tables),
        *([f"{prefix}database/{database}"] if database else []),
        f"{prefix}catalog",
    ]


def _scheduler(path: str, query: dict[str, Any], body: dict[str, Any], here: str) -> list[str] | None:
    parts = [unquote(part) for part in path.split("/") if part]
    if len(parts) < 2 or parts[0] not in ("schedules", "schedule-groups"):
        return None
    if parts[0] == "schedule-groups":
        return [f"arn:aws:scheduler:{here}:schedule-group/{parts[1]}"]
    group = body.get("GroupName") or (query.get("groupName") or ["default"])[0]
    return [f"arn:aws:scheduler:{here}:schedule/{group}/{parts[1]}"]


def _emr_serverless(path: str, here: str) -> list[str]:
    """Job runs are started and listed on their application, everything else on what the path names."""
    parts = [unquote(part) for part in path.split("/") if part]
    if parts[:1] == ["tags"]:
        return ["/".join(parts[1:])]
    if parts[:1] != ["applications"] or len(parts) == 1:
        return [f"arn:aws:emr-serverless:{here}:/*"]
    named = parts[:4] if len(parts) >= 4 and parts[2] == "jobruns" else parts[:2]
    return [f"arn:aws:emr-serverless:{here}:/{'/'.join(named)}"]


def _ssm(operation: str, body: dict[str, Any], here: str) -> list[str] | None:
    names = body.get("Names") if operation in ("GetParameters", "DeleteParameters") else None
    if operation == "GetParametersByPath":
        names = [str(body.get("Path", "/")).rstrip("/")]
    if operation == "DescribeParameters":
        return [f"arn:aws:ssm:{here}:*"]
    return [f"arn:aws:ssm:{here}:parameter/{name.lstrip('/')}" for name in names] if names else None


def action_and_resources(
    service: str, method: str, path: str, headers: dict[str, str], body: bytes, query: dict[str, Any]
) -> tuple[str, list[str]]:
    """The IAM action and every resource of a request; an empty action when IAM has none for it."""
    from ministack.core import iam_actions
    from ministack.core.responses import get_account_id, get_region

    action = iam_actions.extract_iam_action(service, method, path, headers, body, query)
    first = iam_actions.extract_resource_arn(
        service, method, path, headers, body, query, get_region(), get_account_id()
    )
    further = _further.get()[1]
    _further.set(("", ()))
    return action or "", [first, *further]


def install() -> None:
    """Correct the ARN of a request, and ask for all of them where there are several."""
    from ministack.core import iam_actions, iam_evaluator

    patch(iam_actions, "extract_resource_arn", _corrected, takes=_REQUEST)
    patch(iam_actions, "dynamodb_resource_arns", _dynamodb_by_arn, takes=("body", "region", "account_id"))
    patch(
        iam_evaluator,
        "enforce",
        _each_resource,
        takes=("access_key_id", "iam_action", "service", "region", "resource_arn", "service_context"),
    )


def _corrected(extract: Callable[..., str]) -> Callable[..., str]:
    def wrapper(*request: Any) -> str:
        service, _method, path, headers, body, query, region, account = request
        _further.set(("", ()))
        operation = headers.get("x-amz-target", "").rsplit(".", 1)[-1]
        arns = resources_of(service, operation, path, query, json_object(body), f"{region}:{account}")
        if not arns:
            return extract(*request)
        _further.set((arns[0], tuple(arns[1:])))
        return arns[0]

    return wrapper


def _dynamodb_by_arn(find: Callable[..., list[str]]) -> Callable[..., list[str]]:
    def wrapper(body: bytes, region: str, account_id: str) -> list[str]:
        found = find(body, region, account_id)
        return found or resources_of("dynamodb", "", "/", {}, json_object(body), f"{region}:{account_id}") or []

    return wrapper


def _each_resource(enforce: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(
        access_key_id: str,
        iam_action: str,
        service: str,
        region: str,
        resource_arn: str = "*",
        service_context: dict[str, Any] | None = None,
    ) -> Any:
        first, further = _further.get()
        _further.set(("", ()))
        for arn in (resource_arn, *(further if resource_arn == first else ())):
            refusal = enforce(access_key_id, iam_action, service, region, arn, service_context)
            if refusal:
                return refusal
        return None

    return wrapper
