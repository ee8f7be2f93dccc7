"""What MiniStack's CloudFormation silently ignores or lets through, done or refused as AWS would.

Done: point-in-time recovery, bucket encryption and lifecycle, a topic's key, reserved concurrency, a schedule's dates
and zone.
Refused: properties that break the service's model or limits, policies too large or too many for a role, mail to no
address, roles that the service may not assume, deleting a bucket that is not empty.
"""

from collections.abc import Callable
from typing import Any

from local.aws import machine_rights
from local.aws.bucket_settings import apply_bucket_settings
from local.aws.guard import message_for, violations
from local.aws.hooks import HookMismatch
from local.aws.operations import service_model
from local.aws.unmodelled import refusal_of

Properties = dict[str, Any]
# (physical id, properties): what is still to be done once the resource exists.
Completion = Callable[[str, Properties], None]
Handler = Callable[..., Any]

# Resource types whose properties are an API request's parameters: service and operation.
_REQUESTS = {
    "AWS::SSM::Parameter": ("ssm", "PutParameter"),
    "AWS::Scheduler::Schedule": ("scheduler", "CreateSchedule"),
    "AWS::Lambda::Function": ("lambda", "CreateFunction"),
    "AWS::Glue::Database": ("glue", "CreateDatabase"),
    "AWS::IAM::Role": ("iam", "CreateRole"),
    "AWS::Logs::LogGroup": ("logs", "CreateLogGroup"),
}


def install() -> None:
    """Wrap the provisioners' handlers."""
    from ministack.services.cloudformation import provisioners

    handlers = provisioners._RESOURCE_HANDLERS
    for kind, completion in (
        ("AWS::S3::Bucket", apply_bucket_settings),
        ("AWS::DynamoDB::Table", _switch_recovery),
        ("AWS::DynamoDB::GlobalTable", _switch_recovery),
        ("AWS::SNS::Topic", _encrypt_topic),
        ("AWS::StepFunctions::StateMachine", machine_rights.remember_tracing),
        ("AWS::Lambda::Function", _reserve_concurrency),
        ("AWS::Scheduler::Schedule", _complete_schedule),
    ):
        _wrap(handlers, kind, after=completion)
    for kind, requirement in (
        ("AWS::IAM::Policy", _held_to_policy_size),
        ("AWS::IAM::ManagedPolicy", _held_to_limit("iam", "CreatePolicy")),
        ("AWS::SNS::Subscription", _held_to_limit("sns", "Subscribe")),
        ("AWS::StepFunctions::StateMachine", machine_rights.check_machine),
        ("AWS::Lambda::Function", machine_rights.check_function),
        ("AWS::Scheduler::Schedule", machine_rights.check_schedule),
    ):
        _wrap(handlers, kind, before=requirement)
    # Last, so that it is asked first, as on AWS.
    for kind, (service, operation) in _REQUESTS.items():
        _wrap(handlers, kind, before=_held_to_request(service, operation))
    delete = handlers["AWS::S3::Bucket"]["delete"]
    handlers["AWS::S3::Bucket"]["delete"] = _only_when_empty(delete)


def _wrap(
    handlers: dict[str, dict[str, Any]],
    kind: str,
    *,
    before: Callable[[Properties], None] | None = None,
    after: Completion | None = None,
) -> None:
    """Create takes its properties second, update (old, new) third; both return the physical id first."""
    if kind not in handlers:
        raise HookMismatch(f"MiniStack's CloudFormation has no {kind}")
    for verb, position in (("create", 1), ("update", 2)):
        original: Handler = handlers[kind][verb]
        handlers[kind][verb] = _surrounded(original, position, before, after)


def _surrounded(
    original: Handler, position: int, before: Callable[[Properties], None] | None, after: Completion | None
) -> Handler:
    def wrapper(*call: Any, **more: Any) -> Any:
        properties: Properties = call[position]
        if before:
            before(properties)
        answer = original(*call, **more)
        if after:
            after(answer[0], properties)
        return answer

    return wrapper


def _held_to_request(service: str, operation: str) -> Callable[[Properties], None]:
    """Hold properties against model and limits of the request they become; a missing one is CloudFormation's to fill in."""
    check_limit = _held_to_limit(service, operation)

    def check(properties: Properties) -> None:
        shape = service_model(service).operation_model(operation).input_shape
        found = [one for one in violations(shape, properties) if not one.startswith("Value null")]
        if found:
            raise ValueError(message_for(found))
        check_limit(properties)

    return check


def _held_to_limit(service: str, operation: str) -> Callable[[Properties], None]:
    """Hold properties that are called like the parameters of the request they become against its limits."""

    def check(properties: Properties) -> None:
        if limit := refusal_of(service, operation, properties):
            raise ValueError(f"{limit[0]}: {limit[1]}")

    return check


def _held_to_policy_size(properties: Properties) -> None:
    for role in properties.get("Roles", []):
        _held_to_limit("iam", "PutRolePolicy")({**properties, "RoleName": role})


def _switch_recovery(name: str, properties: Properties) -> None:
    """Point-in-time recovery of a Table, or of a GlobalTable's only replica."""
    from ministack.services import dynamodb

    replicas = [replica.get("PointInTimeRecoverySpecification") for replica in properties.get("Replicas", [])]
    for wanted in (properties.get("PointInTimeRecoverySpecification"), *replicas):
        if wanted:
            asked: Properties = {
                "PointInTimeRecoveryEnabled": str(wanted.get("PointInTimeRecoveryEnabled")).lower() == "true"
            }
            if "RecoveryPeriodInDays" in wanted:
                asked["RecoveryPeriodInDays"] = int(wanted["RecoveryPeriodInDays"])
            dynamodb._update_continuous_backups({"TableName": name, "PointInTimeRecoverySpecification": asked})


def _encrypt_topic(arn: str, properties: Properties) -> None:
    from ministack.services import sns

    attributes = sns._topics[arn]["attributes"]
    attributes.pop("KmsMasterKeyId", None)
    if properties.get("KmsMasterKeyId"):
        attributes["KmsMasterKeyId"] = properties["KmsMasterKeyId"]


def _reserve_concurrency(name: str, properties: Properties) -> None:
    from ministack.services import lambda_svc

    reserved = properties.get("ReservedConcurrentExecutions")
    lambda_svc._functions[name]["concurrency"] = None if reserved is None else int(reserved)


def _complete_schedule(name: str, properties: Properties) -> None:
    from ministack.services import scheduler

    record = scheduler._schedules[f"{properties.get('GroupName', 'default')}/{name}"]
    for member, default in (
        ("ScheduleExpressionTimezone", "UTC"),
        ("StartDate", None),
        ("EndDate", None),
        ("ActionAfterCompletion", "NONE"),
        ("KmsKeyArn", None),
    ):
        record[member] = properties.get(member, default)


def _only_when_empty(delete: Handler) -> Handler:
    def wrapper(physical_id: str, properties: Properties, *more: Any) -> Any:
        from ministack.services import s3

        if (s3._buckets.get(physical_id) or {}).get("objects"):
            raise ValueError(f"The bucket you tried to delete is not empty: {physical_id} (BucketNotEmpty)")
        return delete(physical_id, properties, *more)

    return wrapper
