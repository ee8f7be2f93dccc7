"""AWS::EMRServerless::Application: the resource type's properties are CreateApplication's members in Pascal case."""

import secrets
from typing import Any

from local.aws.emr.api import call
from local.aws.emr.errors import ResourceNotFoundException
from local.aws.emr.integration import VERBATIM, camel_case
from local.aws.emr.store import STORE, arn_of
from local.aws.hooks import HookMismatch

TYPE = "AWS::EMRServerless::Application"

Properties = dict[str, Any]
Made = tuple[str, dict[str, str]]

# Changing one of these makes a new application; CloudFormation deletes the old one afterwards.
_REPLACING = ("Name", "Type")
# UpdateApplication's members that CloudFormation has too.
_NOT_UPDATED = ("name", "type", "tags")
# Properties that CloudFormation writes as lists and the API as maps.
_MAPS = ("initialCapacity", "workerTypeSpecifications")
_NUMBERS = ("idleTimeoutMinutes", "maxConcurrentRuns", "queueTimeoutMinutes", "workerCount")


def install() -> None:
    """Offer the resource type."""
    from ministack.services.cloudformation import provisioners

    if TYPE in provisioners._RESOURCE_HANDLERS:
        raise HookMismatch(f"MiniStack has {TYPE} of its own by now")
    provisioners._RESOURCE_HANDLERS[TYPE] = {"create": create, "update": update, "delete": delete}


def create(logical_id: str, properties: Properties, stack_name: str) -> Made:
    """Returns the physical id (Ref) and the attributes ApplicationId and Arn."""
    asked = {"name": f"{stack_name}-{logical_id}"[:64], **_members(properties)}
    made = call("CreateApplication", {**asked, "clientToken": secrets.token_hex(16)})
    return _made(made["applicationId"])


def update(physical_id: str, old: Properties, new: Properties, stack_name: str) -> Made:
    """Change the application in place, which AWS refuses while it is started; a changed name or type makes a new one."""
    if any(old.get(name) != new.get(name) for name in _REPLACING):
        return create("Application", new, stack_name)
    members = _members(new)
    changes = {name: value for name, value in members.items() if name not in _NOT_UPDATED}
    call("UpdateApplication", {**changes, "applicationId": physical_id, "clientToken": secrets.token_hex(16)})
    with STORE.changed:
        STORE.applications[physical_id]["tags"] = members["tags"]
    return _made(physical_id)


def delete(physical_id: str, _properties: Properties) -> None:
    """Delete, which AWS refuses while it is started; one that is gone already is no error."""
    try:
        found = call("GetApplication", {"applicationId": physical_id})["application"]
    except ResourceNotFoundException:
        return
    if found["state"] != "TERMINATED":
        call("DeleteApplication", {"applicationId": physical_id})


def _made(application_id: str) -> Made:
    return application_id, {"ApplicationId": application_id, "Arn": arn_of(application_id)}


def _members(properties: Properties) -> dict[str, Any]:
    members: dict[str, Any] = camel_case({name: value for name, value in properties.items() if name != "Tags"})
    for name in _MAPS:
        if name in members:
            members[name] = {entry.pop("key"): entry["value"] for entry in members[name]}
    tags = {tag["Key"]: tag["Value"] for tag in properties.get("Tags", [])}
    return {**_typed(members), "tags": tags}


def _typed(value: Any) -> Any:
    """Templates may carry numbers and booleans as text; only those of the API's types are turned back."""
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _turned_back(name, item) for name, item in value.items()}


def _turned_back(name: str, value: Any) -> Any:
    if name in VERBATIM:
        return value
    if isinstance(value, str) and name.lower().endswith("enabled"):
        return value.lower() == "true"
    return int(value) if isinstance(value, str) and name in _NUMBERS else _typed(value)
