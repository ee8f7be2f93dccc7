"""Roles are evaluated wherever AWS evaluates them, and every check is written down.

MiniStack evaluates requests that arrive over HTTP. Here the services' own calls are added: what Step Functions does
with a state machine's role, Scheduler with a schedule's, Lambda when it writes a function's logs. Other modules ask
`check` (for a given role) or `check_caller` (for whoever makes the current call).

`ACCESS_LOG` is the proof of least privilege: what a policy grants and no entry uses is too much.
"""

import contextvars
import hashlib
import json
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, TypedDict

from local.aws.callers import CALLER, Caller, role_of_arn, role_of_key
from local.aws.hooks import patch
from local.surroundings import LOOPBACK


class Check(TypedDict):
    """One evaluation of one action on one resource for one role."""

    role: str
    action: str
    resource: str
    allowed: bool


class AccessDenied(Exception):
    """IAM refuses an action; the text is the one AWS answers with. `policy`: the kind that would have to allow it."""

    def __init__(self, principal: str, action: str, resource: str, policy: str = "identity-based") -> None:
        super().__init__(
            f"User: {principal} is not authorized to perform: {action} on resource: {resource} "
            f"because no {policy} policy allows the {action} action"
        )
        self.action = action


ACCESS_LOG: list[Check] = []
_log_lock = Lock()


def note(role: str | None, action: str, resource: str, *, allowed: bool) -> None:
    """Write a check down; checks of root are none."""
    if role is not None:
        with _log_lock:
            ACCESS_LOG.append({"role": role, "action": action, "resource": resource, "allowed": allowed})


def role_session(role_arn: str, session_name: str) -> dict[str, str]:
    """Credentials of a role's session, as the environment of a process that runs under it.

    The same role and name give the same credentials.
    """
    from ministack.services import sts

    account, role = role_arn.split(":")[4], role_of_arn(role_arn)
    seed = hashlib.sha256(f"{role_arn}:{session_name}".encode()).hexdigest()
    secret, token = (hashlib.sha256(f"{kind}:{seed}".encode()).hexdigest() for kind in ("secret", "token"))
    key = f"ASIA{seed[:16].upper()}"
    sts.register_session(
        key,
        {
            "Arn": f"arn:aws:sts::{account}:assumed-role/{role}/{session_name[:64]}",
            "UserId": f"{role}:{session_name[:64]}",
            "SecretAccessKey": secret,
            "SessionToken": token,
        },
    )
    return {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": token}


def caller_for(role_arn: str, session_name: str) -> Caller:
    """A service acting under a role; set it as CALLER around what the service does."""
    return Caller(role_session(role_arn, session_name)["AWS_ACCESS_KEY_ID"], role_of_arn(role_arn))


def check(role_arn: str, action: str, resource: str, context: Mapping[str, str] | None = None) -> None:
    """Evaluate one action for a role; `context` holds condition keys. Raises AccessDenied."""
    _evaluate(caller_for(role_arn, "in-process").access_key, action, resource, context or {})


def check_caller(action: str, resource: str, context: Mapping[str, str] | None = None) -> None:
    """Evaluate one action for whoever makes the current call. Raises AccessDenied."""
    _evaluate(CALLER.get().access_key, action, resource, context or {})


def check_trust(role_arn: str, principal: str, source: str = "") -> None:
    """A service may only use a role that exists and trusts it, for what it acts for. Raises AccessDenied.

    `source`: the ARN of what that is, which the service tells with its account; Lambda tells nothing.
    """
    from ministack import app
    from ministack.core import iam_evaluator
    from ministack.core.responses import get_region
    from ministack.services import iam

    if not app.AUTH:
        return
    account = role_arn.split(":")[4] if role_arn.count(":") >= 5 else ""
    role = iam._roles.get_scoped(account, None, role_of_arn(role_arn)) or {}
    told = {"aws:sourcearn": source, "aws:sourceaccount": source.split(":")[4]} if source else {}
    request = iam_evaluator.EvalContext(
        principal, "Service", account, "sts:AssumeRole", role_arn, get_region(), service_context=told
    )
    for statement in statements_of(role.get("AssumeRolePolicyDocument", "{}")):
        if (
            statement.get("Effect") == "Allow"
            and iam_evaluator._service_principal_matches(statement.get("Principal"), principal)
            and iam_evaluator._conditions_met(statement.get("Condition", {}), request)
        ):
            return
    raise AccessDenied(principal, "sts:AssumeRole", role_arn)


def check_service(principal: str, action: str, resource: str, policy: str, context: Mapping[str, str]) -> None:
    """A service that acts for itself may do what the resource's own policy allows it. Raises AccessDenied.

    `context` holds condition keys, such as the ARN of what the service acts for.
    """
    from ministack import app
    from ministack.core import iam_evaluator
    from ministack.core.responses import get_region

    if not app.AUTH:
        return
    told = {key.lower(): value for key, value in context.items()}
    account = resource.split(":")[4]
    request = iam_evaluator.EvalContext(
        principal, "Service", account, action, resource, get_region(), service_context=told
    )
    about_it = [
        statement
        for statement in statements_of(policy or "{}")
        if iam_evaluator._service_principal_matches(statement.get("Principal"), principal)
    ]
    parsed = iam_evaluator.parse_policy_document({"Statement": about_it})
    if iam_evaluator.evaluate(request, [parsed]).decision != "Allow":
        raise AccessDenied(principal, action, resource, "resource-based")


def statements_of(document: str | dict[str, Any]) -> list[dict[str, Any]]:
    """The statements of a policy document, given as JSON text or already parsed."""
    parsed = json.loads(document) if isinstance(document, str) else document
    statements = parsed.get("Statement", [])
    return [statements] if isinstance(statements, dict) else list(statements)


def _evaluate(access_key: str, action: str, resource: str, context: Mapping[str, str]) -> None:
    """Ask the evaluator outside of any request: a request's own signature must not count for this check."""
    from ministack import app
    from ministack.core import iam_evaluator
    from ministack.core.responses import get_account_id, get_region, request_scope

    if not app.AUTH:
        return
    account, region = get_account_id(), get_region()

    def evaluate() -> Any:
        with request_scope(account, region):
            iam_evaluator.pin_request_origin(LOOPBACK, True)
            return iam_evaluator.enforce(
                access_key, action, action.split(":")[0], region, resource_arn=resource, service_context=dict(context)
            )

    refusal = contextvars.Context().run(evaluate)
    if refusal:
        raise AccessDenied(getattr(refusal, "principal_arn", access_key), action, resource)


def install() -> None:
    """From here on every evaluation, over HTTP or in process, is in the log."""
    from ministack.core import iam_evaluator

    def logged(enforce: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(
            access_key_id: str,
            iam_action: str,
            service: str,
            region: str,
            resource_arn: str = "*",
            service_context: dict[str, Any] | None = None,
        ) -> Any:
            refusal = enforce(access_key_id, iam_action, service, region, resource_arn, service_context)
            note(role_of_key(access_key_id), iam_action, resource_arn, allowed=not refusal)
            return refusal

        return wrapper

    patch(
        iam_evaluator,
        "enforce",
        logged,
        takes=("access_key_id", "iam_action", "service", "region", "resource_arn", "service_context"),
    )
