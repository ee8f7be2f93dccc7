"""The task sns:publish, as strict as Publish over HTTP, and with its message attributes.

MiniStack's integration hands the task's arguments to the query protocol's handler unflattened: attributes, and with
them every filter policy, would be lost, and all errors have one name.
"""

import re
from typing import Any

from local.aws.guard import message_for, violations
from local.aws.hooks import HookMismatch
from local.aws.operations import service_model
from local.aws.unmodelled import refusal_of

_RESOURCE = "arn:aws:states:::sns:publish"


def install() -> None:
    """Put our integration in the place of MiniStack's."""
    from ministack.services import stepfunctions

    if _RESOURCE not in stepfunctions._SERVICE_DISPATCH:
        raise HookMismatch(f"Step Functions has no integration {_RESOURCE}")
    stepfunctions._SERVICE_DISPATCH[_RESOURCE] = publish


def publish(resource: str, data: dict[str, Any]) -> dict[str, Any]:
    """Publish with a task's arguments; errors are named SNS.<code>Exception, as on AWS."""
    from ministack.services import sns, stepfunctions

    def fail(code: str, message: str) -> Exception:
        name = code if code.endswith("Exception") else f"{code}Exception"
        raised: Exception = stepfunctions._ExecutionError(f"SNS.{name}", message)
        return raised

    shape = service_model("sns").operation_model("Publish").input_shape
    if found := violations(shape, {**data, "Message": str(data.get("Message", ""))}):
        raise fail("InvalidParameter", message_for(found))
    if limit := refusal_of("sns", "Publish", data):
        raise fail(*limit)
    status, _, body = sns._publish({**data, **flattened_attributes(data.get("MessageAttributes") or {})})
    text = body.decode()
    if status >= 400:
        code = re.search(r"<Code>(.+?)</Code>", text)
        raise fail(code[1] if code else "Sns", text)
    identifier = re.search(r"<MessageId>(.+?)</MessageId>", text)
    return {"MessageId": identifier[1] if identifier else ""}


def flattened_attributes(attributes: dict[str, dict[str, str]]) -> dict[str, str]:
    """Message attributes as the query protocol carries them."""
    flat: dict[str, str] = {}
    for number, (name, value) in enumerate(attributes.items(), 1):
        entry = f"MessageAttributes.entry.{number}"
        flat[f"{entry}.Name"] = name
        flat |= {f"{entry}.Value.{part}": str(content) for part, content in value.items()}
    return flat
