"""Limits AWS enforces and no service model states. Each rule: parameters in, (code, message) or None out."""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

Refusal = tuple[str, str]
Rule = Callable[[dict[str, Any]], Refusal | None]

_PARAMETER_NAME = re.compile(r"[a-zA-Z0-9_.\-/]+|arn:aws:ssm:.+")
_EXECUTION_NAME = re.compile(r"""[^\s<>{}\[\]?*"#%\\^|~`$&,;:/\x00-\x1f\x7f-\x9f]+""")
_LARGEST_STANDARD, _LARGEST_ADVANCED = 4096, 8192
_LONGEST_SUBJECT = 100
_LARGEST_INLINE_POLICIES, _LARGEST_MANAGED_POLICY, _MOST_MANAGED_POLICIES = 10_240, 6_144, 10
_LARGEST_MESSAGE_BYTES = 256 * 1024


def refusal_of(service: str, operation: str, parameters: dict[str, Any]) -> Refusal | None:
    """What AWS would refuse about an operation beyond its model: (error code, message), or None."""
    rule = _RULES.get((service, operation))
    return rule(parameters) if rule else None


def _put_parameter(parameters: dict[str, Any]) -> Refusal | None:
    """Parameter Store: the size by tier, no `{{`, names of letters, digits and `_.-/`."""
    value, name = str(parameters.get("Value", "")), str(parameters.get("Name", ""))
    advanced = parameters.get("Tier", "Standard") != "Standard"
    if "{{" in value:
        return "ValidationException", 'Parameter value can\'t nest another parameter. Do not use "{{}}" in the value.'
    if not advanced and len(value) > _LARGEST_STANDARD:
        return "ValidationException", (
            f"Standard tier parameters support a maximum parameter value of {_LARGEST_STANDARD} characters. To create "
            "a larger parameter value, upgrade the parameter to use the advanced-parameter tier."
        )
    if len(value) > _LARGEST_ADVANCED:
        return "ValidationException", f"Parameter values are limited to {_LARGEST_ADVANCED} characters."
    reserved = name.lstrip("/").lower().startswith(("aws", "ssm"))
    if not _PARAMETER_NAME.fullmatch(name) or reserved or name.count("/") > 16 or len(name) > 1011:
        return "ValidationException", (
            'Parameter name: can\'t be prefixed with "aws" or "ssm" (case-insensitive). If formed as a path, it can '
            "consist of sub-paths divided by slash symbol; each sub-path can be formed as a mix of letters, numbers "
            "and the following 3 symbols .-_"
        )
    return None


def _publish(parameters: dict[str, Any]) -> Refusal | None:
    """SNS: subjects of at most 100 printable ASCII characters, messages of 256 KiB, JSON messages with a default."""
    subject, message = parameters.get("Subject"), parameters.get("Message")
    if subject is not None and not _is_subject(str(subject)):
        return "InvalidParameter", "Invalid parameter: Subject"
    text = message if isinstance(message, str) else json.dumps(message)
    if not message:
        return "InvalidParameter", "Invalid parameter: Empty message"
    if len(text.encode()) > _LARGEST_MESSAGE_BYTES:
        return "InvalidParameter", "Invalid parameter: Message too long"
    if parameters.get("MessageStructure") == "json":
        return _json_message(text)
    return None


def _is_subject(subject: str) -> bool:
    if not 0 < len(subject) <= _LONGEST_SUBJECT:
        return False
    return subject.isascii() and subject.isprintable() and not subject[0].isspace()


def _json_message(text: str) -> Refusal | None:
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict) or not all(isinstance(value, str) for value in parsed.values()):
        return "InvalidParameter", "Invalid parameter: Message Structure - JSON message body failed to parse"
    if "default" not in parsed:
        return "InvalidParameter", "Invalid parameter: Message Structure - No default entry in JSON message body"
    return None


def _put_role_policy(parameters: dict[str, Any]) -> Refusal | None:
    """IAM: the inline policies of a role count 10,240 characters together, white space not counted."""
    from ministack.services import iam

    role = str(parameters.get("RoleName", ""))
    inline = dict((iam._roles.get(role) or {}).get("InlinePolicies", {}))
    inline[str(parameters.get("PolicyName", ""))] = parameters.get("PolicyDocument", "")
    return _inline_policies(role, inline.values())


def _create_role(parameters: dict[str, Any]) -> Refusal | None:
    """IAM, of a role that CloudFormation makes with its policies: those inline together, and how many managed ones."""
    inline = [policy.get("PolicyDocument", "") for policy in parameters.get("Policies", [])]
    if refused := _inline_policies(str(parameters.get("RoleName", "")), inline):
        return refused
    if len(parameters.get("ManagedPolicyArns", [])) > _MOST_MANAGED_POLICIES:
        return "LimitExceeded", f"Cannot exceed quota for PoliciesPerRole: {_MOST_MANAGED_POLICIES}"
    return None


def _create_policy(parameters: dict[str, Any]) -> Refusal | None:
    """IAM: a managed policy has 6,144 characters, white space not counted."""
    if _policy_size(parameters.get("PolicyDocument", "")) > _LARGEST_MANAGED_POLICY:
        return "LimitExceeded", f"Cannot exceed quota for PolicySize: {_LARGEST_MANAGED_POLICY}"
    return None


def _inline_policies(role: str, documents: Iterable[object]) -> Refusal | None:
    if sum(map(_policy_size, documents)) > _LARGEST_INLINE_POLICIES:
        return "LimitExceeded", f"Maximum policy size of {_LARGEST_INLINE_POLICIES} bytes exceeded for role {role}"
    return None


def _policy_size(document: object) -> int:
    return len(re.sub(r"\s", "", document if isinstance(document, str) else json.dumps(document)))


def _subscribe(parameters: dict[str, Any]) -> Refusal | None:
    """SNS: mail goes to an address."""
    if str(parameters.get("Protocol", "")).startswith("email") and "@" not in str(parameters.get("Endpoint", "")):
        return "InvalidParameter", "Invalid parameter: Email address"
    return None


def _start_execution(parameters: dict[str, Any]) -> Refusal | None:
    """Step Functions: execution names without white space, wildcards, brackets and special characters."""
    name = parameters.get("name")
    if name is not None and not _EXECUTION_NAME.fullmatch(str(name)):
        return "InvalidName", f"Invalid Name: '{name}'"
    try:
        json.loads(parameters.get("input", "{}"))
    except ValueError as unreadable:
        return "InvalidExecutionInput", f"Invalid State Machine Execution Input: '{unreadable}'"
    return None


_RULES: dict[tuple[str, str], Rule] = {
    ("ssm", "PutParameter"): _put_parameter,
    ("sns", "Publish"): _publish,
    ("sns", "Subscribe"): _subscribe,
    ("iam", "CreateRole"): _create_role,
    ("iam", "CreatePolicy"): _create_policy,
    ("iam", "PutRolePolicy"): _put_role_policy,
    ("states", "StartExecution"): _start_execution,
}
