"""Stacks of a few resources on the local AWS."""

import json


def deploy(aws, account, resources: dict, *, name: str = "stack", verb: str = "create_stack") -> dict:
    """Make or change a stack of these resources, and wait until it is done; returns the stack."""
    cloudformation = aws.client("cloudformation")
    template = {
        "Resources": {logical: {"Type": kind, "Properties": props} for logical, (kind, props) in resources.items()}
    }
    getattr(cloudformation, verb)(
        StackName=name, TemplateBody=json.dumps(template), Capabilities=["CAPABILITY_NAMED_IAM"]
    )
    return account.until(
        lambda: cloudformation.describe_stacks(StackName=name)["Stacks"][0],
        lambda stack: not stack["StackStatus"].endswith("IN_PROGRESS"),
    )


def reasons(aws, name: str = "stack") -> str:
    """All that the stack's events say of why."""
    events = aws.client("cloudformation").describe_stack_events(StackName=name)["StackEvents"]
    return " ".join(event.get("ResourceStatusReason", "") for event in events)
